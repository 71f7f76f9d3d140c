// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
public import NetPathHTTP

extension HTTPProbeMonitor {
    /// The name used as `type:` in the configuration.
    public static let type = "httpProbe"
    private static let summary = "fetches pages over HTTP, and detects captive portals"

    /// Adds this backend to a registry, as `type: httpProbe`.
    ///
    /// - Parameters:
    ///   - registry: The registry.
    ///   - transport: Makes what sends the requests, such as a `CurlTransport`, for every monitor.
    public static func register(
        in registry: inout BackendRegistry,
        transport: @escaping @Sendable () -> any HTTPTransport
    ) {
        registry.register(Self.type, summary: Self.summary) { section in
            HTTPProbeMonitor(Options(section), transport: transport())
        }
    }

    /// Adds this backend to the registry of a program that cannot send requests: its options are checked, and another
    /// program has to run it.
    ///
    /// - Parameters:
    ///   - registry: The registry.
    ///   - program: The name of that program.
    public static func register(in registry: inout BackendRegistry, runBy program: String) {
        registry.register(Self.type, summary: Self.summary, program: program) { section in
            _ = Options(section)
            return ElsewhereMonitor(program: program)
        }
    }
}

/// Stands for a backend that this program cannot run.
private struct ElsewhereMonitor: PathMonitor {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let program: String
    var reachesOut: Bool { true }

    func run(_ context: MonitorContext) async throws {
        throw Failure(description: "only the program \(self.program) can run it; restart this program to switch to it")
    }
}

extension HTTPProbeMonitor.Options {
    /// Reads the options of an entry of `backends`; what is wrong is recorded there with its place.
    init(_ section: ConfigurationSection) {
        section.require("checks")
        let sections = section.sections("checks")
        self.init(checks: sections.compactMap(HTTPCheck.init))
        if section.contains("checks"), sections.isEmpty {
            section.reject("checks", "must name what to ask for, such as [{url: \"http://example.net/generate_204\"}]")
        }
        self.portalAPI = section.string("portalAPI")
        if let api = self.portalAPI, WebAddress(api) == nil || !api.lowercased().hasPrefix("https://") {
            section.reject("portalAPI", "must be a whole URL of https (RFC 8908)")
        }
        self.interval = section.duration("interval", default: self.interval, in: .seconds(1)...(.seconds(86_400)))
        self.timeout = section.duration("timeout", default: self.timeout, in: .milliseconds(100)...(.seconds(60)))
        self.maxRoundsPerMinute = section.integer(
            "maxRoundsPerMinute",
            default: self.maxRoundsPerMinute,
            in: 1...600
        )
        let longest = Duration.seconds(10 * 86_400)
        self.meteredInterval = section.duration(
            "meteredInterval",
            default: self.interval * 10,
            in: .seconds(1)...longest
        )
        self.backoff = section.duration("backoff", default: self.backoff, in: .seconds(1)...longest)
        self.warnOfSmallLimit(in: section)
        self.interface = section.interfaceName("interface")
    }

    /// Says so where the limit of rounds is too small for the interval, and what to write instead.
    private func warnOfSmallLimit(in section: ConfigurationSection) {
        let least = HTTPProbeSchedule.leastInterval(roundsPerMinute: self.maxRoundsPerMinute)
        guard self.interval < least else { return }
        let enough = (1...600).first { HTTPProbeSchedule.leastInterval(roundsPerMinute: $0) <= self.interval }
        let culprit = section.contains("maxRoundsPerMinute") ? "maxRoundsPerMinute" : "interval"
        let limit = "maxRoundsPerMinute (\(self.maxRoundsPerMinute))"
        let fault = culprit == "interval" ? "is too short for \(limit)" : "is too small"
        let remedy = enough.map { "maxRoundsPerMinute: \($0) or more, or " } ?? ""
        section.warn(
            culprit,
            "\(fault), of which some are kept for changes of the network: rounds begin every "
                + "\(DurationText.format(least)); write \(remedy)interval: \(DurationText.format(least)) or more"
        )
    }
}

extension HTTPCheck {
    /// Reads an entry of `checks`.
    init?(_ section: ConfigurationSection) {
        let name = section.choice("preset", among: HTTPCheckPreset.all.map(\.name))
        let preset = HTTPCheckPreset.all.first { $0.name == name }?.check
        let url = section.contains("preset") ? section.string("url") : section.requiredString("url")
        if section.contains("preset"), section.contains("url") {
            section.reject("url", "is that of the preset; leave one of them out")
        }
        if let url, !url.isEmpty, WebAddress(url) == nil {
            section.reject("url", "must be a whole URL such as http://example.net/generate_204")
        }
        let status = section.integer("status", in: 200...299)
        let body = section.string("body")
        let header = section.section("header").map { header in
            Header(name: header.requiredString("name"), value: header.string("value", default: ""))
        }
        guard let url = preset?.url ?? url else { return nil }
        self.init(
            url: url,
            // Where a body is told of, there is one.
            status: status ?? preset?.status ?? (body == nil && header == nil ? 204 : 200),
            body: body ?? preset?.body,
            header: header ?? preset?.header
        )
    }
}
