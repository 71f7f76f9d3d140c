// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// When the policies of IPsec are read.
extension NetlinkSession {
    /// Opens what tells of policies that change; nil where the system refuses.
    static func eventsOfIPsec() -> NetlinkSocket? {
        guard let events = try? NetlinkSocket(protocol: NETLINK_XFRM), events.join(XFRMNLGRP_POLICY) == 0 else {
            return nil
        }
        events.setNonBlocking()
        return events
    }

    func readIPsec() {
        guard let ipsec else { return }
        if ipsec.read() { self.stale = .all }
        // There can be thousands of states, whose keys are renewed all the time.
        guard let events = self.ipsecEvents, ipsec.concern(self.interests?.destinations ?? []) else { return }
        for group in [XFRMNLGRP_SA, XFRMNLGRP_EXPIRE] { _ = events.join(group) }
    }

    func drainIPsec(_ events: NetlinkSocket) {
        var matters = false
        let isLost = try? self.drain(events) { if self.mayDecide($0) { matters = true } }
        guard matters || isLost == true else { return }
        self.readIPsec()
        // The states decide too.
        self.stale = .all
    }

    private func mayDecide(_ message: NetlinkMessage) -> Bool {
        guard [XFRM_MSG_NEWPOLICY, XFRM_MSG_UPDPOLICY, XFRM_MSG_DELPOLICY].contains(message.type),
            let selector = IPsecSelector(message)
        else { return true }
        return self.interests?.destinations.contains(where: selector.destination.contains) != false
    }
}
