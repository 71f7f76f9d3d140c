// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// A machine beyond an uplink that answers.
extension NetworkNamespace {
    /// Gives the other end of an uplink an address.
    func addFarAddress(_ address: String, behind uplink: LabInterface) throws {
        try self.runOnFarSide("ip addr add \(address) dev \(try #require(uplink.peerName))")
    }

    /// How many connections the far side has accepted in its life.
    func connectionsToFarSide() throws -> Int {
        let lines = try self.runOnFarSide("grep ^Tcp: /proc/net/snmp").split(separator: "\n")
        let (names, values) = (lines[0].split(separator: " "), lines[1].split(separator: " "))
        let number = names.firstIndex(of: "PassiveOpens").flatMap { Int(values[$0]) }
        return try #require(number)
    }

    /// Serves one page over TCP on the far side, after closing some connections without a word.
    ///
    /// - Throws: `LabError` when nobody listens after all.
    func serve(_ page: String, on port: Int, closingFirst losses: Int = 0) throws {
        // Perl is part of every Debian.
        try self.runOnFarSide(
            """
            perl -MIO::Socket::INET -e '
                $s = IO::Socket::INET->new(Listen => 8, LocalPort => \(port), ReuseAddr => 1) or die;
                $| = 1; print "ready\\n"; close STDOUT;
                for ($n = 0; $c = $s->accept; $n++) {
                    if ($n >= \(losses)) { <$c>; print $c "HTTP/1.0 200 OK\\r\\n\\r\\n\(page)\\n" }
                    close $c;
                }' >\(self.directory)/ready-\(port) 2>/dev/null &
            for i in $(seq 100); do grep -q ready \(self.directory)/ready-\(port) && exit 0; sleep 0.1; done; exit 1
            """
        )
    }

    /// Answers every question for an IPv4 address with the one in a file, at 127.0.0.1 of this namespace.
    ///
    /// - Throws: `LabError` when nobody listens after all.
    func serveNames(from file: String) throws {
        try self.run(
            """
            perl -MIO::Socket::INET -e '
                $s = IO::Socket::INET->new(Proto => "udp", LocalAddr => "127.0.0.1", LocalPort => 53) or die;
                $| = 1; print "ready\\n"; close STDOUT;
                while ($from = $s->recv($q, 512)) {
                    open F, "<", "\(file)"; chomp($a = <F>); close F;
                    ($end) = substr($q, 12) =~ /^(.*?\\0....)/s or next;
                    $isA = substr($end, -4, 2) eq "\\0\\1";
                    $r = substr($q, 0, 2) . pack("n5", 0x8580, 1, $isA ? 1 : 0, 0, 0) . $end;
                    $r .= pack("n3Nn", 0xC00C, 1, 1, 0, 4) . pack("C4", split /\\./, $a) if $isA;
                    $s->send($r, 0, $from);
                }' >\(self.directory)/names 2>&1 &
            for i in $(seq 100); do grep -q ready \(self.directory)/names && break; sleep 0.1; done
            grep -q ready \(self.directory)/names
            """
        )
    }
}

/// A gateway of which the kernel finds out soon.
extension NetworkNamespace {
    /// Makes the kernel ask again soon whether a neighbour that is used is still there, and believe soon that it is not.
    func loseGatewaysSoon(of interface: String, _ family: String) throws {
        let settings = [
            "base_reachable_time_ms": 500, "delay_first_probe_time": 1, "retrans_time_ms": 100, "ucast_solicit": 1,
        ]
        for (name, value) in settings { try self.setParameter("net/\(family)/neigh/\(interface)/\(name)", to: value) }
    }

    /// Sends a datagram to each host five times a second, for two minutes.
    func keepSending(to hosts: String...) throws {
        for host in hosts {
            try self.run(
                """
                perl -MIO::Socket::IP -e '
                    for (1..600) {
                        my $s = IO::Socket::IP->new(Proto => "udp", PeerHost => "\(host)", PeerPort => 9);
                        $s and send($s, "x", 0);
                        select(undef, undef, undef, 0.2);
                    }' >/dev/null 2>&1 &
                """
            )
        }
    }
}
