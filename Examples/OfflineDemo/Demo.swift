// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import OfflineRequests

/// What is going on, and what keys do.
@MainActor
final class Demo {
    /// Handlers of responses are found by this, also after a restart of the program.
    nonisolated static let requestType = "reading"

    let client: OfflineClient
    private let cable: String
    private let print: (String) -> Void
    private(set) var isConnected = true
    private(set) var status = ""
    private(set) var isCut = false
    private(set) var isOver = false
    private(set) var answered = 0
    private(set) var later = 0
    /// What happened last, the newest at the end.
    private(set) var log: [String] = []
    private var number = 0

    /// Creates a demonstration.
    ///
    /// - Parameters:
    ///   - client: What sends and keeps.
    ///   - cable: The command that cuts the network with `down` and mends it with `up`.
    ///   - print: Hears of everything that happens.
    init(client: OfflineClient, cable: String, print: @escaping (String) -> Void) {
        self.client = client
        self.cable = cable
        self.print = print
    }

    func take(_ happening: Happening) async {
        switch happening {
        case .network(let update):
            let reason = update.isConnected ? update.connectionType.phrase : update.path?.reason.message
            self.status = [update.status.displayName, reason].compactMap { $0 }.joined(separator: ", ")
            if self.isConnected != update.isConnected {
                self.say(update.isConnected ? "Network is back" : "∆ No Network")
            }
            self.isConnected = update.isConnected
        case .key("e"): self.send()
        case .key("b"): for _ in 0..<10 { self.send() }
        case .key("n"): self.turnCable()
        case .key("x"): await self.cancelLast()
        case .key("r"): self.client.queue.forceTriggerRetry()
        // Control-D, too.
        case .key("q"), .key("\u{4}"): self.isOver = true
        case .key, .queue, .tick: ()
        }
    }

    /// Sends a reading: it is answered, or it is on disk.
    private func send() {
        self.number += 1
        let number = self.number
        Task {
            do {
                // A server that takes its time.
                try await self.client.fetchWithOfflineSupport(
                    endpoint: "/slow?ms=300",
                    body: Data("\(number)".utf8),
                    requestType: Self.requestType
                )
                self.answered += 1
                self.say("answered   reading \(number)")
            } catch OfflineClientError.queuedForRetry {
                self.say("kept       reading \(number)")
            } catch {
                self.say("failed     reading \(number): \(error)")
            }
        }
    }

    /// Hears of the response to a reading that had to wait.
    func delivered(_ request: RetryableRequest) {
        self.later += 1
        self.say("delivered  reading \(request.reading)")
    }

    private func cancelLast() async {
        do {
            guard let last = try await self.client.queue.pendingRequests.last else { return }
            try await self.client.queue.cancelRequest(id: last.id)
            self.say("cancelled  reading \(last.request.reading)")
        } catch {
            self.say("left as it is: \(error)")
        }
    }

    private func turnCable() {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "\(self.cable) \(self.isCut ? "up" : "down")"]
        do {
            try process.run()
            process.waitUntilExit()
            self.isCut.toggle()
        } catch {
            self.say("the cable is as it was: \(error)")
        }
    }

    private func say(_ text: String) {
        self.log = self.log.suffix(5) + [text]
        self.print(text)
    }
}

extension RetryableRequest {
    /// The number of the reading it reports.
    var reading: String { String(decoding: self.body ?? Data(), as: UTF8.self) }
}
