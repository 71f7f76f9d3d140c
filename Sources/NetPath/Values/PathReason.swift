// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Why a path, or an interface of it, is in the state it is in.
public struct PathReason: Hashable, Sendable, Codable {
    /// A stable, machine-readable name of a reason.
    ///
    /// An open set: newer versions add codes, so treat unknown ones by the status they come with.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        /// The name in lowerCamelCase.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// The stable name.
    public var code: Code
    /// A sentence for people, without a final full stop.
    public var message: String

    /// Creates a reason.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Puts the code in place of the sentence, which may name addresses.
    package mutating func hideMessage() { self.message = self.code.rawValue }
}

extension PathReason.Code {
    // Satisfied.

    /// The kernel routes packets to the internet through a usable interface.
    public static let routed = Self(rawValue: "routed")
    /// A probe was answered, and nothing else is known.
    public static let probeAnswered = Self(rawValue: "probeAnswered")
    /// An interface that could carry the path if the chosen one were gone.
    public static let alternative = Self(rawValue: "alternative")
    /// An interface that carries the packets of a tunnel on the path, and could not carry the path by itself.
    public static let carriesTunnel = Self(rawValue: "carriesTunnel")

    /// A backend states the status, and has no other name for the reason.
    public static let stated = Self(rawValue: "stated")

    // A step is pending or can be started.

    /// 802.1X or a WPA handshake is under way.
    public static let authenticating = Self(rawValue: "authenticating")
    /// An address is being configured.
    public static let configuringAddress = Self(rawValue: "configuringAddress")
    /// The Wi-Fi interface is not associated with a network.
    public static let wifiNotAssociated = Self(rawValue: "wifiNotAssociated")
    /// The modem is not connected.
    public static let modemNotConnected = Self(rawValue: "modemNotConnected")
    /// A captive portal answers for the internet, and the configuration says that the user has to sign in.
    public static let captivePortal = Self(rawValue: "captivePortal")
    /// A rule says that something connects the interface as soon as there is traffic.
    public static let dialOnDemand = Self(rawValue: "dialOnDemand")
    /// Those of interfaces, the one that is closest to a path first.
    package static let steps: [Self] = [
        .authenticating, .configuringAddress, .wifiNotAssociated, .modemNotConnected, .dialOnDemand,
    ]

    // Unsatisfied.

    /// A blackhole, unreachable or prohibit route takes the packets.
    public static let routeRejects = Self(rawValue: "routeRejects")
    /// The kernel routes packets through an interface that a rule says to ignore, or to be loopback.
    public static let ignoredInterface = Self(rawValue: "ignoredInterface")
    /// The link has no carrier.
    public static let noCarrier = Self(rawValue: "noCarrier")
    /// No probe target answered.
    public static let probeFailed = Self(rawValue: "probeFailed")
    /// The internet cannot be reached, as a backend states, and the configuration says that it has to.
    public static let statedUnreachable = Self(rawValue: "statedUnreachable")
    /// No gateway in use answers, and the configuration says that one has to.
    public static let gatewaySilent = Self(rawValue: "gatewaySilent")
    /// There is an address but no route to the internet.
    public static let noRoute = Self(rawValue: "noRoute")
    /// There is no usable address.
    public static let noAddress = Self(rawValue: "noAddress")
    /// A radio switch blocks the interface.
    public static let radioBlocked = Self(rawValue: "radioBlocked")
    /// The interface is administratively down.
    public static let interfaceDown = Self(rawValue: "interfaceDown")
    /// Every interface is administratively down.
    public static let allDown = Self(rawValue: "allDown")
    /// No connection can be made to the address: it is not that of one host, or lacks the name of its link.
    public static let notConnectable = Self(rawValue: "notConnectable")
    /// There is no interface besides loopback.
    public static let noInterface = Self(rawValue: "noInterface")
}
