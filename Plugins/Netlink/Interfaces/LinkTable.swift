// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The interfaces of the namespace with their addresses, kept up to date one message at a time.
///
/// A value without input and output. One event about one of 10,000 interfaces costs that one interface: what is worth
/// reporting is kept sorted by rank, so that nobody ever walks the table.
struct LinkTable {
    /// One interface.
    struct Entry {
        var interface: NetworkInterface
        var hardwareType: UInt16 = 0
        var classification: Classification?
        var hasParentDevice = false
        var activeMember: UInt32?
        var tunnel: TunnelAttributes?
        var hasDynamicAddressHistory = false
        var sawRouterAdvertisement = false
        /// When each link-local address was added; the kernel adds one as soon as the carrier is there.
        var linkLocalSince: MonotonicTime?
        /// The device that a PPPoE session runs over.
        var sessionDevice: UInt32?
        /// Nil until it is stored.
        fileprivate(set) var rank: Rank?
    }

    /// How much an interface matters.
    enum Rank: Int, CaseIterable {
        /// It could carry a path, or be one step away from it.
        case principal
        case withCarrier
        case withoutCarrier
        case down
        /// A rule says to ignore it.
        case ignored
        /// Loopback, and members of a bridge, bond or VRF, which stands for them.
        case hidden

        /// The ranks of spare interfaces, which can only say why there is no path; those closest to one first.
        static let spare = [Rank.withCarrier, .withoutCarrier, .down]
    }

    /// Spare interfaces all say the same; that many of them are enough to say it.
    static let spareLimit = 16

    /// What the configuration says of interfaces.
    private let rules: [InterfaceRule]

    /// Makes an empty table.
    init(rules: [InterfaceRule] = []) {
        self.rules = rules
    }

    private(set) var entries: [UInt32: Entry] = [:]
    private var ranks = [IndexSet](repeating: IndexSet(), count: Rank.allCases.count)
    private var members: [UInt32: IndexSet] = [:]

    /// Those for which sysfs has to be read; the owner does and calls ``classify(_:_:hints:)``.
    private(set) var unclassified: Set<UInt32> = []
    /// Those of which something is known to have changed that their last message does not say; the owner reads them and
    /// calls ``apply(_:now:)``.
    private(set) var outdated: Set<UInt32> = []
    /// Whether the PPPoE sessions have to be read; the owner does and calls ``setSessions(_:)``.
    private(set) var needsSessions = false

    // MARK: Links

    /// Applies RTM_NEWLINK.
    ///
    /// - Parameters:
    ///   - update: The message.
    ///   - now: The present moment when the message is an event; nil when it is part of a dump, which says nothing
    ///     about when the carrier came.
    mutating func apply(_ update: LinkUpdate, now: MonotonicTime?) {
        guard var entry = self.entries[update.index] ?? self.newEntry(update) else { return }
        let hadCarrier = Self.hasCarrier(entry)
        let isNew = self.entries[update.index] == nil
        let before = (entry.interface.name, entry.interface.kind, entry.hardwareType)
        let controller = entry.interface.controllerIndex
        let wasUp = entry.interface.flags.contains(.up)
        entry.interface.flags = update.flags
        entry.hardwareType = update.hardwareType
        if let details = update.details {
            entry.interface.name = details.name
            entry.interface.kind = details.kind
            entry.interface.hardwareAddress = details.hardwareAddress
            entry.interface.operationalState = details.operationalState
            entry.interface.hasCarrier = details.hasCarrier
            entry.interface.parentIndex = details.parentIndex ?? entry.sessionDevice
            entry.interface.isParentElsewhere = details.isParentElsewhere
            entry.tunnel = details.tunnel
            entry.interface.controllerIndex = details.controllerIndex
            entry.hasParentDevice = details.hasParentDevice
            entry.activeMember = details.activeMember
            entry.sawRouterAdvertisement = details.sawRouterAdvertisement
        }
        if before != (entry.interface.name, entry.interface.kind, entry.hardwareType) || isNew {
            entry.classification = nil
            self.unclassified.insert(update.index)
        } else if entry.interface.isRadioBlocked != nil, wasUp != update.flags.contains(.up) {
            // A radio switch takes the interface down and says so in sysfs only.
            self.unclassified.insert(update.index)
        }
        if !Self.hasCarrier(entry) {
            entry.interface.carrierSince = nil
        } else if let now, !hadCarrier || isNew {
            entry.interface.carrierSince = now
        }
        if controller != entry.interface.controllerIndex || isNew {
            if let controller { self.members[controller]?.remove(update.index) }
            if let controller = entry.interface.controllerIndex {
                self.members[controller, default: IndexSet()].insert(update.index)
            }
        }
        self.outdated.remove(update.index)
        if entry.isPointToPoint { self.needsSessions = true }
        self.store(entry)
        if now != nil {
            self.doubtController(controller)
            self.doubtController(entry.interface.controllerIndex)
        }
    }

