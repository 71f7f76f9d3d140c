// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")"))
struct LookupTests {
    @Test func aCancelledLookupHoldsNobodyUp() throws {
        // A name server that takes questions and never answers: the system's resolver waits for a minute.
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 127.0.0.1\noptions timeout:30\n")
        let silence = try lab.start(
            "perl",
            [
                "-MIO::Socket::IP", "-e",
                """
                my $s = IO::Socket::IP->new(LocalHost => "127.0.0.1", LocalPort => 53, Proto => "udp") or die $@;
                syswrite STDOUT, qq({"ready":true}\n);
                sleep 1000;
                """,
            ]
        )
        try silence.next { $0["ready"] == true }
        let server = try lab.start(try MonitorProcess.builtProduct("LabPeers"), ["serve", "--quiet"])
        let port = Int(try #require(server.next()["port"]?.number))
        let client = try lab.start(
            try MonitorProcess.builtProduct("OfflineScenarios"),
            ["transport", "lookup", "http://name.test/", "http://127.0.0.1:\(port)/ok"]
        )
        let line = try client.next(timeout: .seconds(30))
        #expect(line["status"] == 200)
        #expect(try #require(line["milliseconds"]?.number) < 15_000)
    }
}
