// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import Reachability
import Synchronization
import Testing

/// Host reachability as an application uses it: public declarations only, on this machine's own kernel, and only about
/// this machine itself.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReachabilityUseTests {
    @Test func askedOnce() throws {
        let status = try HostReachability(host: "127.0.0.1").reach()
        #expect(status.isReachable)
        #expect(status.route?.isLocalOnly == true)
        #expect(status.route?.family == .ipv4)
        #expect(try HostReachability(url: "http://127.0.0.1:8080/").reach() == status)
        #expect(HostReachability(address: InternetAddress(ipv4: 0x7F00_0001)).reach() == status)
        #expect(throws: HostReachabilityError.self) { try HostReachability(host: "no host") }
    }

    @Test func aStatusForAPreview() {
        var route = HostRoute(to: InternetAddress(ipv4: 0xC000_0207), interfaceIndex: 2)
        route.interface = "eth0"
        #expect(HostStatus.reachable(route).isReachable)
        #expect("\(route)" == "192.0.2.7 through eth0")
    }

    /// The way Ola is used: a failable value, a switch over three cases, a callback that may not be installable.
    @Test func likeItsModel() async throws {
        let ola = try #require(try? HostReachability(host: "localhost"))
        let (statuses, continuation) = AsyncStream.makeStream(of: String.self)
        let isInstalled = ola.reach { status in
            switch status {
            case .reachable: continuation.yield("reachable")
            case .cellular: continuation.yield("cellular")
            case .unknown: continuation.yield("unknown")
            case .unreachable: continuation.yield("unreachable")
            }
        }
        #expect(isInstalled)
        // A name is unknown until it is looked up.
        for await name in statuses where name == "reachable" { break }
        ola.cancel()
        #expect(!ola.reach { _ in })
    }

    @Test func aSequenceBeginsWithTheStatusAndEndsWithTheHost() async throws {
        let host = try HostReachability(host: "127.0.0.1")
        var names: [String] = []
        for await status in host.statuses {
            names.append(status.name)
            host.cancel()
        }
        #expect(names == ["reachable"])
    }

    @Test func nothingIsCalledAfterTheEnd() throws {
        let calls = Atomic(0)
        let called = DispatchSemaphore(value: 0)
        let host = try HostReachability(host: "127.0.0.1")
        host.reach { [weak host] _ in
            calls.add(1, ordering: .relaxed)
            host?.cancel()
            called.signal()
        }
        called.wait()
        host.refresh()
        #expect(calls.load(ordering: .relaxed) == 1)
    }
}
