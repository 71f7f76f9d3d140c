// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import FoundationEssentials
import NetPath

/// What a path is made of, shared by all copies and all monitors with the same filter.
final class PathDetails: Sendable {
    /// The path as the filter leaves it; nil when none is known.
    let view: NetworkPath?
    private let original: NetworkPath?
    private let filter: InterfaceFilter

    init(_ path: NetworkPath?, filter: InterfaceFilter) {
        self.original = path
        self.filter = filter
        self.view = path.map { filter.view(of: $0) }
    }

    var unsatisfiedReason: NWPath.UnsatisfiedReason {
        guard self.view?.status == .unsatisfied, self.view?.reason.code == .radioBlocked else { return .notAvailable }
        let blocked = self.original?.interfaces.filter { $0.reason.code == .radioBlocked }.map(\.type) ?? []
        if blocked.contains(.wifi), self.filter.allows(.wifi) { return .wifiDenied }
        if blocked.contains(.cellular), self.filter.allows(.cellular) { return .cellularDenied }
        return .notAvailable
    }

    var gateways: [NWEndpoint] {
        self.view?.gateways.compactMap { gateway in
            let interface = self.view?.interfaces.first { $0.index == gateway.interfaceIndex }
            let isScoped = gateway.address.isLinkLocal && gateway.address.family == .ipv6
            let scope = isScoped ? interface.map { NWInterface($0) } : nil
            return NWEndpoint.Host(Data(gateway.address.bytes), scope).map { .hostPort(host: $0, port: .any) }
        } ?? []
    }

    // MARK: Text

    /// The form of Apple's nw_path: `satisfied (Path is satisfied), interface: en0[802.11], ipv4, dns, uses wifi`.
    var text: String {
        guard let view else { return "unsatisfied (No network route)" }
        switch view.status {
        case .satisfied: return (["satisfied (Path is satisfied)"] + Self.tokens(of: view)).joined(separator: ", ")
        case .requiresConnection: return "satisfiable (Path is satisfiable)"
        case .unsatisfied: break
        }
        switch self.unsatisfiedReason {
        case .cellularDenied: return "unsatisfied (Denied over cellular interface)"
        case .wifiDenied: return "unsatisfied (Denied over wifi interface)"
        case .notAvailable, .localNetworkDenied, .vpnInactive: break
        }
        guard let original, original.status == .satisfied, let refusal else { return "unsatisfied (No network route)" }
        return (["unsatisfied (\(refusal))"] + Self.tokens(of: original, scoped: true)).joined(separator: ", ")
    }

    /// What the filter refused the path of everybody else for.
    private var refusal: String? {
        switch self.filter {
        case .everything: nil
        case .only(let type): "Interface type \(type.token) is required by parameters"
        case .allBut(let types): "Interface type \(types.first?.token ?? "") is prohibited by parameters"
        }
    }

    private static func tokens(of path: NetworkPath, scoped: Bool = false) -> [String] {
        let carrier = path.interfaces.first(where: \.carriesPath)
        let name = carrier.map { $0.type == .wifi ? "\($0.name)[802.11]" : $0.name }
        let tokens: [String?] = [
            name.map { "interface: \($0)" },
            scoped ? "scoped" : nil,
            path.supportsIPv4 ? "ipv4" : nil,
            path.supportsIPv6 ? "ipv6" : nil,
            path.supportsDNS ? "dns" : nil,
            path.isExpensive ? "expensive" : nil,
            path.isConstrained ? "constrained" : nil,
            carrier?.type == .wifi && !scoped ? "uses wifi" : nil,
            carrier?.type == .cellular && !scoped ? "uses cell" : nil,
        ]
        return tokens.compactMap { $0 }
    }
}

extension NWInterface.InterfaceType {
    fileprivate var token: String {
        switch self {
        case .other: "other"
        case .wifi: "wifi"
        case .cellular: "cellular"
        case .wiredEthernet: "wired"
        case .loopback: "loopback"
        }
    }
}
