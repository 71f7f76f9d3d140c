// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Reads the interfaces of this process's network namespace.
final class InterfaceReader {
    private let root: String
    private let queries: any InterfaceQuerying
    private let clock: any MonotonicClock
    private let files = FileReader(room: 4096)
    /// What is known of each interface as long as it is the same one.
    private var natures: [String: Known] = [:]
    /// The indices of this pass on which sysfs and the kernel agree.
    private var agreed: [String: UInt32] = [:]
    /// Where sysfs keeps the interfaces without a device, a shorter way to them than the links of the class.
    private var virtual: Directory?
    private let virtualRoot: String
    /// The entries of sysfs whose index was read and found right, which cannot change while they exist.
    private var verified: [String: Entry] = [:]

    /// Until when sysfs is asked for the first interfaces only, because it was slow: for half of those it managed.
    private var slow: (until: MonotonicTime, count: Int)?

    private struct Entry: Hashable {
        var index: UInt32
        var identity: EntryIdentity
    }

    private struct Known {
        var index: UInt32
        var hardware: [UInt8]
        var isFromSysfs: Bool
        var nature: InterfaceNature
    }

    /// What sysfs is worth.
    private enum Trust {
        case own
        case foreign
        case absent
    }

    init(sysfs: String, queries: any InterfaceQuerying, clock: any MonotonicClock) {
        self.root = "\(sysfs)/class/net"
        self.virtualRoot = "\(sysfs)/devices/virtual/net"
        self.queries = queries
        self.clock = clock
    }

    /// How long sysfs may take; what is not read by then is asked of the kernel in other ways.
    private static let budget = Duration.milliseconds(250)
    /// How long sysfs is spared after it was slow, so that what is known does not change with every look.
    private static let respite = Duration.seconds(60)
    /// As many interfaces as most machines have are read whatever the time: they may only have had to wait.
    private static let leastAsked = 16
    /// How often a disagreement is looked at again: it may have been a change under way.
    private static let attempts = 3

    /// Reads the interfaces, sorted by index, and tells what was missing.
    ///
    /// - Parameter names: The names procfs knows; nil when it does not tell.
    /// - Returns: What could be read, and a sentence for each thing that could not.
    func read(names: [String]?) -> (interfaces: [InterfaceReading], limitations: [String]) {
        let directory = Directory(self.root)
        let shown = directory?.names() ?? []
        self.virtual = Directory(self.virtualRoot)
        defer { self.virtual = nil }
        var trust = directory.map { self.trust($0, names: names, shown: shown) } ?? .absent
        var limitations: [String] = []
        let start = self.clock.now()
        if let slow = self.slow, slow.until <= start { self.slow = nil }
        var interfaces: [InterfaceReading] = []
        self.forgetAllBut(names ?? shown)
        for (position, name) in (names ?? shown).enumerated() {
            if trust == .own, self.slow == nil, self.clock.now() > start + Self.budget {
                self.slow = (start + Self.respite, max(position / 2, Self.leastAsked))
            }
            let sysfs = trust == .own && position < self.slow?.count ?? .max ? directory : nil
            guard let interface = self.interface(name, sysfs, trust: &trust) else { continue }
            interfaces.append(interface)
        }
        if trust == .foreign, directory != nil,
            interfaces.contains(where: { self.natures[$0.name]?.isFromSysfs == true })
        {
            // Found out on the way: nothing of what sysfs said counts.
            interfaces = (names ?? []).compactMap { self.interface($0, nil, trust: &trust) }
        }
        switch trust {
        case .own: break
        case .foreign:
            limitations.append(
                "\(self.root) shows another network namespace and is not believed; Wi-Fi and cellular interfaces are "
                    + "not told apart"
            )
        case .absent:
            limitations.append("there is no \(self.root); Wi-Fi and cellular interfaces are not told apart")
        }
        if self.slow != nil {
            limitations.append("\(self.root) is slow; some interfaces are known by their flags only")
        }
        return (interfaces.sorted { $0.index < $1.index }, limitations)
    }

