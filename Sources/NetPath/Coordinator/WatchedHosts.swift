// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The hosts whose routes are watched, and for which clients.
struct WatchedHosts: Sendable {
    /// All of them.
    private(set) var all: Set<InternetAddress> = []
    private var byWatch: [UInt64: Set<InternetAddress>] = [:]
    /// How many watches name each.
    private var counts: [InternetAddress: Int] = [:]

    /// Replaces the hosts of one watch; nil ends it.
    ///
    /// - Returns: Whether that changes the whole.
    mutating func change(_ watch: UInt64, to hosts: Set<InternetAddress>?) -> Bool {
        let former = self.byWatch.updateValue(hosts ?? [], forKey: watch) ?? []
        if hosts == nil { self.byWatch[watch] = nil }
        var isChanged = false
        for host in (hosts ?? []).subtracting(former) {
            self.counts[host, default: 0] += 1
            if self.all.insert(host).inserted { isChanged = true }
        }
        for host in former.subtracting(hosts ?? []) {
            let count = (self.counts[host] ?? 1) - 1
            self.counts[host] = count == 0 ? nil : count
            if count == 0 {
                self.all.remove(host)
                isChanged = true
            }
        }
        return isChanged
    }
}
