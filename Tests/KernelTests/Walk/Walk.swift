// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A random history of a network: what was there when the monitor started, and what happened then.
///
/// A pure function of its seed.
struct Walk: Sendable, CustomStringConvertible {
    /// Operations that happen so fast one after the other that a monitor may see them as one.
    struct Step: Sendable {
        private let start: NetworkModel
        private(set) var operations: [NetworkOperation] = []
        private(set) var commands: [WalkCommand] = []
        /// The network afterwards.
        private(set) var model: NetworkModel

        init(in start: NetworkModel) {
            self.start = start
            self.model = start
        }

        mutating func extend(by operation: NetworkOperation) {
            self.commands += operation.commands(in: self.model)
            self.operations.append(operation)
            operation.apply(to: &self.model)
        }

        /// Interfaces whose operational state the kernel settles by itself, some time after the commands.
        var settling: [NetworkModel.Interface] {
            self.model.interfaces.filter { interface in
                let before = self.start.interface(interface.id)
                return before?.isUp != interface.isUp || before?.isPlugged != interface.isPlugged
            }
        }
    }

    let seed: UInt64
    /// Everything before the monitor starts.
    let preparation: Step
    let steps: [Step]

    /// - Parameters:
    ///   - seed: What the walk is a function of.
    ///   - length: The number of steps.
    ///   - isPlain: Whether nothing happens but what shows in the main routing tables.
    init(seed: UInt64, length: Int = 10, isPlain: Bool = false) {
        var generator = OperationGenerator(seed: seed, isPlain: isPlain)
        var model = NetworkModel()
        model.ignoresRoutesWithoutCarrier = generator.chance(50)
        self.seed = seed
        self.preparation = Self.preparation(from: model, &generator)
        model = self.preparation.model
        self.steps = (0..<length).map { _ in
            // Most often one at a time, so that a failing walk points at the culprit.
            let count = generator.chance(70) ? 1 : generator.number(in: 2...4)
            let step = Self.step(of: count, from: model, &generator)
            model = step.model
            return step
        }
    }

    /// A network as people have it, and then some things that happened to it.
    private static func preparation(from start: NetworkModel, _ generator: inout OperationGenerator) -> Step {
        var step = Step(in: start)
        for _ in 0..<generator.number(in: 0...3) {
            for operation in generator.uplink(in: step.model) { step.extend(by: operation) }
        }
        for _ in 0..<generator.number(in: 0...8) { step.extend(by: generator.next(in: step.model)) }
        return step
    }

    private static func step(of count: Int, from start: NetworkModel, _ generator: inout OperationGenerator) -> Step {
        var step = Step(in: start)
        for _ in 0..<count { step.extend(by: generator.next(in: step.model)) }
        return step
    }

    /// The seed and every command, for whoever has to find out what went wrong.
    var description: String {
        let all = [self.preparation] + self.steps
        let lines = all.enumerated().flatMap { number, step in
            ["\(number == 0 ? "before" : "step \(number)"): expected \(step.model.verdict)"]
                + step.commands.map { "    \($0.text)" }
        }
        return "walk of seed \(self.seed), repeat with NETPATH_WALK_SEED=\(self.seed); routes without carrier are "
            + (self.preparation.model.ignoresRoutesWithoutCarrier ? "ignored" : "used") + "\n"
            + lines.joined(separator: "\n")
    }
}

extension WalkCommand {
    /// As a person would type it.
    var text: String {
        switch self {
        case .ip(let line): "ip \(line)"
        case .ipv6(let line): "ip -6 \(line)"
        case .beyond(let line): "(beyond) ip \(line)"
        }
    }
}
