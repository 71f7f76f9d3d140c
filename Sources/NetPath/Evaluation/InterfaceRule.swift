// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a person knows of an interface better than the kernel does.
///
/// Of the rules of an ``EvaluationPolicy`` the first that matches an interface applies, whichever backend reported it.
public struct InterfaceRule: Hashable, Sendable, Codable {
    /// What an interface has to look like; every criterion that is given has to hold.
    public struct Match: Hashable, Sendable, Codable {
        /// The pattern of the name.
        public var name: GlobPattern?
        /// The kernel's kind of a virtual interface, such as `veth`.
        public var kind: String?
        /// The driver of the hardware, such as `cdc_mbim`.
        public var driver: String?
        /// The bytes the hardware address begins with.
        public var hardwareAddressPrefix: [UInt8]?

        /// Creates a match from its criteria.
        public init(
            name: GlobPattern? = nil,
            kind: String? = nil,
            driver: String? = nil,
            hardwareAddressPrefix: [UInt8]? = nil
        ) {
            self.name = name
            self.kind = kind
            self.driver = driver
            self.hardwareAddressPrefix = hardwareAddressPrefix
        }

        /// Whether no criterion is given; such a match fits every interface.
        public var isEmpty: Bool { self == Match() }

        /// Tells whether every criterion holds; what the backend does not know fits none.
        public func fits(_ interface: NetworkInterface) -> Bool {
            if let name, !name.matches(interface.name) { return false }
            if let kind, kind != interface.kind { return false }
            if let driver, driver != interface.driver { return false }
            guard let prefix = self.hardwareAddressPrefix else { return true }
            return interface.hardwareAddress?.starts(with: prefix) == true
        }
    }

    /// The interfaces the rule is about.
    public var match: Match
    /// What the interface is, whatever the kernel says.
    public var type: InterfaceType?
    /// Whether traffic through it costs money; nil leaves it to its type.
    public var isExpensive: Bool?
    /// Whether traffic through it should be kept low.
    public var isConstrained: Bool?
    /// Whether it is hidden: it is not listed, and what it could do counts for nothing.
    public var isIgnored = false
    /// Whether something connects it as soon as there is traffic.
    public var dialsOnDemand = false
    /// Whether an address is expected to be configured once there is a carrier; nil leaves it to what the interface is.
    public var expectsAddress: Bool?
    /// Whether the interface is an uplink (true), or a tunnel over other interfaces (false); nil leaves it to its kind.
    public var isUplink: Bool?
    /// The far ends of the tunnel that the interface is, of which one suffices; empty when they are unknown.
    public var tunnelEndpoints: [TunnelEndpoint] = []
    /// The mark of the packets that the tunnel itself sends (SO_MARK of `socket(7)`).
    public var tunnelMark: UInt32?

    /// Creates a rule that changes nothing yet; everything else is set afterwards.
    public init(_ match: Match) {
        self.match = match
    }

    /// Whether the rule declares a tunnel: by `uplink: false`, a tunnel endpoint or a mark; nil when it does not say.
    public var isTunnel: Bool? {
        if let isUplink { return !isUplink }
        return self.tunnelEndpoints.isEmpty && self.tunnelMark == nil ? nil : true
    }
}
