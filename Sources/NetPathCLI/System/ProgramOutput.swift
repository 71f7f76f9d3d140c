// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// What a program of the system wrote.
struct ProgramOutput {
    /// Its standard output.
    var bytes: [UInt8] = []
    /// What went wrong, for people; nil when nothing did.
    var failure: String?

    /// Where programs are looked for: not where the environment says.
    private static let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
    /// The most that is read.
    private static let limit = 8 << 20
    private static let variables = ["LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
    private static let patience: Duration = .seconds(5)

    init(bytes: [UInt8] = [], failure: String? = nil) {
        self.bytes = bytes
        self.failure = failure
    }

    /// Runs a program to its end, five seconds at most; nil when it is not installed.
    init?(_ name: String, _ arguments: [String]) {
        let places = Self.folders.map { "\($0)/\(name)" }
        guard let path = places.first(where: { unsafe access($0, X_OK) == 0 }) else { return nil }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0, let reading = FileDescriptor(ends[0])
        else {
            self.failure = SystemError.last("cannot create a pipe").description
            return
        }
        // Not for the program, which gets the writing end under other numbers.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Closed here thereafter, so that the program's end shows.
        var writing = FileDescriptor(ends[1])
        guard let process = Self.start(path, [name] + arguments, output: ends[1]) else {
            self.failure = SystemError.last("cannot start \(path)").description
            return
        }
        withExtendedLifetime(writing) {}
        writing = nil
        self.read(reading, until: process, name)
    }

    private static func start(_ path: String, _ words: [String], output: Int32) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        let environment = unsafe Self.variables.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        defer { for index in unsafe environment.indices { unsafe free(environment[index]) } }
        var process: pid_t = 0
        let result = unsafe posix_spawn(&process, path, &actions, nil, arguments, environment)
        if result != 0 { errno = result }
        return result == 0 ? process : nil
    }

    private mutating func read(_ output: FileDescriptor, until process: pid_t, _ name: String) {
        let clock = ContinuousClock()
        let deadline = clock.now + Self.patience
        var isComplete = false
        while clock.now < deadline, self.bytes.count < Self.limit {
            guard FileDescriptor.poll(readable: [output.number], timeout: deadline - clock.now)[0] else { break }
            guard let part = output.read(limit: 1 << 16) else {
                if errno == EINTR { continue }
                break
            }
            if part.isEmpty {
                isComplete = true
                break
            }
            self.bytes += part
        }
        if !isComplete {
            kill(process, SIGKILL)
            self.failure = "\(name) did not end in time, or said too much"
        }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
        if isComplete, status != 0 {
            self.failure = "\(name) failed: \(String(decoding: self.bytes.prefix(500), as: UTF8.self))"
            self.bytes = []
        }
    }
}
