// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Reading all links while they change: the kernel marks such an answer (NLM_F_DUMP_INTR), and objects may be missing.
@Suite(.needsNamespaces)
struct DumpTests {
    @Test func interruptedReadingIsRepeatedAndMissesNothing() throws {
        let lab = try NetworkNamespace()
        // The first interface and the last one, with many between them that take many datagrams to tell about.
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1", metric: 100, index: 900)
        try lab.addInterfaces(2000, prefix: "if")
        try lab.addUplink("wan1", addresses: ["203.0.113.2/24"], gateway: "203.0.113.1", metric: 600, index: 2_000_000)
        let configuration = try Watched.write("backends: [{type: netlink}]\nlogging: {level: debug}\n", in: lab)
        let program = try Watched.program
        let churn = "while :; do ip link add gone0 type veth peer name gone1; ip link del gone0; done"
        try lab.run("(\(churn)) >/dev/null 2>&1 &")
        var repetitions = 0
        for _ in 0..<20 {
            let document = try JSONValue(
                json: lab.run("\(program) watch --json --count 1 --config \(configuration) 2>\(lab.directory)/errors")
            )
            #expect(document["status"] == "satisfied")
            #expect(document["interfaces"]?.elements.compactMap { $0["name"]?.string } == ["wan0", "wan1"])
            let messages = try lab.run("cat \(lab.directory)/errors")
            repetitions += messages.split(separator: "\n").count { $0.contains("read again") }
        }
        print("20 times netpath watch while links changed: \(repetitions) repetitions")
        #expect(repetitions > 0, "no answer was interrupted, so nothing was tested")
    }
}
