// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// Which interface is built on which.
struct InterfaceStack {
    private let byIndex: [UInt32: InterfaceReading]
    private let byName: [String: InterfaceReading]
    private let members: [UInt32: [InterfaceReading]]
    /// The device that the PPPoE sessions run over.
    private let sessionDevice: UInt32?

    init(_ interfaces: [InterfaceReading], sessions: PPPoESessions = PPPoESessions()) {
        let device = sessions.device(underEachOf: interfaces.count { $0.nature.kind == "ppp" })
        self.sessionDevice = device.flatMap { name in interfaces.first { $0.name == name }?.index }
        self.byIndex = Dictionary(interfaces.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        self.byName = Dictionary(interfaces.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.members = Dictionary(grouping: interfaces.filter { $0.controllerIndex != nil }) { $0.controllerIndex ?? 0 }
    }

    /// The interface below, when it lies in this namespace; nil otherwise and when that is not certain.
    ///
    /// `iflink` is an index that may belong to another namespace, where it means something else.
    func parent(of index: UInt32) -> UInt32? {
        if self.byIndex[index]?.nature.kind == "ppp" { return self.sessionDevice }
        guard let interface = self.byIndex[index], let link = interface.nature.linkIndex, link != 0, link != index,
            let candidate = self.byIndex[link]
        else { return nil }
        if interface.nature.lowers.contains(candidate.name) { return link }
        // The two ends of a pair name each other. Tunnels leave no link in sysfs, and seldom change the namespace.
        let isPair = interface.nature.kind == "veth" && candidate.nature.linkIndex == index
        let isTunnel = interface.nature.hardwareType != 1
        return isPair || isTunnel ? link : nil
    }

    /// Whether some member of a bridge or bond has a carrier; nil without members.
    func memberHasCarrier(_ index: UInt32) -> Bool? {
        self.members[index].map { $0.contains { $0.isUp && $0.hasCarrier != false } }
    }

    /// The type of an interface, looking through stacked ones.
    func type(of index: UInt32) -> InterfaceType {
        var index = index
        // Stacks are finite, but what was read while a stack changed can show a loop.
        for _ in 0..<8 {
            guard let interface = self.byIndex[index] else { return .other }
            let classification = InterfaceClassification.classify(
                hardwareType: interface.nature.hardwareType,
                isLoopback: interface.isLoopback,
                kind: interface.nature.kind,
                deviceType: interface.nature.deviceType,
                isWireless: interface.nature.isWireless,
                hasDevice: interface.nature.hasDevice == true,
                lowers: interface.nature.lowers,
                isCellular: { self.byName[$0]?.nature.deviceType == "wwan" }
            )
            switch classification {
            case .type(let type): return type
            case .asLower:
                guard let lower = self.lower(of: interface) else { return .wired }
                index = lower
            }
        }
        return .wired
    }

    private func lower(of interface: InterfaceReading) -> UInt32? {
        if let parent = self.parent(of: interface.index) { return parent }
        if let active = interface.activeMember.flatMap({ self.byName[$0] }) { return active.index }
        // What a virtual machine is connected by says nothing of the line, however early it was there.
        let all = self.members[interface.index] ?? []
        let lines = all.filter { $0.nature.hasDevice == true }
        let members = lines.isEmpty ? all : lines
        return (members.first { $0.isUp && $0.hasCarrier != false } ?? members.first)?.index
    }
}
