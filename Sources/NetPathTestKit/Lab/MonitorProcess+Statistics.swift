// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

extension MonitorProcess {
    /// Counts how often the program's threads were put on or off a processor: voluntarily, that is woken, or not.
    ///
    /// A program that does nothing keeps this number. Threads that have ended are not counted.
    package func contextSwitches() throws -> Int {
        let directory = "/proc/\(processIdentifier)/task"
        var sum = 0
        for thread in try FileManager.default.contentsOfDirectory(atPath: directory) {
            // It may end between the list and the look.
            guard let status = try? status(at: "\(directory)/\(thread)/status") else { continue }
            sum += (status["voluntary_ctxt_switches"] ?? 0) + (status["nonvoluntary_ctxt_switches"] ?? 0)
        }
        return sum
    }

    /// Waits until the program has not been switched for a second.
    ///
    /// What comes from its own start is over then, and from an address whose duplicates the kernel looks for
    /// (RFC 4862, 5.4).
    package func waitForRest() throws {
        var last = try contextSwitches()
        for _ in 0..<100 {
            Thread.sleep(forTimeInterval: 1)
            let now = try contextSwitches()
            if now == last { return }
            last = now
        }
        throw LabError.invalidRequest("\(program) never comes to rest: \(last) context switches")
    }

    /// Counts the context switches of a program that has come to rest.
    package func contextSwitches(in time: Duration) throws -> Int {
        try waitForRest()
        let before = try contextSwitches()
        // What is measured is what happens while time passes.
        Thread.sleep(forTimeInterval: time / .seconds(1))
        return try contextSwitches() - before
    }

    /// Reads the processor time the program has used so far, in the kernel and in itself, with all its threads.
    package func cpuTime() throws -> Duration {
        try LabSystem.cpuTime(of: processIdentifier)
    }

    /// Reads the largest amount of memory the program has had resident (VmHWM), in KiB.
    package func residentPeakKiB() throws -> Int {
        guard let peak = try status(at: "/proc/\(processIdentifier)/status")["VmHWM"] else {
            throw LabError.invalidRequest("process \(processIdentifier) has ended: it has no memory to measure")
        }
        return peak
    }

    /// Returns the path of a program: the `netpath` that NETPATH_BINARY names and what is in the same folder, else what was
    /// built together with the running tests.
    ///
    /// - Parameter name: The product's name, for example `netpath`.
    /// - Returns: Its path.
    /// - Throws: ``LabError`` when it is not there.
    public static func builtProduct(_ name: String) throws -> String {
        if let program = ProcessInfo.processInfo.environment["NETPATH_BINARY"] {
            let beside = URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent(name).path
            let path = name == "netpath" ? program : beside
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: runner).deletingLastPathComponent().appendingPathComponent(name).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw LabError.invalidRequest("there is no program \(path); build the product \(name) first")
        }
        return path
    }

    /// Reads the numbers of a `status` file of `/proc`.
    private func status(at path: String) throws -> [String: Int] {
        var values: [String: Int] = [:]
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            let words = line.split { $0 == ":" || $0 == "\t" || $0 == " " }
            if words.count > 1, let value = Int(words[1]) { values[String(words[0])] = value }
        }
        return values
    }
}
