// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import NetPath
import NetPathHTTP
import Testing

@testable import OfflineRequests

/// When requests may go: paths, their return, pauses, places.
struct GateTests {
    @Test func nothingGoesBeforeAnythingIsKnown() {
        let lab = MachineLab()
        #expect(lab.machine.slots(at: lab.now) == 0)
        #expect(lab.waiting(post()) == .noPath("nothing is known of the network yet"))
        #expect(lab.wake(post()) == nil)
    }

    @Test func aPathThatIsThereIsUsedAtOnceAndInFull() {
        var lab = MachineLab()
        lab.online()
        #expect(lab.machine.slots(at: lab.now) == 16)
        #expect(lab.waiting(post()) == nil)
    }

    @Test func withoutAPathThereIsNothingToWakeFor() {
        var lab = MachineLab()
        lab.online()
        // Also while a host is left alone.
        #expect(lab.attempt(post(), .notSent) == .waitForPath)
        #expect(lab.wake(post()) != nil)
        lab.offline()
        #expect(lab.machine.slots(at: lab.now) == 0)
        #expect(lab.waiting(post()) == .noPath("no carrier"))
        #expect(lab.wake(post()) == nil)
    }

    @Test func anEmptyQueueNeverWakes() {
        var lab = MachineLab()
        lab.offline()
        lab.online()
        #expect(lab.machine.nextWake(after: lab.now, for: []) == nil)
    }

    @Test func aPausedQueueNeitherSendsNorWakes() {
        var lab = MachineLab()
        lab.online()
        _ = lab.attempt(post(), .notSent)
        lab.machine.isPaused = true
        #expect(lab.machine.slots(at: lab.now) == 0)
        #expect(lab.waiting(post()) == .paused)
        #expect(lab.wake(post()) == nil)
        lab.machine.isPaused = false
        #expect(lab.machine.slots(at: lab.now) == 16)
        #expect(lab.wake(post()) != nil)
    }

    /// A broken backend does not mean offline.
    @Test func whatNobodyCanTellChangesNothing() {
        var lab = MachineLab()
        lab.online()
        lab.machine.path(PathFacts(isSatisfied: true, isKnown: false), at: lab.now)
        #expect(lab.waiting(post()) == nil)
    }

    @Test func whereNobodyCanTellWhatNeedsNoCertainPathIsTried() {
        var lab = MachineLab()
        lab.machine.path(PathFacts(isSatisfied: true, isKnown: false), at: lab.now)
        #expect(lab.machine.slots(at: lab.now) == 16)
        #expect(lab.waiting(post()) == nil)
        for requires in [PathRequirements(unmeteredOnly: true), PathRequirements(interfaceType: .wifi)] {
            #expect(lab.waiting(post(requires: requires)) == .noPath("the state of the network is unknown"))
        }
        lab.online()
        #expect(lab.waiting(post()) == nil, "nothing has returned")
    }

    @Test func aMeteredPathIsRespected() {
        var lab = MachineLab()
        let thrifty = post(requires: PathRequirements(unmeteredOnly: true))
        for (expensive, constrained) in [(true, false), (false, true)] {
            let facts = PathFacts(isSatisfied: true, isExpensive: expensive, isConstrained: constrained)
            lab.machine.path(facts, at: lab.now)
            #expect(lab.waiting(thrifty) == .metered)
            #expect(lab.waiting(post()) == nil)
        }
        lab.online()
        #expect(lab.waiting(thrifty) == nil)
    }

    @Test func theTypeOfTheInterfaceIsRespected() {
        var lab = MachineLab()
        let wired = post(requires: PathRequirements(interfaceType: .ethernet))
        lab.online(.wifi)
        #expect(lab.waiting(wired) == .interfaceType("Ethernet"))
        lab.online(.wired)
        #expect(lab.waiting(wired) == nil)
    }

    @Test func aHostThatIsNearIsReachedWithoutAPath() {
        var lab = MachineLab()
        lab.machine.path(PathFacts(isSatisfied: false, nearHosts: ["db.e.net"]), at: lab.now)
        #expect(lab.machine.slots(at: lab.now) == 16)
        #expect(lab.waiting(post("db.e.net")) == nil)
        for other in [post("db.e.net:8080"), post("db.e.net", requires: PathRequirements(unmeteredOnly: true))] {
            #expect(lab.waiting(other) == .noPath(""))
            #expect(lab.wake(other) == nil)
        }
        lab.offline()
        #expect(lab.machine.slots(at: lab.now) == 0)
    }

    // MARK: Reconnecting

    @Test(arguments: UInt64(0)..<20)
    func aPathThatReturnedMustLast(seed: UInt64) throws {
        var lab = MachineLab(seed: seed)
        lab.offline()
        lab.advance(.seconds(100))
        #expect(lab.machine.path(PathFacts(isSatisfied: true), at: lab.now) == true)
        #expect(lab.machine.slots(at: lab.now) == 0)
        #expect(lab.waiting(post()) == .reconnecting)
        let wake = try #require(lab.wake(post()))
        #expect(wake - lab.now.monotonic >= .seconds(1) && wake - lab.now.monotonic <= .seconds(4))
        lab.advance(to: wake)
        #expect(lab.waiting(post()) == nil)
        #expect(lab.wake(post()) == nil)
    }