    // MARK: Whose sysfs is it

    /// Compares the interfaces sysfs shows with those of this namespace.
    private func trust(_ directory: Directory, names: [String]?, shown: [String]) -> Trust {
        self.agreed.removeAll(keepingCapacity: true)
        let own = Set(names ?? shown)
        for name in own where self.disagrees(directory, name) { return .foreign }
        // bonding_masters is a plain file, and an interface that is being removed answers EINVAL.
        for name in shown where !own.contains(name) && self.disagrees(directory, name) { return .foreign }
        return .own
    }

    private func disagrees(_ directory: Directory, _ name: String) -> Bool {
        for _ in 0..<Self.attempts {
            let index = self.queries.index(of: name)
            let entry = index.flatMap { index in
                directory.identity(of: name).map { Entry(index: index, identity: $0) }
            }
            if let entry, self.verified[name] == entry {
                self.agreed[name] = index
                return false
            }
            switch self.files.read("\(name)/ifindex", in: directory, limit: 32, { text, _ in Attribute.number(text) }) {
            case .read(let shown?):
                guard shown != index else {
                    self.agreed[name] = index
                    self.verified[name] = entry
                    return false
                }
            // The file can be missing by itself, and then the interface is known by its flags.
            case .missing: if index == nil || directory.contains(name) { return false }
            case .read(nil), .failed: return false
            }
        }
        return true
    }

    // MARK: One interface

    private func interface(_ name: String, _ sysfs: Directory?, trust: inout Trust) -> InterfaceReading? {
        let agreed = sysfs == nil ? nil : self.agreed[name]
        let sysfs = agreed == nil ? nil : sysfs
        guard let index = agreed ?? self.queries.index(of: name), let flags = self.queries.flags(of: name) else {
            return nil
        }
        guard let nature = self.nature(name, index, sysfs, trust: &trust) else { return nil }
        var reading = InterfaceReading(index: index, name: name, flags: flags, nature: nature)
        if let sysfs, let entry = self.entry(of: reading, in: sysfs) { self.readState(entry, into: &reading) }
        self.askWhatIsMissing(of: &reading)
        // Renamed or replaced meanwhile: what was read may be another one's.
        return self.queries.index(of: name) == index ? reading : nil
    }

    private func entry(of reading: InterfaceReading, in sysfs: Directory) -> Directory? {
        let virtual = reading.nature.hasDevice == false ? self.virtual : nil
        return virtual.flatMap { Directory(reading.name, in: $0) } ?? Directory(reading.name, in: sysfs)
    }

    private func number(_ sysfs: Directory, _ path: String) -> UInt32? {
        self.files.value(path, in: sysfs, Attribute.number)
    }

    private func readState(_ entry: Directory, into reading: inout InterfaceReading) {
        // Of an interface that is down the kernel says "down", whatever it was.
        reading.operationalState =
            reading.isUp ? self.files.value("operstate", in: entry, Attribute.operationalState) : .down
        if reading.isUp {
            reading.hasCarrier = self.hasCarrier(reading, entry)
            // A loss between two passes matters where an interface waits for an address again.
            if reading.nature.hasDevice == true {
                reading.carrierGains = self.number(entry, "carrier_up_count")
            }
        }
        reading.controllerIndex = self.number(entry, "master/ifindex")
        if reading.nature.kind == "bond" {
            reading.activeMember = self.files.value("bonding/active_slave", in: entry, Attribute.word)
        }
        if reading.nature.isWireless { reading.isRadioBlocked = self.isRadioBlocked(entry) }
    }

