// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

// Runs one scenario of a monitor against the real kernel, and writes what happens as lines. The tests run it in network
// namespaces, and in a process of its own where they count what it uses.

/// Ends the process when nobody knows the scenario.
func refuse() -> Never {
    FileHandle.standardError.write(Data("MonitorScenarios: there is no such scenario\n".utf8))
    exit(64)
}

let arguments = Array(CommandLine.arguments.dropFirst(2))
switch CommandLine.arguments.dropFirst().first {
case "path-monitor": pathMonitor(arguments)
case "connectivity": ConnectivityScenarios.run(arguments)
case "hosts": try HostScenarios.run()
case "sysfs": try sysfsPasses(arguments)
default: refuse()
}
