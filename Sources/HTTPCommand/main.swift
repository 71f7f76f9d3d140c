// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// `netpath-http`: what `netpath` executes when the configuration names a backend that sends requests, since `netpath`
// links no libcurl. The same commands, under the name that was typed.

import NetPathCLI
import NetPathCurl
import NetPathHTTPProbe

let typed = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)

NetPathTool.main(name: typed ?? "netpath-http") { registry in
    // A proxy answers whatever the network is like.
    HTTPProbeMonitor.register(in: &registry) { CurlTransport(proxy: "") }
}
