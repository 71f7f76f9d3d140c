// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

@testable import NetPath

/// What happens to a vehicle, and what was done to it.
struct VehicleLife {
    private(set) var service: VehicleService
    private(set) var log: VehicleLog
    /// How often a network changed, and how many programs ran.
    private(set) var changes = 0
    private(set) var programs = 1
    private var tally = VehicleTally(holdTime: VehicleService.holdTime)
    private var state = VehicleState(network: .depot, stage: .routed)
    private var boots = 1
    private var numbers: SeededGenerator
    private let folder: String

    init(in folder: String, seed: UInt64, at wall: Int64) async throws {
        self.folder = folder
        self.numbers = SeededGenerator(seed: seed)
        self.log = VehicleLog(capacity: 16_384)
        let clocks = VehicleClocks(bootedFor: .seconds(9), wall: wall)
        self.service = try await VehicleService(in: folder, boot: 1, clocks: clocks)
        self.begin(self.state)
    }

    private var wall: Int64 { self.service.clocks.now.wallNanoseconds }

    /// What metrics and the hook have to say by now.
    func tallyNow() -> VehicleTally {
        var tally = self.tally
        tally.begin(nil, at: self.service.clocks.now.time)
        return tally
    }

    /// A day until its end, in the last part of which the vehicle sleeps.
    mutating func day(_ number: Int, changes: Int, until end: Int64) async throws {
        for change in 0..<changes {
            self.service.advance(by: self.pause())
            self.change()
            guard change == changes / 2 else { continue }
            if number % 3 == 1 { try await self.restart(boots: true, isKilled: number % 2 == 1) }
            if number % 5 == 2 { try await self.restart(boots: false, isKilled: number % 2 == 0) }
        }
        // Everything was written by then, and what the sleep ends with is the first word of the morning.
        self.service.advance(by: .seconds(5))
        let now = self.wall
        let asleep = end - now - 60_000_000_000
        guard asleep > 2_000_000_000 else { return self.service.advance(by: .nanoseconds(end - now)) }
        self.log.begin(.slept, at: now)
        self.service.sleep(for: asleep, seeing: self.state)
        self.log.begin(.state(self.state), at: self.wall)
        self.service.advance(by: .seconds(60))
    }

    /// Often short, as when a modem comes and goes, and else up to five minutes.
    private mutating func pause() -> Duration {
        Int.random(in: 0..<5, using: &self.numbers) == 0
            ? .nanoseconds(Int64.random(in: 1_000_000...400_000_000, using: &self.numbers))
            : .nanoseconds(Int64.random(in: 400_000_000...300_000_000_000, using: &self.numbers))
    }

    private mutating func change() {
        let others = VehicleState.all.filter { $0 != self.state }
        self.state = others[Int.random(in: others.indices, using: &self.numbers)]
        self.changes += 1
        self.begin(self.state)
    }

    private mutating func begin(_ state: VehicleState) {
        let now = self.service.clocks.now
        self.service.see(state)
        self.log.begin(.state(state), at: now.wallNanoseconds)
        self.tally.begin(state, at: now.time)
    }

    /// The program ends, with the machine or without, and another one begins some time later.
    private mutating func restart(boots: Bool, isKilled: Bool) async throws {
        self.service.live()
        self.log.begin(isKilled ? .killed : .ended, at: self.wall)
        if isKilled { self.service.advance(by: .seconds(Int64.random(in: 1...80, using: &self.numbers))) }
        self.service.end(isKilled: isKilled)
        let absence = Int64.random(in: 2...120, using: &self.numbers)
        var clocks = self.service.clocks
        if boots {
            self.boots += 1
            let wall = self.wall + absence * 1_000_000_000
            let uptime = Duration.milliseconds(Int64.random(in: 4_000...9_000, using: &self.numbers))
            clocks = VehicleClocks(bootedFor: uptime, wall: wall)
        } else {
            clocks.monotonic.advance(by: .seconds(absence))
        }
        self.service = try await VehicleService(in: self.folder, boot: self.boots, clocks: clocks)
        self.programs += 1
        self.tally = VehicleTally(holdTime: VehicleService.holdTime)
        self.service.advance(by: .milliseconds(Int64.random(in: 10...500, using: &self.numbers)))
        self.begin(self.state)
    }
}
