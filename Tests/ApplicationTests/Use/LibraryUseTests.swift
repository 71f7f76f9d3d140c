// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathNetlink
import NetPathTestKit
import Testing

/// The library as another package uses it: public declarations only, on this machine's own kernel.
@Suite struct LibraryUseTests {
    @Test func coordinatorFromCode() async throws {
        var options = NetlinkMonitor.Options()
        options.connectsForSource = false
        let coordinator = PathCoordinator(backends: [Backend("netlink", monitor: NetlinkMonitor(options))])
        coordinator.start()
        // Whatever this machine is connected to, the kernel says it.
        var iterator = coordinator.paths().makeAsyncIterator()
        let path = try #require(await iterator.next())
        #expect(path.sequence == 1)
        #expect(path.backends.map(\.health) == [.healthy])
        #expect(coordinator.path == path)
        #expect(coordinator.route(to: InternetAddress(ipv4: 0x7F00_0001)) != .unknown)
        coordinator.stop()
        #expect(await iterator.next() == nil)
    }

    @Test func coordinatorFromTheEmbeddedDefault() async throws {
        let source = ConfigurationSource(name: "default", text: LoadedConfiguration.defaultText)
        let configuration = try LoadedConfiguration.parse(source)
        #expect(configuration.backends.map(\.type) == ["netlink", "sysfs"])
        let coordinator = configuration.makeCoordinator()
        let (paths, continuation) = AsyncStream.makeStream(of: NetworkPath.self)
        let subscription = coordinator.subscribe { continuation.yield($0) }
        coordinator.start()
        var iterator = paths.makeAsyncIterator()
        #expect(await iterator.next()?.backends.first?.name == "netlink")
        subscription.cancel()
        coordinator.stop()
    }

    @Test func backendOfOnesOwnFromTheConfiguration() async throws {
        /// Says what its section tells it to say.
        struct Fixed: PathMonitor {
            let isOnline: Bool

            func run(_ context: MonitorContext) async throws {
                var evidence = Evidence(at: context.clock.now())
                let status = self.isOnline ? PathStatus.satisfied : .unsatisfied
                var conclusion = Conclusion(status, PathReason(.stated, "the configuration says so"))
                conclusion.families = [.ipv4]
                evidence.conclusion = conclusion
                context.report(evidence)
                for await _ in context.refreshRequests { context.report(evidence) }
            }
        }
        var registry = BackendRegistry.builtIn
        registry.register("fixed", summary: "says what it is told") { section in
            Fixed(isOnline: section.boolean("online", default: false))
        }
        let source = ConfigurationSource(name: "test.yaml", text: "backends: [{type: fixed, online: true}]")
        let coordinator = try LoadedConfiguration.parse(source, registry: registry).makeCoordinator()
        coordinator.start()
        var iterator = coordinator.paths(buffering: .unbounded).makeAsyncIterator()
        let path = try #require(await iterator.next())
        #expect(path.status == .satisfied)
        #expect(path.statedBy == "fixed" && path.backends[0].isStated && path.backends[0].host == nil)
        #expect(path.knowsFamilies && path.supportsIPv4 && path.portalURL == nil)

        let wrong = ConfigurationSource(
            name: "test.yaml",
            text: "backends:\n  - type: fixed\n    online: maybe\n    onlin: true\n"
        )
        let error = #expect(throws: ConfigurationError.self) {
            try LoadedConfiguration.parse(wrong, registry: registry)
        }
        #expect(error?.diagnostics.map(\.position?.line) == [3, 4])
        let first = try #require(error?.diagnostics.first)
        #expect(first.severity == .error)
        #expect(first.excerpt?.line == "    online: maybe")
        #expect(first.excerpt?.caretOffset == 12)
    }

    @Test func valuesOfOnesOwn() throws {
        let now = MonotonicTime(nanoseconds: 1)
        let why = PathReason(.routed, "eth0 carries the path")
        var interface = PathInterface(index: 2, name: "eth0", type: .wired, reason: why)
        interface.addresses = [try #require(AddressPrefix("192.0.2.7/24"))]
        var path = NetworkPath(.satisfied, PathReason(.routed, "IPv4 through eth0"), interfaces: [interface])
        path.supportsIPv4 = true
        path.backends = [BackendReport(name: "mine")]
        path.disagreements = [
            Disagreement(backend: "other", status: .unsatisfied, reason: PathReason(.noRoute, "no route"))
        ]
        var portal = path
        portal.internet = .portal
        #expect(PathChange(from: path, to: portal).differences == [.internet(.portal)])

        let snapshot = BackendSnapshot(
            report: path.backends[0],
            evidence: Evidence(at: now),
            verdict: Verdict(.satisfied, path.reason, interfaces: path.interfaces)
        )
        #expect(snapshot.verdict?.interfaces == path.interfaces)
        #expect(DestinationVerdict(isRouted: true, reason: path.reason).gateway == nil)
    }

    @Test func previewWithoutANetwork() async throws {
        let online = Evidence.online(.wired("eth0", 2).with("192.0.2.7/24"), gateway: "192.0.2.1")
        let scripted = ScriptedMonitor(online)
        let coordinator = PathCoordinator(backends: [Backend("scripted", monitor: scripted)])
        coordinator.start()
        var iterator = coordinator.paths(buffering: .unbounded).makeAsyncIterator()
        #expect(await iterator.next()?.status == .satisfied)
        scripted.report(Evidence.noLink)
        #expect(await iterator.next()?.status == .unsatisfied)
    }
}
