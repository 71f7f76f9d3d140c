// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import Synchronization

/// The machines whose statements this program's answers depend on, so that none is told its own statement by another.
package enum Provenance {
    /// The most names that are kept and passed on.
    package static let limit = 16

    /// What this machine is called: the same for every program of a boot and a network namespace, and nothing else.
    ///
    /// A hash: the boot's own identifier stays private.
    package static let instance: String = {
        let boot = FileAccess.contents("/proc/sys/kernel/random/boot_id") ?? ""
        let namespace = FileAccess.linkTarget("/proc/thread-self/ns/net") ?? ""
        let digits = String((boot + namespace).hash64, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }()

    /// Whether another netpath listens to this program: it was started by one, or writes to one across a network.
    ///
    /// Machines that listen to one another would otherwise start one another without end.
    package static let isListenedTo: Bool = {
        if unsafe getenv(Provenance.pluginVariable) != nil { return true }
        return unsafe getenv("SSH_CONNECTION") != nil && isatty(STDIN_FILENO) == 0 && isatty(STDOUT_FILENO) == 0
    }()

    /// What plugins find in their environment.
    package static let pluginVariable = "NETPATH_PLUGIN"

    private static let heard = Mutex<[ObjectIdentifier: [String]]>([:])

    /// Notes whose words a source passes on; none when it ends.
    package static func note(_ names: [String], heardBy source: AnyObject) {
        let names = names.prefix(self.limit)
        self.heard.withLock { $0[ObjectIdentifier(source)] = names.isEmpty ? nil : Array(names) }
    }

    /// This machine, and those whose words take part.
    package static var via: [String] {
        let others = self.heard.withLock { heard in heard.isEmpty ? [] : Set(heard.values.joined()).sorted() }
        return [self.instance] + others.filter { $0 != self.instance }.prefix(self.limit - 1)
    }
}

extension String {
    /// A number that is the same for the same text, everywhere and always; it tells texts apart that are not made to look
    /// alike (FNV-1a).
    package var hash64: UInt64 {
        self.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
