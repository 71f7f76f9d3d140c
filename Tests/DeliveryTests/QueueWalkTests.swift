// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Synchronization
import Testing

/// Random lives of queues, with processes that are killed, against a model.
@Suite(.serialized)
struct QueueWalkTests {
    /// How many; `NETPATH_QUEUE_WALKS` asks for more.
    private static let walks = ProcessInfo.processInfo.environment["NETPATH_QUEUE_WALKS"].flatMap { Int($0) } ?? 200
    /// Where they begin; the same seed walks the same way, as far as the instants allow.
    private static let seed = ProcessInfo.processInfo.environment["NETPATH_WALK_SEED"].flatMap { UInt64($0) } ?? 1

    @Test func queuesDoWhatTheModelDoes() {
        let differences = Mutex<[String]>([])
        let walked = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: Self.walks) { number in
            let found: [String]
            do {
                found = try QueueWalk.differences(seed: Self.seed &+ UInt64(number))
            } catch {
                found = ["seed \(Self.seed &+ UInt64(number)): \(error)"]
            }
            if !found.isEmpty { differences.withLock { $0.append(found.joined(separator: "\n")) } }
            walked.withLock { $0 += 1 }
        }
        let found = differences.withLock { $0 }
        #expect(found.isEmpty, "\(found.count) of \(Self.walks) differ; the first:\n\(found.first ?? "")")
        #expect(walked.withLock { $0 } == Self.walks)
    }

    /// The model finds what is wrong.
    @Test func theModelSeesWhatIsWrong() {
        let (first, second) = (UUID(), UUID())
        func model(_ change: (inout QueueModel) -> Void) -> Int {
            var model = QueueModel()
            for id in [first, second] {
                model.enqueued(.init(id: id, lane: "a", policy: "hold", isUnique: false, mayExpire: false))
                model.acknowledged(id, as: id)
            }
            change(&model)
            return model.differences.count
        }
        func flight(_ id: UUID, _ process: Int = 1) -> QueueModel.Flight {
            .init(process: process, number: "1", id: id)
        }
        func send(_ id: UUID, in model: inout QueueModel, process: Int = 1) {
            model.sent(flight(id, process), key: "\"\(id.uuidString.lowercased())\"", isAlive: true)
        }
        func deliver(_ id: UUID, in model: inout QueueModel) {
            send(id, in: &model)
            model.answered(flight(id), status: 200)
            model.recorded(id)
        }
        #expect(model { _ in } == 0)
        #expect(
            model {
                deliver(first, in: &$0)
                deliver(second, in: &$0)
                $0.compare(dead: [], held: [])
            } == 0
        )
        #expect(
            model {
                deliver(first, in: &$0)
                $0.compare(dead: [], held: [])
            } == 1,
            "one is lost"
        )
        #expect(model { send(second, in: &$0) } == 1, "it overtakes")
        #expect(
            model {
                deliver(first, in: &$0)
                send(first, in: &$0)
            } == 1,
            "it is sent twice"
        )
        #expect(
            model {
                $0.cancelled(first)
                send(first, in: &$0)
            } == 1,
            "it was cancelled"
        )
        #expect(model { $0.sent(flight(first), key: "other", isAlive: true) } == 1, "it has another key")
        #expect(model { $0.recorded(first) } == 1, "nobody accepted it")
        #expect(
            model {
                send(first, in: &$0)
                send(first, in: &$0, process: 2)
            } == 1,
            "two processes send"
        )
        #expect(
            model { model in
                deliver(first, in: &model)
                deliver(second, in: &model)
                model.compare(dead: [first], held: [])
            } == 2,
            "it was delivered, and nothing made it dead"
        )
    }
}
