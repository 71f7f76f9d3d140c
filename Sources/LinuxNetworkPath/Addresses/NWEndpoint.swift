// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import FoundationEssentials

/// Something that can be connected to.
public enum NWEndpoint: Hashable, CustomDebugStringConvertible, Sendable {
    /// A port of a host.
    case hostPort(host: NWEndpoint.Host, port: NWEndpoint.Port)
    /// A Bonjour service.
    case service(name: String, type: String, domain: String, interface: NWInterface?)
    /// A socket in the file system.
    case unix(path: String)
    /// A resource.
    case url(_: URL)
    /// An endpoint of Apple's C interface; never made on Linux.
    case opaque(_: nw_endpoint_t)

    /// The interface the endpoint belongs to, if any.
    public var interface: NWInterface? {
        switch self {
        case .hostPort(let host, _): host.interface
        case .service(_, _, _, let interface): interface
        case .unix, .url, .opaque: nil
        }
    }

    /// What a Bonjour service says of itself; always nil on Linux.
    public var txtRecord: NWTXTRecord? { nil }

    /// One line for logs, such as `192.0.2.1:443`, `2001:db8::1.443` or `name._http._tcp.local`.
    public var debugDescription: String {
        switch self {
        case .hostPort(let host, let port):
            // Colons would be ambiguous.
            if case .ipv6 = host { return "\(host.debugDescription).\(port.debugDescription)" }
            return "\(host.debugDescription):\(port.debugDescription)"
        case .service(let name, let type, let domain, let interface):
            let service = "\(name).\(type)\(domain)"
            return interface.map { "\(service)%\($0.name)" } ?? service
        case .unix(let path): return path
        case .url(let url): return url.absoluteString
        case .opaque: return "opaque"
        }
    }
}

// swift-format-ignore: TypeNamesShouldBeCapitalized
/// An endpoint of Apple's C interface: there is none on Linux, but code that switches over endpoints names it.
public final class nw_endpoint_t: Hashable, Sendable {
    /// Whether both are the same object.
    public static func == (lhs: nw_endpoint_t, rhs: nw_endpoint_t) -> Bool { lhs === rhs }

    /// Feeds the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What a Bonjour service says of itself: never found on Linux, but ``NWEndpoint/txtRecord`` names it.
public struct NWTXTRecord: Hashable, Sendable {}