    private func hasCarrier(_ reading: InterfaceReading, _ entry: Directory) -> Bool? {
        // Asking is much faster than reading. Not of hardware, which the kernel would wake to answer.
        if reading.nature.hasDevice == false, let hasLink = self.queries.hasLink(reading.name) { return hasLink }
        // On an interface that is down the kernel answers EINVAL.
        return switch self.number(entry, "carrier") {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// What can be known without sysfs: IFF_RUNNING, which stands for the states up and unknown, and the link.
    private func askWhatIsMissing(of reading: inout InterfaceReading) {
        guard reading.isUp else {
            reading.hasCarrier = false
            return
        }
        if reading.hasCarrier == nil { reading.hasCarrier = self.queries.hasLink(reading.name) }
        if reading.operationalState == nil, !reading.isRunning {
            reading.operationalState = reading.hasCarrier == true ? .dormant : .down
        }
    }

    private func isRadioBlocked(_ entry: Directory) -> Bool? {
        let switches = entry.names(in: "phy80211").filter { $0.hasPrefix("rfkill") }
        let values = switches.flatMap { radio in
            ["soft", "hard"].compactMap { self.number(entry, "phy80211/\(radio)/\($0)") }
        }
        return values.isEmpty ? nil : values.contains(1)
    }

    // MARK: What it is

    private func forgetAllBut(_ names: [String]) {
        let names = Set(names)
        let isSame = names.count == self.natures.count && names.allSatisfy { self.natures[$0] != nil }
        guard !isSame else { return }
        // What is below goes by names, which may have changed.
        self.verified = self.verified.filter { names.contains($0.key) }
        self.natures = self.natures.filter { names.contains($0.key) && $0.value.nature.lowers.isEmpty }
    }

    private func nature(
        _ name: String,
        _ index: UInt32,
        _ sysfs: Directory?,
        trust: inout Trust
    ) -> InterfaceNature? {
        guard let (type, address) = self.queries.hardware(of: name) else { return nil }
        let hardware = [UInt8(truncatingIfNeeded: type >> 8), UInt8(truncatingIfNeeded: type)] + address
        if let known = self.natures[name], known.index == index, known.hardware == hardware,
            known.isFromSysfs == (sysfs != nil)
        {
            return known.nature
        }
        var nature = InterfaceNature()
        nature.hardwareType = type
        let isEthernet = type == 1
        if isEthernet { nature.hardwareAddress = Array(address.prefix(6)) }
        let driver = self.queries.driver(of: name)
        if let sysfs {
            if let bytes = self.files.value("\(name)/address", in: sysfs, limit: 128, Attribute.hardwareAddress) {
                if isEthernet, bytes != nature.hardwareAddress {
                    // Another machine's interface of the same name and index, or a change under way.
                    if let again = self.queries.hardware(of: name), again.address == address { trust = .foreign }
                    return nil
                }
                nature.hardwareAddress = bytes
            }
            self.readNature(sysfs, name, into: &nature)
        }
        nature.kind = InterfaceNature.kind(
            driver: driver,
            deviceType: nature.deviceType,
            subsystem: sysfs?.linkedName("\(name)/device/subsystem"),
            hardwareType: type
        )
        if sysfs == nil, nature.kind != nil { nature.hasDevice = false }
        if nature.kind == nil, nature.driver == nil { nature.driver = driver }
        self.natures[name] = Known(index: index, hardware: hardware, isFromSysfs: sysfs != nil, nature: nature)
        return nature
    }

    private func readNature(_ sysfs: Directory, _ name: String, into nature: inout InterfaceNature) {
        let limit = FileReader.attributeLimit
        nature.deviceType = self.files.value("\(name)/uevent", in: sysfs, limit: limit, Attribute.deviceType)
        nature.isWireless = sysfs.contains("\(name)/phy80211")
        nature.hasDevice = sysfs.contains("\(name)/device")
        nature.driver = sysfs.linkedName("\(name)/device/driver")
        nature.linkIndex = self.number(sysfs, "\(name)/iflink")
        nature.lowers = sysfs.names(in: name).filter { $0.hasPrefix("lower_") }.map { String($0.dropFirst(6)) }.sorted()
    }
}
