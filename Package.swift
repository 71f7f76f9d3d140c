// swift-tools-version: 6.2

import PackageDescription

/// Targets, and what each needs: targets of this package, and products of others.
typealias Targets = KeyValuePairs<String, String>

// MARK: Libraries, from the bottom up

/// Libraries of C: a module map and a shim header each.
let systemLibraries: [Target] = [
    .systemLibrary(
        name: "CNetlink",
        pkgConfig: "libnl-route-3.0",
        providers: [.apt(["libnl-3-dev", "libnl-route-3-dev"])]
    ),
    // Their headers are where every compiler looks. SwiftPM asks pkg-config for all packages it reads about, used or not,
    // and warns of those that are missing.
    .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
]

/// What a path is, and how evidence becomes one.
let core: Targets = [
    // Values, evaluation, merging, the coordinator and the protocol of backends: no C, no Foundation, no backend.
    "NetPath": "",
    // Why evidence leads to a verdict, and what to do about it: text for people, which the coordinator does without.
    "NetPathExplanation": "NetPath",
    // What several modules need of the system: descriptors, names, threads and timers; and programs that others wrote:
    // looked at, started with few rights, and ended with all that they started.
    "NetPathSystem": "CNetPath NetPath",
    // What authors of backends need: polling, and threads for what blocks.
    "NetPathPluginKit": "NetPath NetPathSystem",
]

/// Where evidence comes from; they do not know one another.
let backends: Targets = [
    "NetPathNetlink": "CNetlink NetPath NetPathSystem",
    "NetPathSysfs": "NetPath NetPathPluginKit NetPathSystem",
    "NetPathTCPProbe": "NetPath NetPathSystem",
    "NetPathExec": "NetPath NetPathSystem",
    // Sends nothing by itself: the program that runs it brings a transport.
    "NetPathHTTPProbe": "NetPath NetPathHTTP NetPathPluginKit",
]

/// What puts backends together.
let coordinators: Targets = [
    // From a configuration file, and the registry of the backends that a file can name.
    "NetPathConfiguration": "CYAML NetPath NetPathExec NetPathHTTPProbe NetPathNetlink NetPathSysfs "
        + "NetPathSystem NetPathTCPProbe",
    // From code: the one coordinator that everything in a process shares which watches the network.
    "NetPathStandard": "NetPath NetPathNetlink NetPathSysfs NetPathSystem",
    // What happened to one, on disk and run once more.
    "NetPathRecording": "NetPath NetPathSystem",
]

/// What applications import.
let applications: Targets = [
    // One object that says whether there is a connection; without Foundation.
    "Connectivity": "NetPath NetPathStandard OpenCombine",
    // The same as notifications, which bring Foundation with them.
    "ConnectivityNotifications": "Connectivity",
    // Whether a host can be reached.
    "Reachability": "NetPath NetPathStandard NetPathSystem",
    // Apple's NWPathMonitor.
    "LinuxNetworkPath": "NetPath NetPathStandard",
    // The same under Apple's name, and under one for those who rename modules with a compiler flag: see the README.
    "Network": "LinuxNetworkPath",
    "NetPathNetwork": "LinuxNetworkPath",
    // What a transport of HTTP promises. Apart from the one on libcurl, so that test doubles need no libcurl.
    "NetPathHTTP": "",
    "NetPathCurl": "CCurl NetPathHTTP NetPathSystem",
    // Requests that are kept on disk and go out when there is a path.
    "OfflineRequests": "Connectivity GRDB GRDBSQLite NetPath NetPathCurl NetPathHTTP NetPathStandard NetPathSystem "
        + "Reachability",
]

/// What programs are made of.
let tools: Targets = [
    // The command line, as a library.
    "NetPathCLI": "ArgumentParser CNetPath NetPath NetPathConfiguration NetPathExplanation "
        + "NetPathRecording NetPathSystem Reachability",
    // A status page, an offline banner and metrics over HTTP; knows neither coordinators nor configurations.
    "NetPathServe": "NIOCore NIOHTTP1 NIOPosix NetPathSystem",
    // For tests: doubles of what is outside, and networks in namespaces.
    "NetPathTestKit": "NetPath NetPathHTTP NetPathRecording NetPathSystem",
]

// MARK: Programs and tests

