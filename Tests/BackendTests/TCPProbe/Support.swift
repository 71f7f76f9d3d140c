// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem
import NetPathTestKit

@testable import NetPathTCPProbe

extension TCPProbeMonitor.Options {
    /// Options with targets that are known to be right.
    static func to(_ targets: String..., change: (inout Self) -> Void = { _ in }) throws -> Self {
        var options = Self(targets: try targets.map { text throws(ProbeTargetError) in try ProbeTarget(text) })
        change(&options)
        return options
    }
}

/// A monitor that runs in a coordinator of its own, and what it said.
final class RunningProbe: Sendable {
    let coordinator: PathCoordinator
    private let recorder = PathRecorder()

    init(_ options: TCPProbeMonitor.Options, names: NameService = .shared) {
        let monitor = TCPProbeMonitor(options, names: names, ledger: ProbeLedger())
        self.coordinator = PathCoordinator(backends: [Backend("probe", monitor: monitor)])
        self.coordinator.subscribe(self.recorder.record)
        self.coordinator.start()
    }

    /// The current path, once there is one that a condition holds for.
    func path(where condition: @escaping @Sendable (NetworkPath) -> Bool = { _ in true }) async throws -> NetworkPath {
        for await path in self.coordinator.paths() where condition(path) { return path }
        throw CancellationError()
    }

    deinit { self.coordinator.stop() }
}

/// A TCP socket of this process that listens on a port of 127.0.0.1 or ::1 the kernel chose.
final class Listener: Sendable {
    let descriptor: Int32
    let port: UInt16

    init(backlog: Int32 = 128) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe bind(descriptor, $0, size)
                _ = unsafe getsockname(descriptor, $0, &size)
            }
        }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
        if backlog >= 0, listen(self.descriptor, backlog) != 0 { throw CancellationError() }
        _ = fcntl(self.descriptor, F_SETFL, O_NONBLOCK)
    }

    /// Takes the connections that wait, and closes them.
    func accepted() -> Int {
        var count = 0
        while true {
            let connection = accept(self.descriptor, nil, nil)
            if connection < 0 { return count }
            close(connection)
            count += 1
        }
    }

    var target: String { "127.0.0.1:\(self.port)" }

    deinit { close(self.descriptor) }
}
