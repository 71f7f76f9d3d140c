// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A network interface, such as `eth0`.
public struct NWInterface: Hashable, CustomDebugStringConvertible, Sendable {
    /// What an interface is.
    public enum InterfaceType: Sendable {
        /// Something else, tunnels included.
        case other
        /// A Wi-Fi link.
        case wifi
        /// A cellular link.
        case cellular
        /// A wired link: Ethernet, and what behaves like it.
        case wiredEthernet
        /// The loopback interface.
        case loopback
    }

    /// The radio technology of an interface; as on Apple's platforms, nothing returns it.
    public enum RadioType: Sendable {
        /// A generation of Wi-Fi (IEEE 802.11).
        public enum WiFi: Sendable {
            /// 802.11b.
            case b
            /// 802.11a.
            case a
            /// 802.11g.
            case g
            /// 802.11n.
            case n
            /// 802.11ac.
            case ac
            /// 802.11ax.
            case ax
        }

        /// A generation of cellular networks.
        public enum Cellular: Sendable {
            /// The band of a 5G network.
            public enum NewRadio5GVariant: Sendable {
                /// Below 6 GHz.
                case sub6GHz
                /// Millimetre waves.
                case mmWave
            }

            /// LTE.
            case lte
            /// 5G beside LTE.
            case dualConnectivity5G(NewRadio5GVariant)
            /// 5G.
            case standalone5G(NewRadio5GVariant)
            /// WCDMA.
            case wcdma
            /// GSM.
            case gsm
            /// CDMA.
            case cdma
            /// EV-DO.
            case evdo
        }

        /// A Wi-Fi radio.
        case wifi(WiFi)
        /// A cellular radio.
        case cell(Cellular)
    }

    /// What the interface is.
    public var type: InterfaceType { self.storedType }
    /// The name, such as `eth0`.
    public var name: String { self.storedName }
    /// The kernel's index.
    public var index: Int { self.storedIndex }
    /// The name.
    public var debugDescription: String { self.storedName }

    private let storedType: InterfaceType
    private let storedName: String
    private let storedIndex: Int

    init(index: Int, name: String, type: InterfaceType) {
        self.storedIndex = index
        self.storedName = name
        self.storedType = type
    }

    init(_ interface: PathInterface) {
        self.init(index: Int(interface.index), name: interface.name, type: InterfaceType(interface.type))
    }

    /// Whether index and name are the same; the type is not compared.
    public static func == (lhs: NWInterface, rhs: NWInterface) -> Bool {
        lhs.storedIndex == rhs.storedIndex && lhs.storedName == rhs.storedName
    }

    /// Feeds what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.storedIndex)
        hasher.combine(self.storedName)
    }
}

extension NWInterface.InterfaceType {
    init(_ type: InterfaceType) {
        switch type {
        case .wifi: self = .wifi
        case .cellular: self = .cellular
        case .wired: self = .wiredEthernet
        case .loopback: self = .loopback
        case .other: self = .other
        }
    }
}
