// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// swift-format-ignore-file
// It stands here as the pages have it.

// What articles show of modules that are used alone; it is compiled and not run.

import Dispatch
import LinuxNetworkPath
import NetPath
import NetPathCLI
import NetPathCurl
import NetPathHTTP

private struct MyMonitor: PathMonitor {
    var interval: Duration

    func run(_: MonitorContext) async throws {}
}

private func pathMonitor() {
    let monitor = NWPathMonitor()
    monitor.pathUpdateHandler = { path in
        print(path.status == .satisfied ? "online" : "∆ No Network")
    }
    monitor.start(queue: .main)
}

private func transport(json: String) async {
    let request = TransportRequest(method: "POST", url: "https://example.org/orders", body: .bytes(Array(json.utf8)))
    do throws(TransportError) {
        let response = try await CurlTransport.shared.send(request)
        print(response.status)
    } catch {
        switch error.progress {
        case .notSent: print("the server has not seen it, send it again: \(error)")
        case .mayHaveBeenReceived: print("only with an Idempotency-Key: \(error)")
        case .answered(let status): print("the server has acted, with \(status): \(error)")
        }
    }
}

private func tool() -> Never {
    NetPathTool.main(name: "mine") { registry in
        registry.register("mine", summary: "what mine watches") { section in
            MyMonitor(interval: section.duration("interval", default: .seconds(2), in: .milliseconds(100)...(.seconds(60))))
        }
    }
}
