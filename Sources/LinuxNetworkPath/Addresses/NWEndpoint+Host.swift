// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import FoundationEssentials
import NetPath
import NetPathStandard

extension NWEndpoint {
    /// A host: a name or an address, perhaps on one interface.
    public enum Host: Hashable, CustomDebugStringConvertible, ExpressibleByStringLiteral, Sendable {
        /// Literals are texts.
        public typealias StringLiteralType = String

        /// A name.
        case name(String, NWInterface?)
        /// An IPv4 address.
        case ipv4(IPv4Address)
        /// An IPv6 address.
        case ipv6(IPv6Address)

        /// Creates a host from a literal, as ``init(_:)`` does.
        public init(stringLiteral: String) {
            self.init(stringLiteral)
        }

        /// Creates an address if the text is one, such as `192.0.2.1` or `fe80::1%eth0`, else a name.
        ///
        /// An IPv6 address that stands for an IPv4 address becomes that. A `%` and what follows stay a part of the
        /// name unless an interface is called that.
        public init(_ string: String) {
            if let address = Self(numeric: string, as: nil) {
                self = address
            } else {
                let (name, interface) = Self.split(string)
                self = .name(name, interface)
            }
        }

        /// The interface the host belongs to, if any.
        public var interface: NWInterface? {
            switch self {
            case .name(_, let interface): interface
            case .ipv4(let address): address.interface
            case .ipv6(let address): address.interface
            }
        }

        /// The name or the address, followed by `%` and the interface if there is one.
        public var debugDescription: String {
            switch self {
            case .name(let name, let interface): interface.map { "\(name)%\($0.name)" } ?? name
            case .ipv4(let address): address.debugDescription
            case .ipv6(let address): address.debugDescription
            }
        }
    }
}

extension NWEndpoint.Host {
    /// Reads an address, of one family or of either.
    init?(numeric text: String, as family: AddressFamily?) {
        let (host, interface) = Self.split(text)
        guard let (bytes, scope) = NameTables.address(host, family: family) else { return nil }
        self.init(Data(bytes), scope.flatMap { NameTables.interface(at: $0) } ?? interface)
        if family == nil, case .ipv6(let address) = self, address.isIPv4Mapped, let embedded = address.asIPv4 {
            self = .ipv4(embedded)
        }
    }

    /// Makes an address of its bytes in network order; nil for another number than 4 or 16 of them.
    init?(_ rawValue: Data, _ interface: NWInterface?) {
        if let address = IPv4Address(rawValue, interface) {
            self = .ipv4(address)
        } else if let address = IPv6Address(rawValue, interface) {
            self = .ipv6(address)
        } else {
            return nil
        }
    }

    /// Takes `%eth0` off the end of a text, if there is such an interface.
    private static func split(_ text: String) -> (String, NWInterface?) {
        guard let sign = text.lastIndex(of: "%"),
            let interface = NameTables.interface(named: String(text[text.index(after: sign)...]))
        else { return (text, nil) }
        return (String(text[..<sign]), interface)
    }
}

extension NWInterface {
    /// An interface known by name and index; its type is known as long as some monitor runs.
    init(index: UInt32, name: String, isLoopback: Bool) {
        let known = SharedCoordinator.process.latest?.path?.interfaces.first { $0.index == index }
        let type = isLoopback ? .loopback : known.map { InterfaceType($0.type) } ?? .other
        self.init(index: Int(index), name: name, type: type)
    }
}
