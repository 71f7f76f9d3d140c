// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Synchronization

/// A line that a process wrote.
struct WalkedLine: Sendable {
    let text: String
    private let value: JSONValue

    init(_ text: String) {
        self.text = text
        self.value = (try? JSONValue(json: text)) ?? .null
    }

    subscript(name: String) -> JSONValue? { self.value[name] }
}

/// What several processes write, line by line, in the order in which it comes.
final class Inbox: Sendable {
    private let lines = Mutex<[(process: Int, line: WalkedLine?)]>([])
    private let count = DispatchSemaphore(value: 0)

    func put(_ line: WalkedLine?, of process: Int) {
        self.lines.withLock { $0.append((process, line)) }
        self.count.signal()
    }

    /// The next line, nil in it for the end of a process; nil when nothing comes for so long.
    func next(within limit: TimeInterval) -> (process: Int, line: WalkedLine?)? {
        guard self.count.wait(timeout: .now() + limit) == .success else { return nil }
        return self.lines.withLock { $0.removeFirst() }
    }
}

/// A process with a queue, which does what it is told.
final class WalkedProcess {
    let number: Int
    private let process = Process()
    private let input = Pipe()

    init(_ number: Int, file: String, isOnline: Bool, inbox: Inbox) throws {
        self.number = number
        let output = Pipe()
        self.process.executableURL = URL(fileURLWithPath: try MonitorProcess.builtProduct("OfflineScenarios"))
        self.process.arguments = ["walk", file, "--online", isOnline ? "1" : "0"]
        self.process.standardInput = self.input
        self.process.standardOutput = output
        try self.process.run()
        let thread = Thread {
            var rest = Data()
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    inbox.put(WalkedLine(String(decoding: rest[..<end], as: UTF8.self)), of: number)
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
            inbox.put(nil, of: number)
        }
        thread.start()
    }

    /// Tells it something, without waiting.
    func tell(_ line: String) { try? self.input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

    func kill() {
        Foundation.kill(self.process.processIdentifier, SIGKILL)
        self.process.waitUntilExit()
    }

    /// Waits for its end, which it was told of.
    func waitForEnd() { self.process.waitUntilExit() }
}
