// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPathHTTP

/// A transport that answers what the test says, without a network, and records what it was asked to send.
///
/// Thread-safe. Answers that were given for an address come first, in order, then those for any, then the usual one.
public final class ScriptedTransport: HTTPTransport {
    /// What becomes of a request.
    public enum Answer: Sendable {
        /// The server answers.
        case response(TransportResponse)
        /// There is no whole response.
        case failure(TransportError)
        /// Nothing, until ``ScriptedTransport/release(_:to:)``; cancelled meanwhile it has come as far as this.
        case held(TransportError.Progress)

        /// The server answers with that status and no body.
        ///
        /// - Parameters:
        ///   - status: The status.
        ///   - headers: The fields.
        /// - Returns: The answer.
        public static func status(_ status: Int, _ headers: HeaderFields = [:]) -> Self {
            .response(TransportResponse(status: status, headers: headers))
        }

        /// There is no whole response, for some reason.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - progress: How far the request came.
        /// - Returns: The answer.
        public static func failure(_ reason: TransportError.Reason, _ progress: TransportError.Progress) -> Self {
            .failure(TransportError(reason, progress: progress, message: "scripted: \(reason)"))
        }
    }

    private typealias Receiver = @Sendable (Result<TransportResponse, TransportError>) -> Void

    private struct Held: Sendable {
        var number: Int
        var url: String
        var progress: TransportError.Progress
        var receive: Receiver
    }

    private struct State: Sendable {
        var usual: Answer
        var answers: [Answer] = []
        var answersByURL: [String: [Answer]] = [:]
        var requests: [TransportRequest] = []
        var held: [Held] = []
        var cancelled = 0
        var pathChanges = 0

        mutating func nextAnswer(to url: String) -> Answer {
            if answersByURL[url]?.isEmpty == false, let answer = answersByURL[url]?.removeFirst() { return answer }
            return self.answers.isEmpty ? self.usual : self.answers.removeFirst()
        }
    }

    private let state: AwaitableState<State>

    /// Creates a transport with the answer to everything that nothing else is scripted for.
    public init(_ usual: Answer = .status(200)) {
        self.state = AwaitableState(State(usual: usual))
    }

    // MARK: Driving

    /// Scripts the next answers, in order, to requests for an address, or for any.
    public func answer(_ answers: Answer..., to url: String? = nil) {
        self.state.update { state in
            if let url {
                state.answersByURL[url, default: []] += answers
            } else {
                state.answers += answers
            }
        }
    }

    /// Changes the answer to everything that nothing else is scripted for.
    public func answerUsually(_ answer: Answer) {
        self.state.update { $0.usual = answer }
    }

    /// Ends the request that has been held the longest, of those to an address, or of all; `.held` leaves it held.
    ///
    /// - Parameters:
    ///   - answer: What becomes of it.
    ///   - url: Its address.
    /// - Returns: Whether there was one.
    @discardableResult
    public func release(_ answer: Answer = .status(200), to url: String? = nil) -> Bool {
        guard let result = answer.result else { return false }
        let held: Held? = self.state.update { state in
            let index = state.held.firstIndex { url == nil || $0.url == url }
            return index.map { state.held.remove(at: $0) }
        }
        held?.receive(result)
        return held != nil
    }

    // MARK: Records

    /// The requests that were begun, in order.
    public var requests: [TransportRequest] { self.state.value.requests }

    /// The addresses of those that are held, the oldest first.
    public var held: [String] { self.state.value.held.map(\.url) }

    /// How many requests were cancelled while they were held.
    public var cancelled: Int { self.state.value.cancelled }

    /// How often it was told that the path is another now.
    public var pathChanges: Int { self.state.value.pathChanges }

    // MARK: Waiting

    /// Suspends until a number of requests were begun.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitForRequests(_ count: Int = 1) async throws {
        try await self.state.wait { $0.requests.count >= count }
    }

    /// Suspends until a number of requests are held at once.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitForHeld(_ count: Int = 1) async throws {
        try await self.state.wait { $0.held.count >= count }
    }

    // MARK: Sending

    /// Counts it in ``pathChanges``.
    public func pathChanged() {
        self.state.update { $0.pathChanges += 1 }
    }

    /// Begins to follow the script.
    ///
    /// - Parameters:
    ///   - request: The request, which must be valid as for every transport.
    ///   - receive: Called before this returns, unless the request is held.
    /// - Returns: What cancels it.
    public func start(
        _ request: TransportRequest,
        receive: @escaping @Sendable (Result<TransportResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let (number, result) = self.state.update { state in
            state.requests.append(request)
            let number = state.requests.count
            let answer = state.nextAnswer(to: request.url)
            if case .held(let progress) = answer {
                state.held.append(Held(number: number, url: request.url, progress: progress, receive: receive))
            }
            return (number, answer.result)
        }
        if let result { receive(result) }
        return Task(transport: self, number: number)
    }

    private struct Task: TransportTask {
        let transport: ScriptedTransport
        let number: Int

        func cancel() {
            let held: Held? = self.transport.state.update { state in
                guard let index = state.held.firstIndex(where: { $0.number == self.number }) else { return nil }
                state.cancelled += 1
                return state.held.remove(at: index)
            }
            guard let held else { return }
            held.receive(.failure(TransportError(.cancelled, progress: held.progress, message: "cancelled")))
        }
    }
}

extension ScriptedTransport.Answer {
    fileprivate var result: Result<TransportResponse, TransportError>? {
        switch self {
        case .response(let response): .success(response)
        case .failure(let error): .failure(error)
        case .held: nil
        }
    }
}
