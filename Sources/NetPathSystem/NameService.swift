// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
package import NetPath
import Synchronization

/// What became of a lookup.
package enum NameLookup: Hashable, Sendable {
    /// The addresses, the one to try first in front.
    case addresses([InternetAddress])
    /// Why there are none.
    case failed(String)
}

/// Looks names up without blocking the caller.
///
/// The system's resolver blocks, for as long as its configuration says, and cannot be interrupted. So each name is
/// looked up on a thread of its own, at most one at a time for the same name: however often a dead name server is asked
/// for, threads do not pile up.
package final class NameService: Sendable {
    /// The one that all of the process share, so that starting monitors anew does not add threads either.
    package static let shared = NameService { System.addresses(of: $0) }

    private let lookUp: @Sendable (String) -> NameLookup
    private let waiting = Mutex<[String: [@Sendable (NameLookup) -> Void]]>([:])

    /// Makes a service, with a function that looks a name up and may block.
    package init(lookUp: @escaping @Sendable (String) -> NameLookup) {
        self.lookUp = lookUp
    }

    /// Looks a name up, or waits for the lookup that is under way.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - receive: Called on some thread with what came of it.
    package func find(_ name: String, receive: @escaping @Sendable (NameLookup) -> Void) {
        let isFirst = self.waiting.withLock { waiting in
            waiting[name, default: []].append(receive)
            return waiting[name]?.count == 1
        }
        guard isFirst else { return }
        let started = BackgroundThread.start { self.answer(name, self.lookUp(name)) }
        if !started { self.answer(name, .failed("no thread can be started")) }
    }

    private func answer(_ name: String, _ lookup: NameLookup) {
        for receive in self.waiting.withLock({ $0.removeValue(forKey: name) }) ?? [] { receive(lookup) }
    }

    private enum System {
        /// Asks the system's resolver (`getaddrinfo(3)`); blocks.
        static func addresses(of name: String) -> NameLookup {
            var hints = unsafe addrinfo()
            unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var list: UnsafeMutablePointer<addrinfo>?
            let error = unsafe getaddrinfo(name, nil, &hints, &list)
            guard error == 0 else { return .failed(unsafe String(cString: gai_strerror(error))) }
            defer { unsafe freeaddrinfo(list) }
            var addresses: [InternetAddress] = []
            var next = unsafe list
            while let entry = unsafe next {
                if let address = unsafe Self.address(entry.pointee) { addresses.append(address) }
                unsafe next = unsafe entry.pointee.ai_next
            }
            return .addresses(addresses)
        }

        private static func address(_ entry: addrinfo) -> InternetAddress? {
            guard let address = unsafe UnsafeRawPointer(entry.ai_addr) else { return nil }
            switch unsafe entry.ai_family {
            case AF_INET:
                let bits = unsafe address.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
                return InternetAddress(ipv4: UInt32(bigEndian: bits))
            case AF_INET6:
                let bytes = unsafe address.loadUnaligned(as: sockaddr_in6.self).sin6_addr
                return unsafe withUnsafeBytes(of: bytes) { unsafe InternetAddress(bytes: $0) }
            default: return nil
            }
        }
    }
}
