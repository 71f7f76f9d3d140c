// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathSystem

/// The few system calls the lab makes itself; the only file of the lab with unsafe code.
enum LabSystem {
    /// Sends all bytes; a vanished reader is an error, not a signal.
    static func send(_ text: String, to socket: FileDescriptor) throws {
        var remaining = Array(text.utf8)[...]
        while !remaining.isEmpty {
            let count = socket.send(remaining)
            guard count >= 0 || errno == EINTR else { throw failure("send") }
            remaining = remaining.dropFirst(max(0, count))
        }
    }

    /// The reading end of a pipe of Foundation's, which closes its own.
    static func readingEnd(of pipe: Pipe) throws -> FileDescriptor {
        let number = fcntl(pipe.fileHandleForReading.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        guard let end = FileDescriptor(number) else { throw failure("fcntl(F_DUPFD_CLOEXEC)") }
        return end
    }

    /// Makes a named pipe and opens it for reading, without waiting for a writer.
    static func makePipe(at path: String) throws -> FileDescriptor {
        guard unsafe mkfifo(path, 0o600) == 0 else { throw failure("mkfifo(\(path))") }
        guard let pipe = FileDescriptor(unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) else {
            throw failure("open(\(path))")
        }
        return pipe
    }

    /// Makes a directory that only we can enter and returns its path.
    static func makeTemporaryDirectory(in parent: String) throws -> String {
        var template = Array("\(parent)/netpath-lab-XXXXXX\0".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw failure("mkdtemp(\(parent))") }
        return String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The processor time a process has used, all its threads included, ended ones too.
    static func cpuTime(of processIdentifier: Int32) throws -> Duration {
        var clock = clockid_t()
        let status = unsafe clock_getcpuclockid(processIdentifier, &clock)
        guard status == 0 else { throw failure("clock_getcpuclockid(\(processIdentifier))", status) }
        var time = timespec()
        guard unsafe clock_gettime(clock, &time) == 0 else { throw failure("clock_gettime") }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The failure of a system call.
    static func failure(_ call: String, _ code: Int32 = errno) -> LabError {
        .systemCallFailed(call: call, reason: unsafe String(cString: strerror(code)))
    }
}
