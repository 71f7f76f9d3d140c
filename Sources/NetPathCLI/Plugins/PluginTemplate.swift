// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What `netpath plugin new` writes.
enum PluginTemplate {
    /// The package netpath as a manifest names it.
    struct Dependency {
        /// The line of the manifest.
        var line: String
        /// What its products are found by.
        var identity: String
    }

    /// A package with a backend in Swift.
    static func swift(_ name: PluginName, dependency: Dependency) -> [NewFolder.File] {
        [
            NewFolder.File(path: "Package.swift", text: self.manifest(name, dependency)),
            NewFolder.File(path: "Sources/\(name.module)/\(name.module)Monitor.swift", text: self.monitor(name)),
            NewFolder.File(path: "Sources/\(name.module)/Registration.swift", text: self.registration(name)),
            NewFolder.File(path: "Sources/\(name.module)Command/main.swift", text: self.main(name)),
            NewFolder.File(path: "Tests/\(name.module)Tests/\(name.module)Tests.swift", text: self.tests(name)),
            NewFolder.File(path: "netpath.yaml", text: self.configuration(name)),
            NewFolder.File(path: "README.md", text: self.readme(name)),
            NewFolder.File(path: ".gitignore", text: ".build/\n"),
        ]
    }

    private static func manifest(_ name: PluginName, _ dependency: Dependency) -> String {
        """
        // swift-tools-version: 6.2

        import PackageDescription

        let netpath = "\(dependency.identity)"
        let package = Package(
            name: "\(name.text)",
            products: [
                .library(name: "\(name.module)", targets: ["\(name.module)"]),
                .executable(name: "\(name.text)", targets: ["\(name.module)Command"]),
            ],
            dependencies: [\(dependency.line)],
            targets: [
                // The backend.
                .target(
                    name: "\(name.module)",
                    dependencies: [
                        .product(name: "NetPath", package: netpath), .product(name: "NetPathPluginKit", package: netpath),
                    ]
                ),
                // netpath with the backend in it.
                .executableTarget(
                    name: "\(name.module)Command",
                    dependencies: ["\(name.module)", .product(name: "NetPathCLI", package: netpath)]
                ),
                .testTarget(
                    name: "\(name.module)Tests",
                    dependencies: [
                        "\(name.module)",
                        .product(name: "NetPath", package: netpath),
                        .product(name: "NetPathConfiguration", package: netpath),
                        .product(name: "NetPathTestKit", package: netpath),
                    ]
                ),
            ],
            swiftLanguageModes: [.v6]
        )

        """
    }

    private static func monitor(_ name: PluginName) -> String {
        """
        import Glibc
        public import NetPath
        import NetPathPluginKit

        /// States that there is a path while a file exists: the place of what you want to watch.
        public struct \(name.module)Monitor: PathMonitor {
            /// What can be set in the configuration.
            public struct Options: Hashable, Sendable {
                /// The file that is there while there is a path.
                public var path: String
                /// How often to look besides: a change of the file is seen at once.
                public var interval: Duration = .seconds(1)

                /// Creates options; everything but the path has a default.
                public init(path: String) {
                    self.path = path
                }
            }

            private let options: Options

            /// Creates a backend; nothing happens before it is run.
            public init(_ options: Options) {
                self.options = options
            }

            /// Looks at once, after every interval, when the file changes, and whenever it is asked to.
            public func run(_ context: MonitorContext) async throws {
                try await context.poll(every: self.options.interval, watching: [self.options.path]) {
                    try self.look(at: context.clock.now())
                }
            }

            private func look(at time: MonotonicTime) throws -> Evidence {
                let isThere = access(self.options.path, F_OK) == 0
                // Only a missing file means no: a process that may not look does not know.
                guard isThere || errno == ENOENT else {
                    throw SourceUnavailable("cannot look for \\(self.options.path): \\(String(cString: strerror(errno)))")
                }
                var evidence = Evidence(at: time)
                evidence.conclusion = Conclusion(
                    isThere ? .satisfied : .unsatisfied,
                    PathReason(.stated, isThere ? "\\(self.options.path) is there" : "\\(self.options.path) is missing")
                )
                return evidence
            }
        }

        """
    }

