// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

extension TCPProbeMonitor {
    /// Adds this backend to a registry, as `type: tcpProbe`.
    public static func register(in registry: inout BackendRegistry) {
        registry.register("tcpProbe", summary: "connects to hosts of the internet that are named as targets") {
            section in
            TCPProbeMonitor(Options(section))
        }
    }
}

extension TCPProbeMonitor.Options {
    /// Reads the options of an entry of `backends`; what is wrong is recorded there with its place.
    init(_ section: ConfigurationSection) {
        self.init(targets: Self.targets(of: section))
        self.interval = section.duration("interval", default: self.interval, in: .seconds(1)...(.seconds(86_400)))
        self.timeout = section.duration("timeout", default: self.timeout, in: .milliseconds(100)...(.seconds(60)))
        let longest = Duration.seconds(10 * 86_400)
        self.meteredInterval = section.duration(
            "meteredInterval",
            default: self.interval * 10,
            in: .seconds(1)...longest
        )
        self.backoff = section.duration(
            "backoff",
            default: Self.usualBackoff(timeout: self.timeout),
            in: .seconds(1)...longest
        )
        // RFC 8305 section 5: at least 10 ms.
        self.stagger = section.duration("stagger", default: self.stagger, in: .milliseconds(10)...(.seconds(60)))
        self.validFor = section.duration(
            "validFor",
            default: self.interval * 3,
            in: .seconds(1)...(.seconds(7 * 86_400))
        )
        self.maxPerMinute = section.integer("maxPerMinute", default: self.maxPerMinute, in: 2...6000)
        self.interface = section.interfaceName("interface")
        self.mark = section.integer("mark", in: 0...Int(UInt32.max)).map { UInt32($0) }
        self.warnOfSmallBudget(in: section)
    }

    private static func targets(of section: ConfigurationSection) -> [ProbeTarget] {
        // netpath contacts no host unasked, so there is no default.
        guard section.contains("targets") else {
            section.reject("targets", "is missing; name whom to connect to, such as [\"example.net:443\"]")
            return []
        }
        if section.isEmptyList("targets") {
            section.reject("targets", "must name whom to connect to, such as [\"example.net:443\"]")
        }
        var targets: [ProbeTarget] = []
        for (index, text) in section.strings("targets").enumerated() {
            do {
                let target = try ProbeTarget(text)
                if targets.contains(target) { section.reject("targets", at: index, "is in the list already") }
                targets.append(target)
            } catch {
                section.reject("targets", at: index, "\(error)")
            }
        }
        return targets
    }
}
