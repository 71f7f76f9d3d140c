// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Logging
import NetPath
import NetPathStandard
import ServiceLifecycle

/// A coordinator as a service.
struct NetworkService: Service {
    let coordinator: PathCoordinator

    func run() async throws { try await cancelWhenGracefulShutdown(self.coordinator.run) }
}

/// Shuts everything down when there was a path.
struct OnePathService: Service {
    let coordinator: PathCoordinator
    let shutDown: @Sendable () async -> Void

    func run() async throws {
        for await path in self.coordinator.paths().cancelOnGracefulShutdown() {
            print("path:", path.status)
            await self.shutDown()
        }
    }
}

let coordinator = PathCoordinator.standard()
let (requests, continuation) = AsyncStream.makeStream(of: Void.self)
let group = ServiceGroup(
    services: [
        NetworkService(coordinator: coordinator),
        OnePathService(coordinator: coordinator) { continuation.yield() },
    ],
    logger: Logger(label: "App")
)
async let shutDown: Void = {
    for await _ in requests { return await group.triggerGracefulShutdown() }
}()
try await group.run()
await shutDown
print("stopped:", await coordinator.paths().first { _ in true } == nil)
