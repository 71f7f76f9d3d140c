// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// The few system calls the lab makes itself; the only file of the lab with unsafe code.
enum LabSystem {
    /// Makes a pair of connected sockets.
    ///
    /// A socket rather than a pipe, because only a socket can be written to without the risk of SIGPIPE.
    static func socketPair() throws -> (ours: Int32, theirs: Int32) {
        var descriptors: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &descriptors) == 0 else { throw failure("socketpair") }
        return (descriptors[0], descriptors[1])
    }

    /// Sends all bytes; a vanished reader is an error, not a signal.
    static func send(_ text: String, to descriptor: Int32) throws {
        var remaining = ArraySlice(Array(text.utf8))
        while !remaining.isEmpty {
            let count = unsafe remaining.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                guard errno == EINTR else { throw failure("send") }
            } else {
                remaining = remaining.dropFirst(count)
            }
        }
    }

    /// Reads what is there; nil at the end.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 { return Array(buffer.prefix(count)) }
            if count < 0 && errno == EINTR { continue }
            return count < 0 && errno == EAGAIN ? [] : nil
        }
    }

    /// Makes a named pipe and opens it for reading, without waiting for a writer.
    static func makePipe(at path: String) throws -> Int32 {
        guard unsafe mkfifo(path, 0o600) == 0 else { throw failure("mkfifo(\(path))") }
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open(\(path))") }
        return descriptor
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

    private static func failure(_ call: String, _ code: Int32 = errno) -> LabError {
        .systemCallFailed(call: call, reason: unsafe String(cString: strerror(code)))
    }
}
