// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetPath
import Glibc
import NetPath

/// A running program, the leader of a session and of a process group, and its supervisor, which adopts what it leaves behind
/// and ends that with it.
///
/// All of it dies with the thread that started it, whatever becomes of this process.
package final class ChildProcess {
    /// How long its supervisor may take to end everything.
    package static let supervisorPatience: Duration = .seconds(4)

    private let number: pid_t
    private let end: FileDescriptor?
    /// Where it reads from; nil when that is closed.
    package private(set) var input: FileDescriptor?
    /// What it writes; nil when that is closed.
    package private(set) var output: FileDescriptor?
    /// What it complains of; nil when that is closed.
    package private(set) var errors: FileDescriptor?
    private var status: Int32?
    /// The last that it complained of while it was ended.
    private var lastWords: [UInt8] = []

    /// Starts a program.
    ///
    /// - Throws: ``LaunchError`` with what was refused.
    package init(_ plan: LaunchPlan) throws(LaunchError) {
        let (input, output, errors) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
        var launch = unsafe netpath_launch()
        unsafe launch.program = plan.program?.number ?? -1
        unsafe launch.input = input.reading.number
        unsafe launch.output = output.writing.number
        unsafe launch.errors = errors.writing.number
        if let limits = plan.permissions.limits {
            unsafe launch.memory = limits.memory
            unsafe launch.files = limits.files
            unsafe launch.processes = limits.processes
        }
        unsafe launch.may_gain_privileges = plan.permissions.mayGainPrivileges ? 1 : 0
        unsafe launch.keeps_place = plan.permissions.keepsPlace ? 1 : 0
        let arguments = unsafe Self.strings(plan.arguments)
        let environment = unsafe Self.strings(plan.environment)
        defer {
            for index in unsafe arguments.indices { unsafe free(arguments[index]) }
            for index in unsafe environment.indices { unsafe free(environment[index]) }
        }
        let groups = plan.identity?.groups ?? []
        var number: pid_t = 0
        var step: Int32 = 0
        let result = unsafe arguments.withUnsafeBufferPointer { arguments in
            unsafe environment.withUnsafeBufferPointer { environment in
                unsafe groups.withUnsafeBufferPointer { groups in
                    unsafe plan.path.withCString { path in
                        unsafe launch.path = path
                        unsafe launch.arguments = arguments.baseAddress
                        unsafe launch.environment = environment.baseAddress
                        if let identity = plan.identity {
                            unsafe launch.changes_identity = 1
                            unsafe launch.user = identity.user
                            unsafe launch.group = identity.group
                            unsafe launch.groups = groups.baseAddress
                            unsafe launch.group_count = groups.count
                        }
                        return unsafe netpath_launch(&launch, &number, &step)
                    }
                }
            }
        }
        guard result == 0 else { throw Self.error(result, step, plan) }
        self.number = number
        self.end = FileDescriptor(netpath_process_descriptor(number))
        self.input = input.writing
        self.output = output.reading
        self.errors = errors.reading
        for end in [input.writing, output.reading, errors.reading] { _ = fcntl(end.number, F_SETFL, O_NONBLOCK) }
    }

    private static func pipe() throws(LaunchError) -> (reading: FileDescriptor, writing: FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard unsafe netpath_pipe(&ends) == 0, let reading = FileDescriptor(ends[0]),
            let writing = FileDescriptor(ends[1])
        else { throw .last("cannot create a pipe") }
        return (reading, writing)
    }

    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }

    private static func error(_ number: Int32, _ step: Int32, _ plan: LaunchPlan) -> LaunchError {
        let name = plan.path.printable(limit: 200)
        let reason = SystemReason.text(number)
        switch UInt32(step) {
        case NETPATH_LAUNCH_EXECUTE.rawValue:
            let hint =
                switch number {
                case ENOENT: "; check the path, and that of its interpreter"
                case EACCES: "; make it executable (chmod +x), and let this user enter the folders above it"
                case ENOEXEC: "; a script needs a first line such as #!/bin/sh"
                default: ""
                }
            return LaunchError("cannot execute '\(name)': \(reason)\(hint)")
        case NETPATH_LAUNCH_IDENTITY.rawValue: return LaunchError("cannot run '\(name)' as another user: \(reason)")
        case NETPATH_LAUNCH_LIMIT.rawValue: return LaunchError("cannot limit what '\(name)' uses: \(reason)")
        case NETPATH_LAUNCH_PRIVILEGES.rawValue: return LaunchError("cannot keep '\(name)' from privileges: \(reason)")
        default: return LaunchError("cannot start '\(name)': \(reason)")
        }
    }

    // MARK: Input and output

    /// Becomes readable when the program has ended; -1 when the kernel cannot tell.
    package var endDescriptor: Int32 { self.end?.number ?? -1 }

    /// Writes as much as goes without waiting; nil when the program reads no more.
    ///
    /// The calling thread has SIGPIPE blocked.
    package func write(_ bytes: some Collection<UInt8>) -> Int? {
        guard let input else { return nil }
        let bytes = Array(bytes)
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(input.number, $0.baseAddress, $0.count) }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        self.input = nil
        return nil
    }

    /// Reads what is there; nil at the end.
    package static func read(_ descriptor: FileDescriptor?, limit: Int = 16_384) -> [UInt8]? {
        guard let descriptor else { return nil }
        if let bytes = descriptor.read(limit: limit) { return bytes.isEmpty ? nil : bytes }
        return errno == EAGAIN || errno == EINTR ? [] : nil
    }

    /// Lets the program read the end.
    package func closeInput() { self.input = nil }
    /// Reads no more of what it writes.
    package func closeOutput() { self.output = nil }
    /// Reads no more of what it complains of.
    package func closeErrors() { self.errors = nil }

    /// Keeps writes to programs that are gone from ending the process; for the calling thread only.
    package static func blockBrokenPipes() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    // MARK: The end

    /// Makes this process the parent of what programs leave behind, for the rest of its life: to count that, and end it.
    package static func adoptOrphans() { _ = netpath_adopt_orphans() }

    /// How the program ended; nil while it runs.
    package var ending: ProcessEnding? {
        guard self.hasEnded(), let status else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
    }

    private func hasEnded() -> Bool {
        guard self.status == nil else { return true }
        var end = unsafe siginfo_t()
        let isKnown = unsafe waitid(P_PID, id_t(self.number), &end, WEXITED | WNOHANG | WNOWAIT) == 0
        // Another part of the process may have waited for every child.
        guard unsafe end.si_signo != 0 || (!isKnown && errno == ECHILD) else { return false }
        // Whatever it leaves behind in its group. First, as its number is another's as soon as its status is taken.
        if isKnown { _ = Glibc.kill(-self.number, SIGKILL) }
        var status: Int32 = 0
        self.status = unsafe waitpid(self.number, &status, WNOHANG) == self.number ? status : 0
        return true
    }

    private func waitForEnd(_ limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        while !self.hasEnded() {
            let rest = deadline - .now
            guard rest > .zero else { return false }
            let isBlind = self.end == nil
            let ready = FileDescriptor.poll(
                readable: [self.endDescriptor, self.output?.number ?? -1, self.errors?.number ?? -1],
                timeout: isBlind ? min(rest, .milliseconds(20)) : rest
            )
            if ready[1], Self.read(self.output) == nil { self.output = nil }
            if ready[2] { self.hear() }
        }
        self.hearLastWords()
        return true
    }

    /// The supervisor speaks right before its end.
    private func hearLastWords() {
        for _ in 0..<4 where self.errors != nil { self.hear() }
    }

    private func hear() {
        guard let bytes = Self.read(self.errors) else {
            self.errors = nil
            return
        }
        self.lastWords = (self.lastWords + bytes).suffix(4_096)
    }

    /// Whether it left a process behind in a group of its own, a daemon, once it was ended.
    package var hasLeftGroup: Bool {
        String(decoding: self.lastWords, as: UTF8.self).contains(NETPATH_LAUNCH_LEFT_GROUP)
    }

    /// Asks the program, and all that it started, to end.
    package func terminate() {
        if !self.hasEnded() { _ = Glibc.kill(self.number, SIGTERM) }
    }

    /// Ends the program, and all that it started.
    package func kill() {
        if !self.hasEnded() { _ = Glibc.kill(self.number, NETPATH_LAUNCH_KILL) }
    }

    /// Ends the program, and all that it started: politely where there is time for it, and surely.
    ///
    /// - Parameters:
    ///   - request: What asks the program to end; nil when it takes no requests.
    ///   - patience: How long each of the polite ways may take; zero for none of them.
    /// - Returns: What it took.
    @discardableResult
    package func end(request: [UInt8]?, patience: Duration) -> TerminationMethod {
        // Known before it is asked: what a quick program does then is its answer.
        let hadEnded = self.hasEnded()
        if let request, patience > .zero { _ = self.write(request) }
        self.input = nil
        guard !hadEnded else {
            self.hearLastWords()
            return .nothing
        }
        // What it writes while it ends is read, and dropped: it would die of a pipe without a reader.
        if patience > .zero {
            if request != nil, self.waitForEnd(patience) { return .request }
            self.terminate()
            if self.waitForEnd(patience) { return .termination }
        }
        self.output = nil
        self.kill()
        if self.waitForEnd(Self.supervisorPatience) { return .kill }
        _ = Glibc.kill(-self.number, SIGKILL)
        _ = self.waitForEnd(.seconds(1))
        return .kill
    }
}

/// What it took to end a program.
package enum TerminationMethod: Hashable, Sendable {
    /// It had ended before.
    case nothing
    /// A request, or the end of its input.
    case request
    /// SIGTERM.
    case termination
    /// SIGKILL.
    case kill
}

/// How a program ended.
package enum ProcessEnding: Hashable, Sendable, Codable, CustomStringConvertible {
    /// By itself, with a status.
    case exited(Int32)
    /// By a signal.
    case signaled(Int32)

    /// The ending as the rest of a sentence.
    package var description: String {
        switch self {
        case .exited(let status): return "ended with exit status \(status)"
        case .signaled(let signal):
            let name = unsafe strsignal(signal).map { unsafe String(cString: $0) } ?? "?"
            return "was ended by signal \(signal) (\(name))"
        }
    }
}