    /// Applies RTM_DELLINK; the index may come back as another interface.
    mutating func removeLink(_ index: UInt32) {
        guard let entry = self.entries.removeValue(forKey: index) else { return }
        if let rank = entry.rank { self.ranks[rank.rawValue].remove(index) }
        if let controller = entry.interface.controllerIndex { self.members[controller]?.remove(index) }
        self.members[index] = nil
        self.unclassified.remove(index)
        self.outdated.remove(index)
        if entry.isPointToPoint { self.needsSessions = true }
        self.doubtController(entry.interface.controllerIndex)
    }

    /// Hands out ``outdated``, once: what cannot be read is gone.
    mutating func takeOutdated() -> Set<UInt32> {
        defer { self.outdated = [] }
        return self.outdated
    }

    /// Sets what the PPP interfaces stand on, of which netlink says nothing.
    mutating func setSessions(_ sessions: PPPoESessions) {
        self.needsSessions = false
        let indices = self.entries.values.filter(\.isPointToPoint).map(\.interface.index)
        let device = sessions.device(underEachOf: indices.count).flatMap { name in
            self.entries.values.first { $0.interface.name == name }?.interface.index
        }
        for index in indices {
            self.entries[index]?.sessionDevice = device
            self.entries[index]?.interface.parentIndex = device
        }
    }

    /// Notes that an interface has to be read again.
    mutating func outdate(_ index: UInt32) {
        if self.entries[index] != nil { self.outdated.insert(index) }
    }

    /// Notes that radio switches were turned, which only sysfs tells of an interface that is down.
    mutating func doubtRadioSwitches() {
        for (index, entry) in self.entries where entry.interface.isRadioBlocked != nil {
            self.unclassified.insert(index)
        }
    }

    /// A bridge follows its ports' carriers at once, and says so up to a second later (link watch).
    private mutating func doubtController(_ index: UInt32?) {
        guard let index, let entry = self.entries[index], ["bridge", "bond", "team"].contains(entry.interface.kind),
            entry.interface.flags.contains(.up), Self.hasCarrier(entry) != (self.memberHasCarrier(index) ?? false)
        else { return }
        self.outdated.insert(index)
    }

    /// Whether some member of a bridge or bond has a carrier; nil without members.
    private func memberHasCarrier(_ index: UInt32) -> Bool? {
        guard let members = self.members[index], members.first != nil else { return nil }
        return members.contains { self.entries[$0].map(Self.hasCarrier) == true }
    }

    // MARK: Addresses

    /// Applies RTM_NEWADDR, which also announces changes of state and renewals.
    mutating func apply(_ update: AddressUpdate) {
        guard var entry = self.entries[update.interfaceIndex] else { return }
        entry.interface.addresses.removeAll { $0.prefix == update.address.prefix }
        var address = update.address
        if update.isDynamic { address.dynamicSince = update.createdAt }
        let position = entry.interface.addresses.firstIndex { address < $0 } ?? entry.interface.addresses.count
        entry.interface.addresses.insert(address, at: position)
        if update.isDynamic, update.address.prefix.address.family == .ipv4 { entry.hasDynamicAddressHistory = true }
        if update.address.prefix.address.family == .ipv6, update.address.scope == .link {
            entry.linkLocalSince = update.createdAt
        }
        self.store(entry)
    }

