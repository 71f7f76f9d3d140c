// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The PPPoE sessions of a network namespace (RFC 2516), as `/proc/net/pppoe` lists them.
package struct PPPoESessions: Hashable, Sendable {
    /// The name of the device that each session runs over.
    package let devices: [String]

    /// No session, or none that is known.
    package init() {
        self.devices = []
    }

    /// Reads the list: a heading, then for each session its number, the other end's hardware address, and the device.
    package init(parsing text: some StringProtocol) {
        self.devices = text.split(whereSeparator: \.isNewline).dropFirst().compactMap { line in
            let words = line.split(separator: " ")
            return words.count == 3 ? String(words[2]) : nil
        }
    }

    /// The device under every PPP interface; nil when the list does not tell, because it does not say which session is
    /// which interface's.
    ///
    /// - Parameter count: How many PPP interfaces there are; with more of them than sessions, some are something else.
    /// - Returns: The name of the device.
    package func device(underEachOf count: Int) -> String? {
        guard let device = self.devices.first, self.devices.count == count, Set(self.devices).count == 1 else {
            return nil
        }
        return device
    }
}
