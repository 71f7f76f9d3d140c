// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// The servers of the far side are what the table takes them for.
@Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")"))
struct LabServerTests {
    /// A client in perl: what became of the connection, and of the first read from it.
    private func connect(in lab: NetworkNamespace, timeout: Int = 5) throws -> String {
        try lab.runOnFarSide(
            """
            perl -MIO::Socket::IP -e 'my $s = IO::Socket::IP->new(PeerHost => "127.0.0.1", PeerPort => 443, \
            Timeout => \(timeout)) or do { print $!{ECONNRESET} ? "reset" : 0 + $!; exit }; select undef, undef, undef, 0.2; \
            print defined(sysread $s, my $b, 1) ? "closed" : "reset"'
            """
        )
    }

    @Test func listeningServerTellsOfItsConnections() throws {
        let lab = try NetworkNamespace()
        let server = try lab.startServer()
        #expect(try self.connect(in: lab) == "closed")
        try server.nextConnection(to: 443)
        #expect(try self.connect(in: lab) == "closed")
        try server.nextConnection(to: 443)
        try server.forgetConnections()
        #expect(throws: LabError.self) { try server.nextConnection(to: 443, timeout: .milliseconds(100)) }
        try server.stop()
        #expect(try self.connect(in: lab) == "111", "ECONNREFUSED")
    }

    @Test func resettingServerResets() throws {
        let lab = try NetworkNamespace()
        let server = try lab.startServer(.resetting)
        #expect(try self.connect(in: lab) == "reset")
        try server.nextConnection(to: 443)
    }

    @Test func fullServerIsSilentUntilThereIsRoom() throws {
        let lab = try NetworkNamespace()
        let server = try lab.startServer(.full)
        #expect(try self.connect(in: lab, timeout: 1) == "110", "ETIMEDOUT")
        server.makeRoom()
        #expect(try self.connect(in: lab) == "closed")
    }
}
