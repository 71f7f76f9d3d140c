// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The interfaces of the namespace with their addresses, kept up to date one message at a time.
///
/// A value without input and output. One event about one of 10,000 interfaces costs that one interface: what is worth
/// reporting is kept sorted by rank, so that no event walks the table.
struct LinkTable {
    /// Spare interfaces all say the same; that many of them are enough to say it.
    static let spareLimit = 16

    /// What the configuration says of interfaces.
    private let rules: [InterfaceRule]

    /// Makes an empty table.
    init(rules: [InterfaceRule] = []) {
        self.rules = rules
    }

    private(set) var entries: [UInt32: Entry] = [:]
    private(set) var ranks = [IndexSet](repeating: IndexSet(), count: Rank.allCases.count)
    private(set) var members: [UInt32: Members] = [:]

    /// Those for which sysfs has to be read; the owner does and calls ``classify(_:_:hints:)``.
    private(set) var unclassified: Set<UInt32> = []
    /// Those of which something is known to have changed that their last message does not say; the owner reads them and
    /// calls ``apply(_:now:)``.
    private(set) var outdated: Set<UInt32> = []
    /// What a PPPoE session runs over whose interface is not up yet.
    private(set) var dialledDevice: UInt32?
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
        let hadCarrier = entry.hasCarrier
        let former = entry.interface.operationalState
        let isNew = self.entries[update.index] == nil
        let before = (entry.interface.name, entry.interface.kind, entry.hardwareType)
        let controller = entry.interface.controllerIndex
        let wasUp = entry.interface.flags.contains(.up)
        entry.interface.flags = update.flags
        entry.hardwareType = update.hardwareType
        if let details = update.details {
            entry.interface.name = details.name
            entry.interface.kind = details.kind
            entry.hasTunnelKind = entry.interface.hasTunnelKind
            entry.hasDiscardingKind = entry.interface.hasDiscardingKind
            entry.interface.hardwareAddress = details.hardwareAddress
            entry.interface.operationalState = details.operationalState
            entry.interface.hasCarrier = details.hasCarrier
            entry.interface.hasHadCarrier = details.hasHadCarrier
            entry.interface.underlyingIndex = details.underlyingIndex ?? entry.sessionDevice
            entry.interface.isParentElsewhere = details.isParentElsewhere
            entry.tunnel = details.tunnel
            entry.interface.controllerIndex = details.controllerIndex
            entry.hasParentDevice = details.hasParentDevice
            (entry.port, entry.receivesNothing) = (details.port, details.receivesNothing)
            entry.bond = details.bond
            entry.sawRouterAdvertisement = details.sawRouterAdvertisement
        }
        if before != (entry.interface.name, entry.interface.kind, entry.hardwareType) || isNew {
            entry.classification = nil
            self.unclassified.insert(update.index)
        } else if entry.interface.isRadioBlocked != nil, wasUp != update.flags.contains(.up) {
            // A radio switch takes the interface down and says so in sysfs only.
            self.unclassified.insert(update.index)
        }
        if !entry.hasCarrier {
            entry.interface.carrierSince = nil
            entry.interface.configurer = nil
        } else if let now, !hadCarrier || isNew {
            entry.interface.carrierSince = now
        }
        entry.countAuthentication(from: former, hadCarrier: hadCarrier)
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
        if let device { self.entries[device]?.hasSessionHistory = true }
        let isUp = indices.contains { self.entries[$0]?.interface.flags.contains(.up) == true }
        self.dialledDevice = isUp ? nil : device
        for index in indices {
            self.entries[index]?.sessionDevice = device
            self.entries[index]?.interface.underlyingIndex = device
        }
    }

    /// Notes that an interface has to be read again.
    mutating func outdate(_ index: UInt32) {
        if self.entries[index] != nil { self.outdated.insert(index) }
    }

    /// Notes a router advertisement, of which the kernel tells otherwise only when its flags M and O are others than before.
    mutating func noteAdvertisement(_ index: UInt32) {
        if self.entries[index]?.sawRouterAdvertisement == false { self.outdated.insert(index) }
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
            entry.interface.flags.contains(.up), entry.hasCarrier != (self.memberHasCarrier(index) ?? false)
        else { return }
        self.outdated.insert(index)
    }

    // MARK: What is kept beside the messages

    /// Sets what an interface is.
    mutating func classify(_ index: UInt32, _ classification: InterfaceClassification, hints: InterfaceHints?) {
        self.unclassified.remove(index)
        guard var entry = self.entries[index] else { return }
        entry.classification = classification
        let isKnown = !InterfaceHints.areNeeded(
            kind: entry.interface.kind,
            isLoopback: entry.interface.flags.contains(.loopback)
        )
        entry.interface.isHardware =
            hints.map { $0.hasDevice || $0.isWireless }
            ?? (isKnown || entry.hasParentDevice ? entry.hasParentDevice : nil)
        entry.interface.isRadioBlocked = hints?.isRadioBlocked
        entry.interface.driver = hints?.driver
        // The only tunnel of the kernel whose links carry no kind.
        if hints?.deviceType == "l2tpeth" { entry.interface.kind = hints?.deviceType }
        self.store(entry)
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
        if !routes.isEmpty { self.entries.values[position].interface.hadDefaultRoute = true }
    }

    /// Takes over what a dump cannot know from the table it replaces.
    ///
    /// - Parameters:
    ///   - former: The table it replaces.
    ///   - keepsMissing: Whether interfaces and addresses that only the former table has may still exist: an interrupted
    ///     dump leaves some out.
    mutating func inherit(from former: LinkTable, keepsMissing: Bool = false) {
        for index in self.entries.keys {
            guard let old = former.entries[index], var entry = self.entries[index] else { continue }
            if entry.hasCarrier, old.hasCarrier {
                entry.interface.carrierSince = old.interface.carrierSince
                entry.interface.configurer = old.interface.configurer
            }
            entry.inheritHistory(of: old)
            if keepsMissing {
                entry.addAddresses(missingFrom: old)
                entry.linkLocalSince = entry.linkLocalSince ?? old.linkLocalSince
            }
            self.store(entry)
        }
        guard keepsMissing else { return }
        for (index, old) in former.entries where self.entries[index] == nil {
            var entry = old
            entry.rank = nil
            if entry.classification == nil { self.unclassified.insert(index) }
            if entry.isPointToPoint { self.needsSessions = true }
            self.store(entry)
        }
    }

    // MARK: Keeping order

    private func newEntry(_ update: LinkUpdate) -> Entry? {
        // A partial message about an unknown interface is the echo of one that is gone.
        guard let details = update.details else { return nil }
        return Entry(interface: NetworkInterface(index: update.index, name: details.name, type: .other))
    }

    mutating func store(_ entry: Entry) {
        let index = entry.interface.index
        var entry = entry
        if case .type(let type) = entry.classification { entry.interface.type = type }
        entry.interface.expectsConfiguration = entry.sawRouterAdvertisement || entry.hasDynamicAddressHistory
        let former = entry.rank
        let rank = self.rank(of: entry.interface)
        entry.rank = rank
        // Only principal interfaces are asked; what others answered before they lost the rank is stale.
        if rank != .principal { entry.interface.defaultRoutes = nil }
        let controller = entry.interface.controllerIndex
        if let old = self.entries[index]?.interface.controllerIndex, old != controller {
            self.members[old]?.remove(index)
        }
        if let controller { self.members[controller, default: Members()].insert(entry) }
        self.entries[index] = entry
        guard former != rank else { return }
        if let former { self.ranks[former.rawValue].remove(index) }
        self.ranks[rank.rawValue].insert(index)
    }

    private func rank(of interface: NetworkInterface) -> Rank {
        if interface.flags.contains(.loopback) { return interface.flags.contains(.up) ? .hidden : .down }
        if interface.controllerIndex != nil { return .hidden }
        switch InterfaceRelevance(of: interface, rules: self.rules) {
        case .relevant: return .principal
        case .ignored: return .ignored
        case .spare: break
        }
        if !interface.flags.contains(.up) { return .down }
        return interface.hasCarrier != false ? .withCarrier : .withoutCarrier
    }
}