    /// Applies RTM_DELADDR; also sent when duplicate address detection fails.
    mutating func remove(_ update: AddressUpdate) {
        guard var entry = self.entries[update.interfaceIndex] else { return }
        entry.interface.addresses.removeAll { $0.prefix == update.address.prefix }
        if update.address.prefix.address.family == .ipv6, update.address.scope == .link { entry.linkLocalSince = nil }
        self.store(entry)
    }

    // MARK: What is kept beside the messages

    /// Sets what an interface is.
    mutating func classify(_ index: UInt32, _ classification: Classification, hints: InterfaceHints?) {
        self.unclassified.remove(index)
        guard var entry = self.entries[index] else { return }
        entry.classification = classification
        let isKnown = !Classification.needsHints(
            kind: entry.interface.kind,
            isLoopback: entry.interface.flags.contains(.loopback)
        )
        entry.interface.isHardware =
            hints.map { $0.hasDevice || $0.isWireless }
            ?? (isKnown || entry.hasParentDevice ? entry.hasParentDevice : nil)
        entry.interface.isRadioBlocked = hints?.isRadioBlocked
        entry.interface.driver = hints?.driver
        self.store(entry)
    }

    /// Whether it makes sense to ask for the default routes of an interface.
    func mayHaveDefaultRoutes(_ index: UInt32) -> Bool {
        guard let interface = self.entries[index]?.interface else { return false }
        return interface.flags.contains(.up) && interface.addresses.contains(where: \.isGlobal)
    }

    /// Sets the default routes of an interface, of the families that the kernel was asked about.
    mutating func setDefaultRoutes(
        _ index: UInt32,
        _ routes: [InterfaceRoute],
        replacing asked: Staleness.Families = [.ipv4, .ipv6]
    ) {
        guard let position = self.entries.index(forKey: index) else { return }
        // In place: an entry is large.
        func replace(_ old: inout [InterfaceRoute]?) {
            let kept = old?.filter { !asked.cover($0.family) } ?? []
            old = kept.isEmpty ? routes : asked.contains(.ipv4) ? routes + kept : kept + routes
        }
        replace(&self.entries.values[position].interface.defaultRoutes)
    }

    /// Takes over what a dump cannot know from the table it replaces.
    mutating func inherit(from former: LinkTable) {
        for index in self.entries.keys {
            guard let old = former.entries[index], var entry = self.entries[index] else { continue }
            if Self.hasCarrier(entry), Self.hasCarrier(old) {
                entry.interface.carrierSince = old.interface.carrierSince
            }
            entry.hasDynamicAddressHistory = entry.hasDynamicAddressHistory || old.hasDynamicAddressHistory
            self.store(entry)
        }
    }

    // MARK: Reading

    /// The type of an interface, looking through stacked ones.
    func type(of index: UInt32) -> InterfaceType {
        var index = index
        // Stacks are finite, but messages of a changing stack can show a loop.
        for _ in 0..<8 {
            guard let entry = self.entries[index], let classification = entry.classification else { return .other }
            switch classification {
            case .type(let type): return type
            case .asLower:
                guard let lower = self.lower(of: index, entry) else { return .wired }
                index = lower
            }
        }
        return .wired
    }

    private func lower(of index: UInt32, _ entry: Entry) -> UInt32? {
        if let parent = entry.interface.parentIndex { return parent }
        if let active = entry.activeMember, self.entries[active] != nil { return active }
        let members = self.members[index]?.indices.prefix(Self.spareLimit) ?? []
        return members.first { self.entries[$0].map(Self.hasCarrier) == true } ?? members.first
    }

    /// The first members of a bridge, bond or VRF, by index.
    func members(of index: UInt32) -> ArraySlice<UInt32> { self.members[index]?.indices.prefix(Self.spareLimit) ?? [] }

    /// The names of the ports of a bridge that are up and have no carrier, among the first ones.
    ///
    /// A bridge has a carrier as long as one port has, so that a virtual machine hides that the cable is out.
    func membersWithoutCarrier(of interface: NetworkInterface) -> [String] {
        guard interface.kind == "bridge" else { return [] }
        return self.members(of: interface.index).compactMap { member in
            guard let entry = self.entries[member], entry.interface.flags.contains(.up), !Self.hasCarrier(entry)
            else { return nil }
            return entry.interface.name
        }
    }

