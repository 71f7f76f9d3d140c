// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import Synchronization

/// A private network of its own, for tests: network, mount and user namespaces with their own `/sys`.
///
/// Nothing in it touches the machine's network, and it ends with this object, with everything that was started in it.
/// Root is not needed where user namespaces are allowed, see ``isAvailable``.
///
/// ```swift
/// let lab = try NetworkNamespace()
/// let uplink = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
/// let monitor = try lab.start("/usr/bin/netpath", ["watch", "--json"])
/// try monitor.next { $0["status"] == "satisfied" }
/// try uplink.setDown()
/// try monitor.next { $0["status"] == "unsatisfied" }
/// ```
///
/// All calls block the calling thread, may come from any thread and are carried out one after the other.
public final class NetworkNamespace: Sendable {
    private let shell: NamespaceShell
    private let counter = Mutex(0)
    private let farSideIsMade = Mutex(false)

    /// A directory of the machine, visible inside as well, for files of this namespace; removed at the end.
    public let directory: String

    /// The process identifier of the shell that keeps the namespaces alive.
    ///
    /// For `nsenter --target`, and for `/proc/PID/ns`.
    public var processIdentifier: Int32 { shell.processIdentifier }

    /// Makes a network namespace that contains only the loopback interface.
    ///
    /// New interfaces get no IPv6 link-local address by themselves, because its duplicate address detection would
    /// cause events seconds later; `ip link set NAME addrgenmode eui64` before `up` gives them one.
    ///
    /// - Parameters:
    ///   - loopbackUp: Whether `lo` is up, as on every running machine.
    ///   - resolverConfiguration: The content of `/etc/resolv.conf` inside; with nil the machine's own file is seen.
    ///     A private file can be rewritten, replaced or turned into a symbolic link by ``run(_:timeout:)``.
    /// - Throws: ``LabError/unavailable(reason:)`` where this machine does not allow it.
    public convenience init(loopbackUp: Bool = true, resolverConfiguration: String? = nil) throws {
        // In a user namespace tests behave the same for root and for everybody else; only a container that gives us
        // root but refuses user namespaces needs the second way.
        do {
            try self.init(unshareArguments: ["--user", "--map-root-user", "--net", "--mount"])
        } catch  where geteuid() == 0 {
            try self.init(unshareArguments: ["--net", "--mount"])
        }
        if loopbackUp { try run("ip link set lo up") }
        if let resolverConfiguration { try makePrivateEtc(resolverConfiguration: resolverConfiguration) }
    }

    private init(unshareArguments: [String]) throws {
        do {
            directory = try LabSystem.makeTemporaryDirectory(in: FileManager.default.temporaryDirectory.path)
            shell = try NamespaceShell(unshareArguments: unshareArguments)
            // When the test runner crashes the shell reads the end of its input, and takes everything started in it
            // along (its process group, which must not be the test runner's). Then a sysfs of this namespace: the
            // machine's would go on showing the machine's interfaces; some containers allow it read-only. Last, new
            // interfaces get no IPv6 link-local address.
            _ = try shell.run(
                """
                read -r pid name state parent group rest </proc/$$/stat
                [ "$group" = $$ ] && trap 'kill -KILL 0' EXIT
                mount -t sysfs sysfs /sys 2>/dev/null || mount -t sysfs -o ro sysfs /sys && ip link show lo || exit 1
                { echo 1 >/proc/sys/net/ipv6/conf/default/addr_gen_mode; } 2>/dev/null || true
                """,
                timeout: .seconds(60)
            )
        } catch LabError.namespaceEnded(_, let standardError) {
            throw LabError.unavailable(reason: standardError.isEmpty ? "unshare ended at once" : standardError)
        } catch LabError.commandFailed(_, _, let standardError) {
            throw LabError.unavailable(reason: standardError)
        } catch let error as CocoaError {
            throw LabError.unavailable(reason: error.localizedDescription)
        }
    }

    deinit {
        close()
    }

