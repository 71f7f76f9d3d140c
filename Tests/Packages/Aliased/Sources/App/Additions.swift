// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// As applications write it, not as this house does.
// swift-format-ignore-file

import Network

// What applications add themselves. Each would warn, and every warning is an error here, if it were there already.

extension NWInterface.InterfaceType: @retroactive CaseIterable {
    public static let allCases: [NWInterface.InterfaceType] = [.other, .wifi, .cellular, .loopback, .wiredEthernet]
}

extension NWPath.Status: @retroactive CustomStringConvertible {
    public var description: String { "status" }
}

extension NWPath.UnsatisfiedReason: @retroactive CustomStringConvertible {
    public var description: String { "reason" }
}

extension NWInterface: @retroactive CustomStringConvertible {
    public var description: String { self.name }
}

extension NWEndpoint: @retroactive CustomStringConvertible {
    public var description: String { "endpoint" }
}

extension NWPathMonitor {
    var isOnline: Bool { self.currentPath.status == .satisfied }
    var paths: AsyncStream<NWPath> { AsyncStream { $0.finish() } }
    func stream() -> AsyncStream<NWPath> { self.paths }
}
