// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Reachability

// What one question about a host costs: prints the median and the 99th percentile in microseconds, and what a name that
// is not looked up yet costs.
//
//     swift run -c release --package-path Benchmarks host-reach 203.0.113.9
let address = CommandLine.arguments.dropFirst().first ?? "127.0.0.1"

func measure(_ name: String, _ host: HostReachability) {
    _ = host.reach()
    let times = (0..<20_000).map { _ in
        let start = ContinuousClock.now
        _ = host.reach()
        return (ContinuousClock.now - start) / .microseconds(1)
    }.sorted()
    print("\(name): median \(times[times.count / 2]) µs, 99th percentile \(times[times.count * 99 / 100]) µs")
}

measure("address", try HostReachability(host: address))
// No server answers for names below .invalid (RFC 6761).
measure("unresolved name", try HostReachability(host: "host.invalid"))
