// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

/// A non-blocking TCP connection (`tcp(7)`), closed with its last reference.
///
/// Closing is plain: a connection that was made ends in the orderly way (FIN), so that it is nothing unusual in the
/// server's log, and costs one entry in TIME_WAIT here; a reset (SO_LINGER 0) would look like an error there. One that
/// is not made yet just vanishes: there is no peer to tell.
struct ProbeSocket {
    private let descriptor: FileDescriptor

    /// Opens a socket.
    ///
    /// - Parameters:
    ///   - family: The family of the addresses to connect to.
    ///   - options: The interface that packets have to leave through (SO_BINDTODEVICE), and their mark (SO_MARK).
    /// - Throws: ``SystemError``.
    init(_ family: AddressFamily, _ options: TCPProbeMonitor.Options) throws(SystemError) {
        guard let descriptor = FileDescriptor(socketOf: family, isStream: true) else {
            throw .last("cannot open a TCP socket")
        }
        self.descriptor = descriptor
        if var mark = options.mark, unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_MARK, &mark, 4) != 0 {
            throw .last("cannot mark packets with \(mark), for which the program needs CAP_NET_ADMIN")
        }
        if let interface = options.interface {
            let length = socklen_t(interface.utf8.count)
            guard unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_BINDTODEVICE, interface, length) == 0 else {
                throw .last("cannot send through '\(interface)', for which the program needs Linux 5.7 or CAP_NET_RAW")
            }
        }
    }

    /// The descriptor, for polling: writable when the attempt has ended.
    var fileDescriptor: Int32 { self.descriptor.number }

    /// Starts to connect.
    ///
    /// - Returns: Nil while under way, else 0 or the error number.
    func connect(to endpoint: ProbeEndpoint) -> Int32? {
        let scope = endpoint.zone.map { unsafe if_nametoindex($0) }
        // Zero would stand for any interface.
        if scope == 0 { return ENODEV }
        let result = self.descriptor.connect(to: endpoint.address, port: endpoint.port, scope: scope ?? 0)
        return result == EINPROGRESS ? nil : result
    }

    /// What became of the attempt once the descriptor is writable: 0 or the error number (SO_ERROR).
    var pendingError: Int32 {
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(self.fileDescriptor, SOL_SOCKET, SO_ERROR, &error, &size)
        return result == 0 ? error : errno
    }
}

extension ProbeOutcome.Result {
    /// What an error number of `connect(2)` says about the network.
    init(connectError error: Int32) {
        switch error {
        // Only what was connected can be reset or closed: a refused attempt is ECONNREFUSED.
        case 0, ECONNRESET, EPIPE: self = .connected
        case ECONNREFUSED: self = .refused
        case ETIMEDOUT: self = .timedOut
        default: self = .unreachable(errno: error)
        }
    }
}
