// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

// Interfaces in the words of a table: `.wired("eth0", 2).with("192.0.2.7/24").down()`.
extension NetworkInterface {
    /// A wired hardware interface that is up and has a carrier.
    public static func wired(_ name: String, _ index: UInt32) -> NetworkInterface {
        .fixture(name, index, .wired, isHardware: true)
    }

    /// A Wi-Fi interface that is up and associated.
    public static func wifi(_ name: String, _ index: UInt32) -> NetworkInterface {
        .fixture(name, index, .wifi, isHardware: true)
    }

    /// A cellular interface that is up and connected.
    public static func cellular(_ name: String, _ index: UInt32) -> NetworkInterface {
        .fixture(name, index, .cellular, isHardware: true)
    }

    /// A tunnel that is up, its operational state being unknown as with WireGuard.
    public static func tunnel(_ name: String, _ index: UInt32, kind: String = "wireguard") -> NetworkInterface {
        .fixture(name, index, .other, isHardware: false).changed {
            $0.kind = kind
            $0.flags = [.up, .pointToPoint, .noARP, .multicast]
            $0.operationalState = .unknown
        }
    }

    /// A virtual interface of some kind that counts as wired: `veth`, `bridge`, `vlan`.
    public static func virtual(_ name: String, _ index: UInt32, kind: String) -> NetworkInterface {
        .fixture(name, index, .wired, isHardware: false).changed { $0.kind = kind }
    }

    /// The loopback interface with its addresses.
    public static func loopback(_ index: UInt32 = 1) -> NetworkInterface {
        var loopback = NetworkInterface.fixture("lo", index, .loopback, isHardware: false)
        loopback.flags = [.up, .loopback]
        loopback.operationalState = .unknown
        return loopback.with("127.0.0.1/8", scope: .host).with("::1/128", scope: .host)
    }

    private static func fixture(
        _ name: String,
        _ index: UInt32,
        _ type: InterfaceType,
        isHardware: Bool
    ) -> NetworkInterface {
        var interface = NetworkInterface(index: index, name: name, type: type, flags: [.up, .broadcast, .multicast])
        interface.operationalState = .up
        interface.hasCarrier = true
        interface.isHardware = isHardware
        interface.defaultRoutes = []
        return interface
    }

    /// The interface, changed.
    public func changed(_ change: (inout NetworkInterface) -> Void) -> NetworkInterface {
        var copy = self
        change(&copy)
        return copy
    }

    /// The interface with one more address, written `192.0.2.7/24`; the scope is link for link-local addresses.
    public func with(_ text: String, scope: AddressScope? = nil, state: AddressState = []) -> NetworkInterface {
        let prefix = AddressPrefix.fixture(text)
        let address = InterfaceAddress(
            prefix,
            scope: scope ?? (prefix.address.isLinkLocal ? .link : .global),
            state: state
        )
        return self.changed {
            $0.addresses.append(address)
            $0.addresses.sort()
        }
    }

    /// The interface with an address that has a lifetime, added at a moment.
    package func with(_ text: String, since moment: MonotonicTime) -> NetworkInterface {
        self.with(text).changed { interface in
            for position in interface.addresses.indices where interface.addresses[position].prefix == .fixture(text) {
                interface.addresses[position].dynamicSince = moment
            }
        }
    }

    /// The interface with a default route of its own.
    public func withDefaultRoute(
        _ gateway: String? = nil,
        _ family: AddressFamily = .ipv4,
        metric: UInt32? = nil
    )
        -> NetworkInterface
    {
        let route = InterfaceRoute(
            family: family,
            gateway: gateway.map(InternetAddress.fixture),
            metric: metric,
            table: 254
        )
        return self.changed { $0.defaultRoutes = ($0.defaultRoutes ?? []) + [route] }
    }

    /// The interface, administratively down.
    public func down() -> NetworkInterface {
        self.changed {
            $0.flags.remove(.up)
            $0.operationalState = .down
            $0.hasCarrier = nil
        }
    }

    /// The interface, up but without a carrier since it was made.
    package func neverConnected() -> NetworkInterface {
        self.withoutCarrier().changed { $0.hasHadCarrier = false }
    }

    /// The interface, up but without a carrier.
    public func withoutCarrier(_ state: OperationalState = .down) -> NetworkInterface {
        self.changed {
            $0.operationalState = state
            $0.hasCarrier = false
        }
    }

    /// The interface in an operational state.
    package func inState(_ state: OperationalState?) -> NetworkInterface {
        self.changed { $0.operationalState = state }
    }

    /// The interface built on another one.
    public func on(_ parent: NetworkInterface) -> NetworkInterface {
        self.changed { $0.underlyingIndex = parent.index }
    }

    /// The interface as a member of a bridge, bond or VRF.
    public func member(of controller: NetworkInterface) -> NetworkInterface {
        self.changed { $0.controllerIndex = controller.index }
    }

    /// The interface, whose carrier came at a moment.
    package func withCarrier(since moment: MonotonicTime?) -> NetworkInterface {
        self.changed { $0.carrierSince = moment }
    }

    /// The interface, which something is seen to configure.
    package func configured(by configurer: Configurer) -> NetworkInterface {
        self.changed { $0.configurer = configurer }
    }

    /// The interface, whose addresses of unknown age were added at a moment.
    package func added(at moment: MonotonicTime) -> NetworkInterface {
        self.changed { interface in
            for position in interface.addresses.indices where interface.addresses[position].addedAt == nil {
                interface.addresses[position].addedAt = moment
            }
        }
    }

    /// The interface, which had a default route once.
    package func afterRoute() -> NetworkInterface { self.changed { $0.hadDefaultRoute = true } }

    /// The interface, waiting for an address since its carrier came.
    package func expectingAddress(since carrier: MonotonicTime?) -> NetworkInterface {
        self.changed {
            $0.expectsConfiguration = true
            $0.configurer = .network
            $0.carrierSince = carrier
        }
    }
}