/// The programs: `netpath`, which links neither SQLite nor libcurl nor a web server nor Foundation, and apart from it those
/// that do: `netpath-http`, which is the same with backends that send requests, `netpath-queue`, `netpath-plugin` and
/// `netpath-serve`.
let programs: Targets = [
    // A folder netpath beside NetPath would collide on case-insensitive disks.
    "NetPathCommand": "NetPathCLI",
    "HTTPCommand": "NetPathCLI NetPathCurl NetPathHTTPProbe",
    // Apart too: what checks backends is what tests have, Foundation included.
    "PluginCommand": "ArgumentParser NetPath NetPathCLI NetPathConfiguration NetPathExec NetPathSystem "
        + "NetPathTestKit",
    "QueueCommand": "ArgumentParser Connectivity NetPath NetPathCLI NetPathCurl NetPathHTTP NetPathHTTPProbe "
        + "NetPathSystem OfflineRequests",
    "ServeCommand": "ArgumentParser NetPathCLI NetPathConfiguration NetPathServe NetPathSystem",
]

/// Programs that tests run, kill, and count the memory and the wake-ups of.
let support: Targets = [
    // What stands at the other end of a network of the tests: a server of HTTP that fails on request, tunnels, hosts. At the
    // near end, netpath with backends that can be broken from outside.
    "LabPeers": "NetPath NetPathCLI NetPathSystem",
    // The monitors of applications, and the sysfs backend.
    "MonitorScenarios": "Connectivity NetPath NetPathNetlink NetPathStandard NetPathSysfs Network Reachability",
    // The queue, and its transport.
    "OfflineScenarios": "Connectivity NetPath NetPathCurl NetPathHTTP NetPathTestKit OfflineRequests",
]

/// Ways to use the libraries, small enough to read, and run by the tests.
let examples: Targets = [
    "Examples": "Connectivity ConnectivityNotifications NetPath NetPathConfiguration NetPathCurl NetPathHTTP "
        + "NetPathNetlink OfflineRequests Reachability"
]

/// The suites; the programs that they run are built with them, and linked into none.
let suites: Targets = [
    // Without a kernel, in seconds.
    "NetPathTests": "NetPathConfiguration NetPathExplanation NetPathRecording NetPathSystem",
    "BackendTests": "NetPathExec NetPathNetlink NetPathPluginKit NetPathSysfs NetPathSystem "
        + "NetPathTCPProbe",
    // The command line; the status page, its events and metrics, without sockets and on sockets of its own.
    "NetPathCLITests":
        "NetPathCLI NetPathConfiguration NetPathExplanation NetPathRecording NetPathServe "
        + "NetPathSystem Reachability",
    // What applications import, and the programs and the commands that the documentation shows.
    "ApplicationTests": "Connectivity ConnectivityNotifications LinuxNetworkPath NetPathCLI NetPathConfiguration "
        + "NetPathCurl NetPathHTTP NetPathNetlink NetPathStandard NetPathSystem OfflineRequests Reachability",
    // Against a real kernel, in network namespaces: netpath, the examples, and networks from tables and at random.
    "KernelTests": "",
    // Requests: the transport and the queue, and their delivery over a network that is cut, from programs that are killed.
    "RequestTests":
        "Connectivity GRDB GRDBSQLite NetPathCurl NetPathHTTP NetPathHTTPProbe NetPathSystem OfflineRequests",
    "DeliveryTests": "GRDB",
]

// MARK: The package

let executables: KeyValuePairs = [
    "netpath": "NetPathCommand", "netpath-http": "HTTPCommand", "netpath-queue": "QueueCommand",
    "netpath-plugin": "PluginCommand", "netpath-serve": "ServeCommand",
]

// What runs between fork and exec, where Swift must not; what only the Makefile knows, as a define has no value in Swift; and
// what of glibc Swift does not see.
let commit = Context.environment["NETPATH_COMMIT"] ?? "unknown"
let cNetPath = Target.target(name: "CNetPath", cSettings: [.define("NETPATH_COMMIT", to: commit)])