    /// A fleet that lost the same thing does not come back in step.
    @Test func theStartIsSpread() throws {
        let starts = try (UInt64(0)..<400).map { seed in
            var lab = MachineLab(seed: seed)
            lab.offline()
            lab.online()
            return try #require(lab.wake(post())) - lab.now.monotonic
        }
        let early = starts.count { $0 < .milliseconds(2_500) }
        #expect((140...260).contains(early), "\(early) of 400 in the first half")
    }

    @Test func afterAReturnTheNumberGrowsWithSuccess() throws {
        var lab = MachineLab(QueueSettings.with { ($0.concurrency, $0.perHostConcurrency) = (6, 6) })
        lab.offline()
        lab.online()
        lab.advance(.seconds(4))
        var places: [Int] = []
        for _ in 0..<4 {
            places.append(lab.machine.slots(at: lab.now))
            _ = lab.attempt(post(), .status(200))
        }
        #expect(places == [1, 2, 4, 6])
        // An answer that refuses is an answer, but a server that fails is not to be pressed.
        lab.offline()
        lab.online()
        lab.advance(.seconds(4))
        let first = post()
        lab.machine.started(first.id, gate: Gate(first), at: lab.now)
        #expect(lab.waiting(post()) == .reconnecting)
        _ = lab.finish(first, .status(503))
        #expect(lab.machine.slots(at: lab.now) == 1)
        _ = lab.attempt(post(), .status(404))
        #expect(lab.machine.slots(at: lab.now) == 2)
    }

    /// A path that comes and goes each half second never lets anything out, and so costs no attempt.
    @Test func flappingSendsNothing() {
        var lab = MachineLab(.with(reconnectJitter: .zero))
        lab.offline()
        for _ in 0..<100 {
            lab.online()
            lab.advance(.milliseconds(500))
            #expect(lab.machine.slots(at: lab.now) == 0)
            #expect(lab.waiting(post()) == .reconnecting)
            lab.offline()
            lab.advance(.milliseconds(500))
        }
        lab.online()
        lab.advance(.seconds(1))
        #expect(lab.machine.slots(at: lab.now) == 1)
    }

    @Test func anotherInterfaceIsNoReturn() {
        var lab = MachineLab()
        lab.online(.wifi)
        #expect(lab.machine.path(PathFacts(isSatisfied: true, over: .cellular), at: lab.now) == false)
        #expect(lab.machine.slots(at: lab.now) == 16)
    }

    @Test func whoeverForcesDoesNotWait() {
        var lab = MachineLab()
        lab.offline()
        lab.online()
        #expect(lab.machine.slots(at: lab.now) == 0)
        lab.machine.force()
        #expect(lab.machine.slots(at: lab.now) == 16)
        #expect(lab.attempt(post(), .notSent) == .waitForPath)
        #expect(lab.waiting(post()) != nil)
        lab.machine.force()
        #expect(lab.waiting(post()) == nil)
        // But not without a path, and not against a pause.
        lab.offline()
        lab.machine.force()
        #expect(lab.waiting(post()) == .noPath("no carrier"))
    }

    // MARK: Places

    @Test func placesAreLimitedInAllAndPerHost() {
        var lab = MachineLab()
        lab.online()
        let first = (0..<4).map { _ in post("a.net") }
        for request in first { lab.machine.started(request.id, gate: Gate(request), at: lab.now) }
        #expect(lab.waiting(post("a.net")) == .concurrency)
        #expect(lab.waiting(post("a.net:8080")) == nil)
        #expect(lab.waiting(post("b.net")) == nil)
        for host in ["b.net", "c.net", "d.net", "e.net"] {
            for _ in 0..<3 {
                let other = post(host)
                lab.machine.started(other.id, gate: Gate(other), at: lab.now)
            }
        }
        #expect(lab.machine.slots(at: lab.now) == 0)
        #expect(lab.waiting(post("f.net")) == .concurrency)
        // Only the end of one of them helps, or that they take less than a place because none ends.
        #expect(lab.wake(post("f.net")) == lab.now.monotonic + .seconds(1))
        lab.machine.dropped(first[0].id)
        lab.machine.dropped(first[0].id)
        #expect(lab.machine.slots(at: lab.now) == 1)
        // One place is left, and it is for a host that has answered before.
        #expect(lab.waiting(post("f.net")) == .concurrency)
        for request in first[1...2] { lab.machine.dropped(request.id) }
        #expect(lab.waiting(post("f.net")) == nil)
    }