    /// Ends the namespace and every process that was started in it; also done when the object goes away.
    public func close() {
        shell.end()
        // What is mounted below, inside, is the machine's own; where that is seen from here, nothing in it is removed.
        let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        if mounts?.contains(directory) == false { TemporaryDirectory.removeTree(at: directory) }
    }

    /// Runs a shell command inside and returns its standard output.
    ///
    /// The command's variables and working directory stay for the next one, `exit` ends the namespace, and a command
    /// put into the background with `&` should redirect its output.
    ///
    /// - Parameters:
    ///   - command: A command in the language of `sh`.
    ///   - timeout: The time after which the command counts as wedged; the namespace is destroyed then.
    /// - Returns: The command's standard output.
    /// - Throws: ``LabError`` when the status is not zero (with the command's standard error), or on timeout.
    @discardableResult
    public func run(_ command: String, timeout: Duration = .seconds(60)) throws -> String {
        try shell.run(command, timeout: timeout)
    }

    /// Runs `ip` with the arguments, one text as in a shell.
    ///
    /// - Parameter arguments: The arguments, for example `link set wan0 down`.
    /// - Returns: The command's standard output.
    /// - Throws: ``LabError`` when `ip` fails.
    @discardableResult
    public func ip(_ arguments: String) throws -> String {
        try run("ip \(arguments)")
    }

    /// Runs many `ip` commands in one process: tens of thousands of routes per second.
    ///
    /// - Parameters:
    ///   - lines: Commands without the word `ip`, for example `route add 10.0.0.1/32 dev wan0`.
    ///   - timeout: The time for all of them.
    /// - Throws: ``LabError/commandFailed(command:status:standardError:)`` when a command failed; those before it
    ///   have taken effect, `ip`'s message names the line.
    package func ipBatch(_ lines: some Sequence<String>, timeout: Duration = .seconds(120)) throws {
        let path = uniquePath("batch")
        try Data(lines.joined(separator: "\n").appending("\n").utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try run("ip -batch \(shellQuoted(path))", timeout: timeout)
    }

    /// Writes a kernel parameter of this namespace.
    ///
    /// - Parameters:
    ///   - name: The name below `/proc/sys`, with slashes, for example `net/ipv4/nexthop_compat_mode`.
    ///   - value: The new value.
    /// - Throws: ``LabError`` when the kernel refuses it.
    package func setParameter(_ name: String, to value: Int) throws {
        // Slashes, not the dots of sysctl: interface names may contain dots.
        try run("echo \(value) >\(shellQuoted("/proc/sys/\(name)"))")
    }

    /// Returns a path in ``directory`` that was not used before.
    func uniquePath(_ purpose: String) -> String { "\(directory)/\(purpose)-\(nextNumber())" }

    /// Returns 1, 2, 3, ...
    func nextNumber() -> Int {
        counter.withLock { counter in
            counter += 1
            return counter
        }
    }

    /// The file that stands for the second namespace, where the other ends of the uplinks live; made when first used.
    package func farSidePath() throws -> String {
        let path = "\(directory)/far-side"
        try farSideIsMade.withLock { isMade in
            guard !isMade else { return }
            try run("touch \(shellQuoted(path)) && unshare --net=\(shellQuoted(path)) ip link set lo up")
            isMade = true
        }
        return path
    }

    /// Replaces `/etc`, inside, by a directory of links to the same files, with its own `resolv.conf`.
    ///
    /// A file mounted over `/etc/resolv.conf` alone could be rewritten but not replaced by a rename or a link.
    private func makePrivateEtc(resolverConfiguration: String) throws {
        let root = shellQuoted("\(directory)/etc")
        try run(
            """
            mkdir \(root) && mount -t tmpfs tmpfs \(root) && mkdir \(root)/original \(root)/new &&
            mount --rbind /etc \(root)/original && ln -s \(root)/original/* \(root)/new &&
            find \(root)/original -maxdepth 1 -type l -exec cp -P --remove-destination '{}' \(root)/new ';' &&
            rm -f \(root)/new/resolv.conf &&
            printf %s \(shellQuoted(resolverConfiguration)) >\(root)/new/resolv.conf &&
            mount --bind \(root)/new /etc
            """
        )
    }
}
