// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetPath
import Glibc
import NetPath

/// What this process may do that others may not.
package enum Privileges {
    /// Whether it runs as root, or with more rights than the user who started it.
    package static var areHeld: Bool { geteuid() == 0 && !self.isRootInName || netpath_is_secure() != 0 }

    /// Whether root is another name for the user who started this process: in a user namespace that knows no one else.
    private static let isRootInName: Bool =
        FileAccess.contents("/proc/self/uid_map", limit: 4_096).map { Self.isRootInName(identities: $0) } ?? false

    /// Whether a table of user identities (user_namespaces(7)) has one line, which makes root of one ordinary user.
    ///
    /// Root has no more rights to files there than that user has, and what belongs to others belongs to no one.
    static func isRootInName(identities: String) -> Bool {
        let fields = identities.split { $0 == " " || $0 == "\n" }
        return fields.count == 3 && fields[0] == "0" && fields[1] != "0" && fields[2] == "1"
    }

    /// Whether only what root alone can have written is executed: with privileges, and by a service of the system.
    package static let trustOnlyRoot: Bool = {
        let folder = unsafe getenv("RUNTIME_DIRECTORY").map { unsafe String(cString: $0) }
        return Privileges.areHeld || Privileges.areOfService(folder)
    }()

    /// Whether a process serves the machine and not a person: it runs as a user of the system's own, or the service manager of
    /// the system gave it a folder.
    ///
    /// - Parameter runtimeFolder: What RUNTIME_DIRECTORY says; nil when that is not set.
    /// - Returns: Whether it does.
    package static func areOfService(_ runtimeFolder: String?) -> Bool {
        self.areOfService(runtimeFolder, user: geteuid())
    }

    static func areOfService(_ runtimeFolder: String?, user: UInt32) -> Bool {
        // Those of sysusers.d(5), those of DynamicUser= in systemd.exec(5), and the user "nobody".
        let isOfSystem = (1...999).contains(user) || (61_184...65_519).contains(user) || user == 65_534
        let folder = runtimeFolder ?? ""
        return isOfSystem || (folder.hasPrefix("/run/") && !folder.hasPrefix("/run/user/"))
    }
}

/// Who a program runs as.
package struct ProcessIdentity: Hashable, Sendable {
    var user: uid_t
    var group: gid_t
    var groups: [gid_t]
    var name: String
    var home: String

    /// The user of a name or number.
    ///
    /// - Throws: ``LaunchError`` when there is none, or this process may not become him.
    init(_ name: String) throws(LaunchError) {
        guard let identity = Self(named: name)
        else { throw LaunchError("there is no user '\(name.printable(limit: 60))'") }
        guard geteuid() == 0 || identity.user == geteuid()
        else { throw LaunchError("only root can run a program as another user ('\(name.printable(limit: 60))')") }
        self = identity
    }

    /// Whether this machine knows a user of a name.
    static func exists(_ name: String) -> Bool { Self(named: name) != nil }

    private init?(named name: String) {
        unsafe self.init(matching: { entry, room, size, found in
            unsafe getpwnam_r(name, entry, room, size, found)
        })
    }

    /// Who started this process; nil when he has no entry.
    init?(real user: uid_t) {
        unsafe self.init(matching: { entry, room, size, found in
            unsafe getpwuid_r(user, entry, room, size, found)
        })
    }

    private init?(
        matching find: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32
    ) {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 16_384)
        let values: (uid_t, gid_t, String, String)? = unsafe room.withUnsafeMutableBufferPointer { room in
            guard let base = room.baseAddress, unsafe find(&entry, base, room.count, &found) == 0, unsafe found != nil,
                let name = unsafe entry.pw_name,
                let home = unsafe entry.pw_dir
            else { return nil }
            return unsafe (entry.pw_uid, entry.pw_gid, String(cString: name), String(cString: home))
        }
        guard let values else { return nil }
        (self.user, self.group, self.name, self.home) = values
        var count: Int32 = 64
        var groups = [gid_t](repeating: 0, count: Int(count))
        let result = unsafe getgrouplist(self.name, self.group, &groups, &count)
        self.groups = result < 0 ? [self.group] : Array(groups.prefix(Int(count)))
    }
}
