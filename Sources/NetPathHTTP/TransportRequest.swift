// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A request as a transport sends it.
public struct TransportRequest: Hashable, Sendable {
    /// What is sent after the head.
    public enum Body: Hashable, Sendable {
        /// Nothing.
        case none
        /// Bytes that are in memory.
        case bytes([UInt8])
        /// A file, which is read while it is sent.
        case file(String)
    }

    /// How long each part may take.
    public struct Timeouts: Hashable, Sendable, Codable {
        /// Until the connection stands, name lookup and TLS included.
        public var connect: Duration
        /// Until the whole response is there; nil for no limit.
        public var total: Duration?
        /// How long less than ``minimumRate`` may move, both directions taken together, while the request is on its way
        /// or after the head of the response; how long a server works at its answer counts for ``total`` alone.
        public var stall: Duration
        /// How many bytes a second must move on average of ``stall``; 0 for any at all.
        public var minimumRate: Int

        /// Creates limits.
        public init(
            connect: Duration = .seconds(15),
            total: Duration? = .seconds(3600),
            stall: Duration = .seconds(30),
            minimumRate: Int = 10
        ) {
            self.connect = connect
            self.total = total
            self.stall = stall
            self.minimumRate = minimumRate
        }
    }

    /// The method, for example `POST`.
    public var method: String
    /// The whole address, with the scheme `http` or `https`.
    public var url: String
    /// The fields besides those the transport makes itself.
    public var headers: HeaderFields
    /// What is sent.
    public var body: Body
    /// How long each part may take.
    public var timeouts: Timeouts
    /// The interface to send from; nil for the one the kernel chooses.
    public var interface: String?
    /// How many bytes of the body of a response are kept in memory; a longer one is cut, ``TransportResponse/isCut``.
    public var responseLimit: Int
    /// The file where the body of a successful response goes instead, in the place of an older one, once it is whole.
    public var responseFile: String?

    /// Creates a request.
    public init(
        method: String = "GET",
        url: String,
        headers: HeaderFields = [:],
        body: Body = .none,
        timeouts: Timeouts = Timeouts(),
        interface: String? = nil,
        responseLimit: Int = 4 << 20,
        responseFile: String? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeouts = timeouts
        self.interface = interface
        self.responseLimit = responseLimit
        self.responseFile = responseFile
    }
}
