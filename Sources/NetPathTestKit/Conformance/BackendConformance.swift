// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// Checks that a backend keeps what every backend promises (`PathMonitor`).
///
/// It runs the backend without a coordinator, as often as the rules need, on the clock and the network of this machine.
/// In a test, with whatever library:
///
/// ```swift
/// @Test func conforms() async {
///     let report = await BackendConformance("modem") { ModemMonitor(port) }.check()
///     #expect(report.isConforming, "\(report)")
/// }
/// ```
///
/// The source that the backend reads has to be there, and at rest. What leaks is found between the noise of other tests
/// of the process; the numbers are exact where it is alone.
public struct BackendConformance: Sendable {
    /// How much time a backend has, and how often it is started.
    public struct Limits: Hashable, Sendable {
        /// The time from the start to the first report.
        public var firstReport: Duration = .seconds(2)
        /// The time from a refresh request to the evidence that answers it.
        public var refresh: Duration = .seconds(1)
        /// The time from cancellation to the end.
        public var cancellation: Duration = .seconds(1)
        /// The time without its source in which it throws or says something, or may stay silent.
        public var missingSource: Duration = .seconds(3)
        /// How long it is watched while nothing happens.
        public var rest: Duration = .seconds(3)
        /// How long nothing may be reported after the end.
        public var silence: Duration = .milliseconds(300)
        /// How often it is started and ended for the search of leaks; memory is compared from 500 on.
        public var cycles = 1_000

        /// The limits that a coordinator has.
        public init() {}

        /// The same number of cycles, and so many times the time: for machines that do other things meanwhile.
        package func extended(by factor: Int) -> Limits {
            var limits = self
            limits.firstReport *= factor
            limits.refresh *= factor
            limits.cancellation *= factor
            limits.missingSource *= factor
            return limits
        }
    }

    /// Makes the backend anew.
    public typealias Make = @Sendable () throws -> any PathMonitor

    let name: String
    let limits: Limits
    let make: Make
    let makeWithoutSource: Make?
    /// Checks of a program of its own; nil for a backend within this process.
    package var program: ProgramChecks?

    /// Prepares the checks of a backend.
    ///
    /// - Parameters:
    ///   - name: What it is called in the report.
    ///   - limits: How much time it has.
    ///   - withoutSource: Makes it so that what it reads is not there: a file that does not exist, a port on which no
    ///     process listens. Without it ``ConformanceRule/missingSource`` is not checked.
    ///   - make: Makes it so that it works.
    public init(
        _ name: String,
        limits: Limits = Limits(),
        withoutSource: Make? = nil,
        make: @escaping Make
    ) {
        self.name = name
        self.limits = limits
        self.make = make
        self.makeWithoutSource = withoutSource
    }

    /// Runs the checks, one after the other.
    ///
    /// - Parameter rules: The rules to check.
    /// - Returns: What was found; nothing is thrown. A cancelled task has the rest of its rules unchecked.
    public func check(_ rules: Set<ConformanceRule> = Set(ConformanceRule.allCases)) async -> ConformanceReport {
        let session = ConformanceSession(self)
        let rules = self.program == nil ? rules.subtracting(ConformanceRule.ofPrograms) : rules
        for rule in ConformanceRule.allCases where rules.contains(rule) { await session.check(rule) }
        return await session.report
    }
}

/// Checks of a backend that is a program of its own, in place of those of the suite, or besides.
package struct ProgramChecks: Sendable {
    /// By rule.
    package var checks: [ConformanceRule: @Sendable () async -> ConformanceFinding.Outcome]
    /// How many runs that the suite made have left a daemon behind.
    package var daemons: @Sendable () -> Int = { 0 }

    /// Creates the checks.
    package init(_ checks: [ConformanceRule: @Sendable () async -> ConformanceFinding.Outcome]) {
        self.checks = checks
    }
}