let package = Package(
    name: "netpath",
    products: [
        "NetPath", "NetPathExplanation", "NetPathPluginKit", "NetPathNetlink", "NetPathSysfs", "NetPathTCPProbe",
        "NetPathHTTPProbe", "NetPathExec", "NetPathConfiguration", "NetPathStandard", "Reachability",
        "LinuxNetworkPath",
        "Network", "NetPathNetwork", "Connectivity", "ConnectivityNotifications", "NetPathHTTP", "NetPathCurl",
        "OfflineRequests", "NetPathCLI", "NetPathTestKit",
    ].map { .library(name: $0, targets: [$0]) } + executables.map { .executable(name: $0, targets: [$1]) },
    // Who depends on this package names the traits of the products it uses, or none: `traits: []`. Packages without the
    // trait that names them are not even fetched.
    traits: [
        .trait(name: "CommandLine", description: "NetPathCLI and the programs (swift-argument-parser)"),
        .trait(name: "OfflineRequests", description: "OfflineRequests and netpath-queue (GRDB.swift)"),
        .trait(name: "Server", description: "netpath-serve (swift-nio)"),
        .trait(name: "OpenCombine", description: "Combine publishers and an ObservableObject in Connectivity"),
        .default(enabledTraits: ["CommandLine", "OfflineRequests", "Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: systemLibraries + [cNetPath]
        + [core, coordinators, applications, tools].flatMap { $0.map { library($0, $1) } }
        // Plugins/ is also SwiftPM's folder for package plugins, hence the path.
        + backends.map { library($0, $1, in: "Plugins/\($0.dropFirst("NetPath".count))") }
        + programs.map { program($0, $1) } + support.map { program($0, $1, in: "Tests/Support/\($0)") }
        + examples.map { program($0, $1, in: $0) }
        + suites.map { .testTarget(name: $0, dependencies: dependencies("NetPath NetPathTestKit " + $1)) },
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    // Swift Evolution: 0335, 0409, 0444, 0461, 0470, 0481 and 0458.
    let features = [
        "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
        "InferIsolatedConformances", "ImmutableWeakCaptures",
    ]
    target.swiftSettings = features.map { .enableUpcomingFeature($0) } + [.strictMemorySafety()]
    // Only in CI: a new compiler must never break the build of a package that depends on this one.
    if Context.environment["NETPATH_CI"] != nil {
        let flags = ["-Xfrontend", "-require-explicit-sendable"]
        target.swiftSettings? += [.treatAllWarnings(as: .error), .unsafeFlags(flags)]
    }
}

// For the package in Fuzz/ alone: what reads bytes of others and is not for applications.
if Context.environment["NETPATH_FUZZ"] != nil {
    let targets = words("NetPathCLI NetPathConfiguration NetPathExec NetPathHTTPProbe NetPathNetlink NetPathRecording")
    let more = words("NetPathServe NetPathSysfs NetPathSystem OfflineRequests")
    package.products.append(.library(name: "Fuzzed", targets: targets + more))
}

// MARK: From a table to targets

func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

/// What a target needs; a product of another package goes with the trait that fetches that.
func dependencies(_ names: String) -> [Target.Dependency] {
    let packages = [
        "ArgumentParser": ("swift-argument-parser", "CommandLine"), "OpenCombine": ("OpenCombine", "OpenCombine"),
        "GRDB": ("GRDB.swift", "OfflineRequests"), "GRDBSQLite": ("GRDB.swift", "OfflineRequests"),
        "NIOCore": ("swift-nio", "Server"), "NIOHTTP1": ("swift-nio", "Server"), "NIOPosix": ("swift-nio", "Server"),
    ]
    return words(names).map { name in
        guard let (package, trait) = packages[name] else { return .byName(name: name) }
        return .product(name: name, package: package, condition: .when(traits: [trait]))
    }
}

func program(_ name: String, _ needs: String, in folder: String? = nil) -> Target {
    // Beside the program, what is no Swift, and a package of its own.
    let exclude = name == "Examples" ? ["Applications", "OfflineDemo/run", "Plugins"] : []
    return .executableTarget(name: name, dependencies: dependencies(needs), path: folder, exclude: exclude)
}

func library(_ name: String, _ needs: String, in folder: String? = nil) -> Target {
    let swift = words("Package.swift Package.yaml Package.md Monitor.swift Registration.swift main.swift Tests.swift")
    let templates = swift + words("Program.py Program.sh Program.test Program.yaml Program.md")
    let pages = words("page.html login.html page.css page.js banner.js banner.d.ts demo.html demo.js openapi.json")
    let resources = [
        "NetPathConfiguration": ["netpath.yaml"],
        "NetPathCLI": ["netpath.schema.json"] + templates.map { "Plugin/\($0).template" },
        "NetPathServe": pages,
    ]
    let embedded = (resources[name] ?? []).map { Resource.embedInCode("Resources/\($0)") }
    return .target(name: name, dependencies: dependencies(needs), path: folder, resources: embedded)
}
