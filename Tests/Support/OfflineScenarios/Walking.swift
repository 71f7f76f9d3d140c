// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathTestKit
import OfflineRequests
import Synchronization

/// Does what the lines of its input say, one after another, and answers each; what is sent waits for its answer there.
func walk() async throws {
    let network = ScriptedMonitor(.walked(isOnline: options["online"] == "1"))
    let transport = AskingTransport()
    var settings = options.settings
    settings.baseBackoff = .milliseconds(1)
    settings.maxBackoff = .milliseconds(4)
    settings.failuresBeforePause = .max
    settings.minimumOnline = .zero
    settings.reconnectJitter = .zero
    let queue = try OfflineRequestQueue(
        file: options.file,
        settings: settings,
        transport: transport,
        monitor: NetworkMonitor(
            monitor: network,
            deliverOn: .queue(DispatchQueue(label: "walk"))
        )
    )
    queue.observe { event in
        if case .succeeded(let id, _) = event { say(["recorded": id.uuidString]) }
    }
    queue.start()
    say(["open": options.file])
    while let line = readLine() {
        let (number, words) = (line.prefix { $0 != " " }, line.split(separator: " ").dropFirst().map(String.init))
        var answer = ["to": String(number)]
        do {
            switch words[0] {
            case "enqueue": answer["kept"] = try await queue.enqueue(.walked(words)).uuidString
            case "cancel": answer["wasSent"] = "\(try await queue.cancelRequest(id: .named(words[1])) == .running)"
            case "requeue": try await queue.requeueDead(id: .named(words[1]))
            case "retry": try await queue.forceTriggerRetry(includingDead: false)
            case "pause": try await queue.pause()
            case "resume": try await queue.resume()
            case "network": network.report(.walked(isOnline: words[1] == "on"))
            case "answer": transport.answer(words[1], with: words[2])
            case "state": answer.merge(try walkedState()) { $1 }
            case "close":
                await queue.shutdown(within: .milliseconds(50))
                return
            default: answer["error"] = "no such command: \(line)"
            }
        } catch {
            answer["error"] = "\(error)"
        }
        say(answer)
    }
}

/// Asks over the output of the process what becomes of a request.
private final class AskingTransport: HTTPTransport {
    private typealias Receive = @Sendable (Result<TransportResponse, TransportError>) -> Void

    private struct Task: TransportTask {
        let end: @Sendable () -> Void
        func cancel() { self.end() }
    }

    private let asked = Mutex<(last: Int, receivers: [String: Receive])>((0, [:]))

    func start(
        _ request: TransportRequest,
        receive: @escaping @Sendable (Result<TransportResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let number = self.asked.withLock { asked in
            asked.last += 1
            asked.receivers["\(asked.last)"] = receive
            return "\(asked.last)"
        }
        let name = request.url.split(separator: "/").last.map(String.init) ?? ""
        say(["sent": number, "name": name, "key": request.headers["Idempotency-Key"] ?? ""])
        return Task { self.answer(number, with: "lost") }
    }

    func answer(_ number: String, with word: String) {
        guard let receive = self.asked.withLock({ $0.receivers.removeValue(forKey: number) }) else { return }
        say(["ended": number])
        if let status = Int(word) { return receive(.success(TransportResponse(status: status))) }
        let progress: TransportError.Progress = word == "unsent" ? .notSent : .mayHaveBeenReceived
        receive(.failure(TransportError(.connectionLost, progress: progress, message: word)))
    }
}

/// Which requests stand where in a file.
private func walkedState() throws -> [String: String] {
    var names: [String: [String]] = ["waiting": [], "held": [], "dead": []]
    try QueueReader(file: options.file).forEach(in: Set(RequestState.allCases)) { record in
        let name = record.state == .held ? "held" : record.state == .dead ? "dead" : "waiting"
        names[name, default: []].append(record.request.id.uuidString)
        return true
    }
    return names.mapValues { $0.joined(separator: " ") }
}

extension RetryableRequest {
    /// `enqueue ID LANE POLICY PRIORITY KEY UNIQUE EXPIRY`, with `-` for what it lacks.
    fileprivate static func walked(_ words: [String]) -> Self {
        func optional(_ word: String) -> String? { word == "-" ? nil : word }
        var request = RetryableRequest(
            id: .named(words[1]),
            endpoint: "http://192.0.2.80/\(words[1])",
            method: "POST",
            maxRetries: 1000,
            orderingKey: optional(words[2])
        )
        request.priority = RequestPriority.allCases[Int(words[4]) ?? 0]
        request.expiresAt = Int(words[7]).map { Date(timeIntervalSinceNow: Double($0) / 1000) }
        request.onFailure = LanePolicy(rawValue: words[3]) ?? .hold
        request.uniqueKey = optional(words[5])
        request.ifExists = UniquePolicy(rawValue: words[6]) ?? .keep
        return request
    }
}

extension UUID {
    fileprivate static func named(_ text: String) -> Self { UUID(uuidString: text) ?? UUID() }
}

extension Evidence {
    fileprivate static func walked(isOnline: Bool) -> Self {
        let wifi = NetworkInterface.wifi("wlan0", 2).with("192.0.2.7/24")
        return isOnline ? .online(wifi, gateway: "192.0.2.1") : .seeing(wifi.withoutCarrier())
    }
}
