// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
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
        var pictures = 0
        for _ in 0..<20 {
            let document = try JSONValue(
                json: lab.run(
                    "\(program) watch --json --count 1 --config \(configuration) 2>\(lab.directory)/errors"
                )
            )
            // Beside much else the first reading may take longer than it waits before it says that nobody knows.
            if document["status"] != .null {
                pictures += 1
                #expect(document["status"] == "satisfied")
                #expect(document["interfaces"]?.elements.compactMap { $0["name"]?.string } == ["wan0", "wan1"])
            }
            let messages = try lab.run("cat \(lab.directory)/errors")
            repetitions += messages.split(separator: "\n").count { $0.contains("read again") }
        }
        print("20 times netpath watch while links changed: \(repetitions) repetitions")
        #expect(pictures > 0)
        #expect(repetitions > 0, "no answer was interrupted, so nothing was tested")
    }

    @Test func whatWasInterruptedToTheEndIsSaidAndReadLater() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1", metric: 100, index: 900)
        try lab.addInterfaces(2000, prefix: "if")
        try lab.ipBatch((0..<2000).map { "address add 10.\($0 / 250).\($0 % 250).1/24 dev if\($0)" })
        let churn = [String](
            repeating: "address add 10.99.0.1/24 dev if0\naddress del 10.99.0.1/24 dev if0",
            count: 500
        )
        try churn.joined(separator: "\n")
            .write(toFile: "\(lab.directory)/churn", atomically: true, encoding: .utf8)
        let loop = "while [ -e \(lab.directory)/churn ]; do ip -batch \(lab.directory)/churn; done"
        try lab.run("(\(loop)) >/dev/null 2>&1 &")
        // A small buffer overflows again and again, and everything is read each time.
        let configuration = "backends: [{type: netlink, receiveBuffer: 4096}]"
        let watched = try Watched(lab, configuration: configuration)
        let isInterrupted = { (line: JSONLine) in
            line["backends"]?[0]?["limitations"]?.elements.contains {
                $0.string?.hasPrefix("links and addresses change while they are read") == true
            } == true
        }
        let doubtful = try watched.monitor.next(timeout: .seconds(120), where: isInterrupted)
        #expect(doubtful["status"] == "satisfied")
        #expect(doubtful.interfaceNames == ["wan0"])
        try lab.run("rm \(lab.directory)/churn")
        try watched.monitor.next(timeout: .seconds(120)) { $0["status"] == "satisfied" && !isInterrupted($0) }
    }
}
