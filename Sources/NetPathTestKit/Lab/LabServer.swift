// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A server on the far side of the uplinks, to be reached over the network under test.
///
/// Written in perl, as ``TunDevice`` is: no thread of ours can enter the namespace, and perl is part of every Debian
/// and Ubuntu system. It ends with this object.
package final class LabServer: Sendable {
    /// What a server does with those who connect to it.
    package enum Behavior: String, Sendable {
        /// It accepts every connection and closes it.
        case listening
        /// It accepts every connection and resets it at once.
        case resetting
        /// Its queue is full, so that the kernel drops every further SYN, until ``makeRoom()``.
        case full
    }

    private let process: MonitorProcess

    fileprivate init(_ script: String, _ arguments: [String], in namespace: NetworkNamespace) throws {
        process = try namespace.start(
            "nsenter",
            ["--net=\(namespace.farSidePath())", "perl", "-MIO::Socket::IP", "-MIO::Select", "-e", script] + arguments
        )
        try process.next { $0["ready"] == true }
    }

    /// Waits for the next connection that has not been returned yet.
    ///
    /// - Parameters:
    ///   - port: The port it was made to; connections to others are skipped.
    ///   - timeout: The time to wait for it.
    /// - Throws: ``LabError`` when none comes.
    package func nextConnection(to port: Int, timeout: Duration = .seconds(60)) throws {
        try process.next(timeout: timeout) { $0["port"]?.number == Double(port) }
    }

    /// Forgets the connections that were made so far.
    package func forgetConnections() throws {
        try process.drain()
    }

    /// Lets a server whose queue is full accept again.
    package func makeRoom() {
        process.sendSignal(.user1)
    }

    /// Ends the server: from now on its machine refuses connections.
    package func stop() throws {
        try process.stop()
    }
}

extension NetworkNamespace {
    /// Starts a TCP server on the far side, on every address there, of both families.
    ///
    /// - Parameters:
    ///   - behavior: What it does with those who connect.
    ///   - ports: Its ports.
    /// - Returns: The server, which is ready.
    /// - Throws: ``LabError`` when perl is missing or a port is taken.
    package func startServer(_ behavior: LabServer.Behavior = .listening, ports: [Int] = [443]) throws -> LabServer {
        // The queue of a listener with a backlog of 0 holds one connection: our own.
        let script = #"""
            my ($behavior, @ports) = @ARGV;
            my $full = $behavior eq "full";
            $SIG{USR1} = sub { $full = 0 };
            my (@own, $listeners);
            $listeners = IO::Select->new;
            for my $port (@ports) {
                my $listener = IO::Socket::IP->new(
                    LocalHost => "::", LocalPort => $port, Listen => 64, ReuseAddr => 1, V6Only => 0
                ) or die "listen on port $port: $@";
                if ($full) {
                    listen($listener, 0) or die "listen: $!";
                    push @own, IO::Socket::IP->new(PeerHost => "::1", PeerPort => $port) or die "connect: $@";
                }
                $listeners->add($listener);
            }
            syswrite STDOUT, qq({"ready":true}\n);
            sleep 1000 while $full;
            while (1) {
                for my $listener ($listeners->can_read) {
                    my $client = $listener->accept or next;
                    my $port = $client->sockport;
                    setsockopt($client, SOL_SOCKET, SO_LINGER, pack("ii", 1, 0)) if $behavior eq "resetting";
                    close $client;
                    syswrite STDOUT, qq({"port":$port}\n);
                }
            }
            """#
        return try LabServer("use Socket; " + script, [behavior.rawValue] + ports.map(String.init), in: self)
    }

    /// Starts a DNS server on the far side that knows one IPv4 address for every name.
    ///
    /// - Parameters:
    ///   - address: The server's own address, which must be one of the far side.
    ///   - answer: The IPv4 address that every name has.
    /// - Returns: The server, which is ready.
    /// - Throws: ``LabError`` when perl is missing or the address is not there.
    package func startNameServer(on address: String, answering answer: String) throws -> LabServer {
        // RFC 1035 section 4: header, the question as it came, and for type A one answer that points back to its name.
        let script = #"""
            my ($address, $answer) = @ARGV;
            my $socket = IO::Socket::IP->new(LocalHost => $address, LocalPort => 53, Proto => "udp") or die "bind: $@";
            syswrite STDOUT, qq({"ready":true}\n);
            while (defined(my $from = $socket->recv(my $query, 512))) {
                my $end = index($query, "\0", 12) + 5;
                my $isA = unpack("n", substr($query, $end - 4, 2)) == 1;
                my $record = $isA ? pack("nnnNna4", 0xc00c, 1, 1, 0, 4, inet_aton($answer)) : "";
                my $header = pack("a2nnnnn", $query, 0x8180, 1, $isA ? 1 : 0, 0, 0);
                $socket->send($header . substr($query, 12, $end - 12) . $record, 0, $from);
                syswrite STDOUT, qq({"port":53}\n);
            }
            """#
        return try LabServer("use Socket; " + script, [address, answer], in: self)
    }
}