    /// What a bridge, bond or VRF stands on; nil for others, and for those that stand on something else.
    func foundation(of index: UInt32) -> NetworkInterface.Foundation? {
        // Of thousands of ports the first ones tell: hardware was there before containers.
        let members = self.members(of: index)
        guard !members.isEmpty else { return nil }
        var isOnTunnelsOnly = true
        for member in members {
            guard let interface = self.entries[member]?.interface else { continue }
            if interface.isHardware == true { return .hardware }
            if !interface.hasTunnelKind { isOnTunnelsOnly = false }
        }
        return isOnTunnelsOnly ? .tunnels : nil
    }

    /// The indices of all interfaces that may be asked for a default route of their own.
    var principals: [UInt32] { self.ranks[Rank.principal.rawValue].indices }

    /// Whether ``reportable(including:)`` leaves out spare interfaces.
    var isAbridged: Bool {
        Rank.spare.reduce(0) { $0 + self.ranks[$1.rawValue].indices.count } > Self.spareLimit
    }

    /// The interfaces worth reporting, sorted by index: the principal ones, some others to tell by, those asked for,
    /// and what they are built on.
    func reportable(including indices: some Sequence<UInt32>) -> [NetworkInterface] {
        var chosen = self.ranks[Rank.principal.rawValue]
        var places = Self.spareLimit
        for rank in Rank.spare {
            let some = self.ranks[rank.rawValue].indices.prefix(places)
            places -= some.count
            for index in some { chosen.insert(index) }
        }
        // Only to name them where somebody asks for an explanation.
        for index in self.ranks[Rank.ignored.rawValue].indices.prefix(Self.spareLimit) { chosen.insert(index) }
        for index in indices { chosen.insert(index) }
        for index in chosen.indices {
            if let parent = self.entries[index]?.interface.parentIndex { chosen.insert(parent) }
        }
        return chosen.indices.compactMap { index in
            guard var entry = self.entries[index] else { return nil }
            entry.interface.type = self.type(of: index)
            entry.interface.foundation = self.foundation(of: index)
            // Without link monitoring (miimon 0) a bond never says that it has lost all of its members.
            if entry.interface.kind == "bond", self.memberHasCarrier(index) == false {
                entry.interface.hasCarrier = false
            }
            entry.interface.carrierSince = entry.interface.carrierSince ?? entry.linkLocalSince
            return entry.interface
        }
    }

    // MARK: Keeping order

    private func newEntry(_ update: LinkUpdate) -> Entry? {
        // A partial message about an unknown interface is the echo of one that is gone.
        guard let details = update.details else { return nil }
        return Entry(
            interface: NetworkInterface(index: update.index, name: details.name, type: .other)
        )
    }

    private mutating func store(_ entry: Entry) {
        let index = entry.interface.index
        var entry = entry
        if case .type(let type) = entry.classification { entry.interface.type = type }
        entry.interface.expectsConfiguration = entry.sawRouterAdvertisement || entry.hasDynamicAddressHistory
        let former = entry.rank
        let rank = self.rank(of: entry.interface)
        entry.rank = rank
        // Only principal interfaces are asked; what others answered before they lost the rank is stale.
        if rank != .principal { entry.interface.defaultRoutes = nil }
        self.entries[index] = entry
        guard former != rank else { return }
        if let former { self.ranks[former.rawValue].remove(index) }
        self.ranks[rank.rawValue].insert(index)
    }

    private func rank(of interface: NetworkInterface) -> Rank {
        if interface.flags.contains(.loopback) || interface.controllerIndex != nil { return .hidden }
        switch InterfaceRelevance(of: interface, rules: self.rules) {
        case .relevant: return .principal
        case .ignored: return .ignored
        case .spare: break
        }
        if !interface.flags.contains(.up) { return .down }
        return interface.hasCarrier != false ? .withCarrier : .withoutCarrier
    }

    /// An interface that is down often claims a carrier; the word counts only together with IFF_UP.
    private static func hasCarrier(_ entry: Entry) -> Bool {
        entry.interface.flags.contains(.up) && entry.interface.hasCarrier != false
    }
}

extension LinkTable.Entry {
    fileprivate var isPointToPoint: Bool { self.interface.kind == "ppp" }
}