    /// The last places are for hosts that have none.
    @Test func aFewSlowHostsLeavePlacesForOthers() {
        var lab = MachineLab()
        lab.online()
        for host in ["a.net", "b.net", "c.net"] {
            for _ in 0..<4 {
                let request = post(host)
                #expect(lab.waiting(request) == nil)
                lab.machine.started(request.id, gate: Gate(request), at: lab.now)
            }
        }
        let first = post("d.net")
        #expect(lab.waiting(first) == nil)
        lab.machine.started(first.id, gate: Gate(first), at: lab.now)
        #expect(lab.waiting(post("d.net")) == .concurrency)
        #expect(lab.waiting(post("e.net")) == nil)
        #expect(lab.machine.slots(at: lab.now) == 3)
    }

    /// What a server never answers leaves its other requests a place before an hour is over; a single place it keeps.
    @Test(arguments: [4, 1]) func requestsWithoutAnAnswerLeavePlacesForOthersOfTheirHost(_ places: Int) throws {
        var lab = MachineLab(QueueSettings.with { $0.perHostConcurrency = places })
        lab.online()
        for _ in 0..<places {
            let request = post("a.net")
            #expect(lab.waiting(request) == nil)
            lab.machine.started(request.id, gate: Gate(request), at: lab.now)
        }
        #expect(lab.waiting(post("a.net")) == .concurrency)
        guard places > 1 else {
            #expect(lab.wake(post("a.net")) == nil)
            return
        }
        let relief = lab.now.monotonic + .seconds(10)
        #expect(lab.wake(post("a.net")) == relief)
        lab.advance(to: relief)
        #expect(lab.waiting(post("a.net")) == nil)
        #expect(lab.machine.places(of: "a.net", at: lab.now) == 3)
    }

    /// Each takes less of a place the longer it is silent, so that all others have their turn soon.
    @Test func silentHostsLeavePlacesForHostsThatAreNew() throws {
        var lab = MachineLab()
        lab.online()
        var count = 0
        let end = lab.now.monotonic + .seconds(120)
        while lab.now.monotonic < end {
            while lab.waiting(post("silent\(count).net")) == nil {
                let request = post("silent\(count).net")
                lab.machine.started(request.id, gate: Gate(request), at: lab.now)
                count += 1
            }
            guard let wake = lab.wake(post("silent\(count).net")) else { break }
            lab.advance(to: wake)
        }
        #expect(count > 180, "\(count)")
    }

    /// However many hosts that never answer there are, one that has answered is sent to at once.
    @Test func newHostsLeavePlacesForThoseThatAnswered() {
        var lab = MachineLab()
        lab.online()
        let good = post("good.net")
        lab.machine.started(good.id, gate: Gate(good), at: lab.now)
        _ = lab.finish(good, .status(200))
        for second in 0..<60 {
            for number in 0..<16 {
                let request = post("\(second)-\(number).net")
                guard lab.waiting(request) == nil else { break }
                lab.machine.started(request.id, gate: Gate(request), at: lab.now)
            }
            #expect(lab.waiting(post("good.net")) == nil)
            lab.advance(.seconds(1))
        }
    }

    /// The server that finds out whether the path is any good may be one that never answers.
    @Test func afterAReturnTheNumberGrowsWithTimeToo() throws {
        var lab = MachineLab(.with(reconnectJitter: .zero))
        lab.offline()
        lab.online()
        lab.advance(.seconds(1))
        let slow = post("slow.net")
        lab.machine.started(slow.id, gate: Gate(slow), at: lab.now)
        #expect(lab.waiting(post()) == .reconnecting)
        lab.advance(to: try #require(lab.wake(post())))
        #expect(lab.waiting(post()) == nil)
        #expect(lab.wake(post()) == nil)
        lab.advance(.seconds(9))
        #expect(lab.machine.slots(at: lab.now) == 15)
    }

    // MARK: Captive portals

    @Test func nothingGoesToAPortalOverPlainHTTP() throws {
        var lab = MachineLab()
        let link = AddressPrefix(try #require(InternetAddress("192.0.2.7")), length: 24)
        lab.machine.path(
            PathFacts(isSatisfied: true, links: [link], internet: .portal),
            at: lab.now
        )
        func waiting(_ url: String) -> WaitingReason? {
            lab.machine.waiting(for: Gate(RetryableRequest(endpoint: url)), at: lab.now)
        }
        for url in ["http://e.net/", "HTTP://e.net:8080/", "http://198.51.100.1/", "http://[2001:db8::1]/"] {
            #expect(waiting(url) == .portal, "\(url)")
        }
        for url in [
            "https://e.net/", "http://localhost/", "http://127.0.0.1:8080/", "http://[::1]/", "http://192.0.2.99/",
            "http://[fe80::1%25eth0]/", "http://printer.local/",
        ] {
            #expect(waiting(url) == nil, "\(url)")
        }
        lab.online()
        #expect(waiting("http://e.net/") == nil)
    }

    @Test func settingsThatMakeNoSenseStillSend() {
        var settings = QueueSettings.with { ($0.concurrency, $0.perHostConcurrency) = (0, -1) }
        settings.failuresBeforePause = 0
        var lab = MachineLab(settings)
        lab.online()
        #expect(lab.machine.slots(at: lab.now) == 1)
        #expect(lab.waiting(post()) == nil)
    }
}
