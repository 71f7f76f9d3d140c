// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathSystem

extension ExecMonitor {
    /// Adds this backend to a registry, as `type: exec`.
    public static func register(in registry: inout BackendRegistry) {
        registry.register("exec", summary: "runs a program that says what it sees, one JSON object a line") { section in
            ExecMonitor(Options(section, isPrivileged: Privileges.areHeld))
        }
    }
}

extension ExecMonitor.Options {
    /// Reads the options of an entry of `backends`; what is wrong is recorded there with its place.
    init(_ section: ConfigurationSection, isPrivileged: Bool) {
        self.init(command: section.command(isPrivileged: isPrivileged))
        self.environment = Self.environment(of: section, isPrivileged: isPrivileged)
        self.user = section.user(isPrivileged: isPrivileged)
        self.scope = section.choice("scope", default: self.scope)
        self.host = section.string("host")
        if self.host?.isEmpty == true { section.reject("host", "must be what the other machine is called") }
        if self.host != nil, self.scope == .local {
            section.reject("host", "names another machine; add scope: remote")
        }
        self.helloDeadline = section.duration(
            "helloDeadline",
            default: self.helloDeadline,
            in: .milliseconds(100)...(.seconds(60))
        )
        self.heartbeat = section.duration("heartbeat", in: .seconds(1)...(.seconds(86_400)))
        self.referenceDestinations = section.referenceDestinations
    }

    private static func environment(of section: ConfigurationSection, isPrivileged: Bool) -> [String: String?] {
        var environment: [String: String?] = [:]
        for (index, entry) in section.strings("environment").enumerated() {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = parts.first, !name.isEmpty, !entry.utf8.contains(0) else {
                section.reject("environment", at: index, "must be NAME=value, or NAME to pass on what netpath has")
                continue
            }
            guard parts.count == 2 || !isPrivileged else {
                section.reject("environment", at: index, "must have a value: a privileged netpath passes nothing on")
                continue
            }
            environment.updateValue(parts.count == 2 ? parts[1] : nil, forKey: name)
        }
        return environment
    }

    /// How the program is started.
    ///
    /// - Throws: ``LaunchError`` when the command is missing, or not to be trusted.
    func launchPlan(isPrivileged: Bool = Privileges.trustOnlyRoot) throws(LaunchError) -> LaunchPlan {
        try LaunchPlan(
            self.command,
            environment: [Provenance.pluginVariable: "1"].merging(self.environment) { $1 },
            user: self.user,
            permissions: .plugin,
            isPrivileged: isPrivileged
        )
    }
}