    private static func registration(_ name: PluginName) -> String {
        """
        public import NetPath

        extension \(name.module)Monitor {
            /// Adds the type `\(name.type)` to those that a configuration can name.
            public static func register(in registry: inout BackendRegistry) {
                registry.register("\(name.type)", summary: "a file that says whether there is a path") { section in
                    // What is wrong is told with its line and column; so are unknown keys.
                    var options = Options(path: section.requiredString("path"))
                    options.interval = section.duration(
                        "interval",
                        default: options.interval,
                        in: .milliseconds(100) ... .seconds(3_600)
                    )
                    return \(name.module)Monitor(options)
                }
            }
        }

        """
    }

    private static func main(_ name: PluginName) -> String {
        """
        import \(name.module)
        import NetPathCLI

        NetPathTool.main(name: "\(name.text)") { \(name.module)Monitor.register(in: &$0) }

        """
    }

    private static func tests(_ name: PluginName) -> String {
        """
        import Foundation
        import \(name.module)
        import NetPath
        import NetPathConfiguration
        import NetPathTestKit
        import Testing

        struct \(name.module)Tests {
            private let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

            /// Everything that a backend promises.
            @Test func conforms() async {
                let path = self.path
                let suite = BackendConformance(
                    "\(name.type)",
                    // A path that leads through a file: nothing can be seen there.
                    withoutSource: { \(name.module)Monitor(.init(path: "/dev/null/nothing")) },
                    make: { \(name.module)Monitor(.init(path: path)) }
                )
                let report = await suite.check()
                #expect(report.isConforming, "\\(report)")
            }

            @Test func followsTheFile() async throws {
                var options = \(name.module)Monitor.Options(path: self.path)
                options.interval = .milliseconds(100)
                let run = BackendRun(\(name.module)Monitor(options))
                try await run.waitForEvidence { $0.conclusion?.status == .unsatisfied }
                try Data().write(to: URL(filePath: self.path))
                defer { try? FileManager.default.removeItem(atPath: self.path) }
                try await run.waitForEvidence { $0.conclusion?.status == .satisfied }
                try await run.stop()
            }

            @Test func isConfigured() throws {
                var registry = BackendRegistry.builtIn
                \(name.module)Monitor.register(in: &registry)
                let good = ConfigurationSource(name: "good", text: "backends: [{type: \(name.type), path: /run/up, interval: 5s}]")
                #expect(try LoadedConfiguration.parse(good, registry: registry).backends.count == 1)
                let bad = ConfigurationSource(name: "bad", text: "backends: [{type: \(name.type), interval: 1h1h}]")
                #expect(throws: ConfigurationError.self) { try LoadedConfiguration.parse(bad, registry: registry) }
            }
        }

        """
    }

    private static func configuration(_ name: PluginName) -> String {
        """
        # .build/debug/\(name.text) watch --config netpath.yaml
        backends:
          - type: \(name.type)
            path: /tmp/uplink-is-up
            interval: 500ms
          - type: netlink

        """
    }

    private static func readme(_ name: PluginName) -> String {
        """
        # \(name.text)

        A backend of netpath: it says that there is a path while a file exists. Put what you want to
        watch in its place.

            swift test                                              # everything that a backend promises
            swift build
            .build/debug/\(name.text) watch --config netpath.yaml     # netpath with the backend in it

        | option | is | default |
        |---|---|---|
        | `path` | the file that is there while there is a path | required |
        | `interval` | how often to look | 1s |

        `Sources/\(name.module)/\(name.module)Monitor.swift` is the backend, `Registration.swift` beside it its options, and
        the tests run netpath's conformance suite over it. Where netpath's own scenarios are of use,
        `BackendComparison` of the test kit plays them for it.

        """
    }
}
