// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// A coordinator from a configuration file, which is followed: a service with netpath inside.
//
// The file is the argument, or what the program `netpath` would read.

import Foundation
import NetPath
import NetPathConfiguration

/// The configuration in force, on the queue that alone touches it.
private final class Service {
    private let path: String?
    private var configuration: LoadedConfiguration
    private let coordinator: PathCoordinator
    private let watcher: ConfigurationWatcher?
    private var source: (any DispatchSourceRead)?

    init(path: String?) throws {
        self.path = path
        self.configuration = try Self.load(path)
        self.coordinator = self.configuration.makeCoordinator()
        self.watcher = self.configuration.path.flatMap(ConfigurationWatcher.init)
    }

    private static func load(_ path: String?) throws(ConfigurationError) -> LoadedConfiguration {
        try LoadedConfiguration.load(path: path, environment: ProcessInfo.processInfo.environment)
    }

    func start() {
        self.coordinator.subscribe { path in print("\(path.status): \(path.reason.message)") }
        self.coordinator.start()
        guard let watcher else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: watcher.fileDescriptor, queue: .main)
        source.setEventHandler { [unowned self] in
            if watcher.takeChanges() { self.reload() }
        }
        source.resume()
        self.source = source
    }

    private func reload() {
        do throws(ConfigurationError) {
            let new = try Self.load(self.path)
            let reload = ConfigurationReload(from: self.configuration, to: new)
            self.configuration = new
            reload.apply(to: self.coordinator)
            print("reloaded: \(reload)")
        } catch {
            print("the old configuration stays in force: \(error)")
        }
    }
}

func runConfigured(_ path: String?) -> Never {
    do {
        let service = try Service(path: path)
        service.start()
        withExtendedLifetime(service) { dispatchMain() }
    } catch {
        print(error)
        exit(78)
    }
}
