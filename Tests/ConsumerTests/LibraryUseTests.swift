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
        let coordinator = PathCoordinator(backends: [Backend("netlink", monitor: NetlinkMonitor())])
        coordinator.start()
        // Whatever this machine is connected to, the kernel says it.
        var iterator = coordinator.latestPaths.makeAsyncIterator()
        let path = try #require(await iterator.next())
        #expect(path.sequence == 1)
        #expect(path.backends.map(\.health) == [.healthy])
        #expect(coordinator.path == path)
        #expect(coordinator.route(to: IPAddress(ipv4: 0x7F00_0001)) != .unknown)
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
                var observation = Observation(at: context.clock.now())
                observation.probes = ProbeRound(
                    outcomes: [ProbeOutcome(target: "fixed", result: self.isOnline ? .connected : .timedOut)],
                    isComplete: true
                )
                context.report(observation)
                for await _ in context.refreshRequests { context.report(observation) }
            }
        }
        var registry = BackendRegistry.builtIn
        registry.register("fixed", summary: "says what it is told") { section in
            Fixed(isOnline: section.boolean("online", default: false))
        }
        let source = ConfigurationSource(name: "test.yaml", text: "backends: [{type: fixed, online: true}]")
        let coordinator = try LoadedConfiguration.parse(source, registry: registry).makeCoordinator()
        coordinator.start()
        var iterator = coordinator.everyPath.makeAsyncIterator()
        #expect(await iterator.next()?.status == .satisfied)

        let wrong = ConfigurationSource(
            name: "test.yaml",
            text: "backends:\n  - type: fixed\n    online: maybe\n    onlin: true\n"
        )
        let error = #expect(throws: ConfigurationError.self) {
            try LoadedConfiguration.parse(wrong, registry: registry)
        }
        #expect(error?.diagnostics.map(\.position?.line) == [3, 4])
    }

    @Test func previewWithoutANetwork() async throws {
        let online = Observation.online(.wired("eth0", 2).with("192.0.2.7/24"), gateway: "192.0.2.1")
        let scripted = ScriptedMonitor(online)
        let coordinator = PathCoordinator(backends: [Backend("scripted", monitor: scripted)])
        coordinator.start()
        var iterator = coordinator.everyPath.makeAsyncIterator()
        #expect(await iterator.next()?.status == .satisfied)
        scripted.report(Observation.noLink)
        #expect(await iterator.next()?.status == .unsatisfied)
    }
}
