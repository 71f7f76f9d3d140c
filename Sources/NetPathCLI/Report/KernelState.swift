// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathRecording
import NetPathSystem

/// What the kernel and the files say that netpath reads.
struct KernelState {
    /// The folders of the real system, or of a test's.
    var root = ""
    /// Runs a program; nil when it is not installed.
    var run: (_ name: String, _ arguments: [String]) -> ProgramOutput? = ProgramOutput.init

    // MARK: Links, addresses, routes and rules

    /// What `ip` of iproute2 is asked.
    private static let questions: [(name: String, arguments: [String])] = [
        ("links and addresses", ["-details", "-json", "address", "show"]),
        ("routes of IPv4", ["-details", "-json", "-4", "route", "show", "table", "all"]),
        ("routes of IPv6", ["-details", "-json", "-6", "route", "show", "table", "all"]),
        ("rules of IPv4", ["-json", "-4", "rule", "show"]),
        ("rules of IPv6", ["-json", "-6", "rule", "show"]),
        ("neighbours", ["-json", "neighbour", "show"]),
    ]

    /// Links, addresses, routes and rules: from `ip`, or from procfs where that is not installed.
    func network(_ masking: inout Masking?) -> String {
        var text = ""
        for (name, arguments) in Self.questions {
            guard let output = self.run("ip", arguments) else { return self.procfs(&masking) }
            text += "# \(name): ip \(arguments.joined(separator: " "))\n" + Self.lines(of: output, &masking)
        }
        return text
    }

    /// The elements of a list of JSON, each on a line.
    private static func lines(of output: ProgramOutput, _ masking: inout Masking?) -> String {
        let failure = output.failure.map { "(\(masking?.mask($0) ?? $0))\n" } ?? ""
        guard !output.bytes.isEmpty else { return failure }
        guard case .array(let elements)? = try? JSONReader.read(output.bytes[...], valueLimit: .max) else {
            return failure + "(no list of JSON, \(output.bytes.count) bytes: left out)\n"
        }
        return failure + elements.map { (masking?.mask($0) ?? $0).line + "\n" }.joined()
    }

    /// The columns of files of procfs that hold addresses of IPv4 in hexadecimal; those of IPv6 are known by their length.
    private static let tables: [(file: String, addresses: Set<Int>)] = [
        ("dev", []), ("if_inet6", []), ("fib_trie", []), ("route", [1, 2, 7]), ("ipv6_route", []),
    ]

    private func procfs(_ masking: inout Masking?) -> String {
        var text = "# 'ip' of iproute2 is not installed: from /proc/net\n"
        for (file, columns) in Self.tables {
            guard let contents = FileAccess.contents("\(self.root)/proc/thread-self/net/\(file)", limit: 1 << 20) else {
                continue
            }
            let readable = HexadecimalAddresses.readable(contents, columns: columns)
            text += "# /proc/net/\(file)\n" + (masking?.mask(readable) ?? readable)
            if !text.hasSuffix("\n") { text += "\n" }
        }
        return text
    }

    // MARK: Files

    /// The file of the resolver; what it searches are names of domains, however short.
    func resolver(_ masking: inout Masking?) -> String {
        let path = "/etc/resolv.conf"
        let target = FileAccess.linkTarget(self.root + path).map { " -> \($0)" } ?? ""
        guard let text = FileAccess.contents(self.root + path) else { return "\(path)\(target): cannot be read\n" }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard var current = masking else { return String(line) }
            defer { masking = current }
            // Comments are by people, and name people and networks. glibc takes both signs for the beginning of one.
            let words = line.prefix { $0 != "#" && $0 != ";" }.split { $0 == " " || $0 == "\t" }
            guard let first = words.first else { return line.isEmpty ? "" : "# (a comment)" }
            switch first {
            case "search", "domain": break
            case "nameserver", "sortlist": return current.mask(words.joined(separator: " "))
            case "options":
                let known = words.dropFirst().filter { Self.resolverOptions.contains(String($0.prefix { $0 != ":" })) }
                return (["options"] + known.map { current.mask(String($0)) }).joined(separator: " ")
            default: return "# (a line that resolvers pass over)"
            }
            var masked: [String] = [String(first)]
            for word in words.dropFirst() { masked.append(word == "." ? "." : current.mask(String(word), as: .host)) }
            return masked.joined(separator: " ")
        }
        return "# \(path)\(target)\n" + lines.joined(separator: "\n")
    }

    /// The options of resolv.conf(5): others are passed over by resolvers, and may be anything.
    private static let resolverOptions: Set<String> = [
        "attempts", "debug", "edns0", "inet6", "ndots", "no-aaaa", "no-check-names", "no-reload", "no-tld-query",
        "rotate",
        "single-request", "single-request-reopen", "timeout", "trust-ad", "use-vc",
    ]

    /// What switches radios off.
    var radios: String {
        let folder = self.root + "/sys/class/rfkill"
        let switches = FileAccess.names(in: folder).map { name in
            let values = ["name", "type", "soft", "hard"].map { "\($0)=\(self.value("\(folder)/\(name)/\($0)"))" }
            return "\(name): " + values.joined(separator: " ")
        }
        return switches.isEmpty ? "none" : switches.joined(separator: "\n")
    }

    private static let settings = [
        "ipv4/ip_forward", "ipv4/fib_multipath_use_neigh", "ipv4/conf/*/forwarding", "ipv4/conf/*/rp_filter",
        "ipv4/conf/*/ignore_routes_with_linkdown", "ipv4/conf/*/arp_ignore", "ipv6/conf/*/disable_ipv6",
        "ipv6/conf/*/forwarding", "ipv6/conf/*/accept_ra", "ipv6/conf/*/autoconf", "ipv6/conf/*/use_tempaddr",
        "ipv6/conf/*/ignore_routes_with_linkdown", "ipv6/conf/*/router_solicitations",
    ]

    /// The settings of the kernel that decide about paths.
    var settings: String {
        let root = self.root + "/proc/sys/net/"
        var lines: [String] = []
        for setting in Self.settings {
            let parts = setting.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                lines.append("\(setting) = \(self.value(root + setting))")
                continue
            }
            let values = FileAccess.names(in: root + parts[0]).map {
                "\($0)=\(self.value("\(root)\(parts[0])\($0)\(parts[1])"))"
            }
            lines.append("\(setting): " + values.joined(separator: " "))
        }
        return lines.joined(separator: "\n")
    }

    /// The kernel and the distribution.
    var system: String {
        let release = FileAccess.contents(self.root + "/etc/os-release") ?? ""
        let name = release.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
        let kernel = ["ostype", "osrelease", "arch"].map { self.value(self.root + "/proc/sys/kernel/\($0)") }
        return kernel.joined(separator: " ") + "\n"
            + (name.map { $0.dropFirst(12).filter { $0 != "\"" } } ?? "unknown distribution")
    }

    private func value(_ path: String) -> String {
        let line = FileAccess.contents(path, limit: 4_096)?.split(separator: "\n").first
        return line.map(String.init) ?? "?"
    }
}
