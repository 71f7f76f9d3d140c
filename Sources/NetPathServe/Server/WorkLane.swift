// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore

/// Has one thing after another made on a thread apart, which is there while there is something to make; of the server's
/// thread alone.
///
/// What no connection waits for any more is not made.
final class WorkLane {
    typealias Receiver = (SharedBytes?) -> Void

    private struct Item {
        let work: Work
        var receivers: [ObjectIdentifier: Receiver]
    }

    private weak var core: ServerCore?
    private var items: [Item] = []
    private var current: Item?

    init(_ core: ServerCore) {
        self.core = core
    }

    /// Has something made for a client, together with others that wait for the same.
    func add(_ work: Work, for client: ObjectIdentifier, _ receiver: @escaping Receiver) {
        if self.current?.work == work {
            self.current?.receivers[client] = receiver
        } else if let index = self.items.firstIndex(where: { $0.work == work }) {
            self.items[index].receivers[client] = receiver
        } else {
            self.items.append(Item(work: work, receivers: [client: receiver]))
        }
        self.begin()
    }

    /// Forgets a client that has gone.
    func forget(_ client: ObjectIdentifier) {
        self.current?.receivers[client] = nil
        for index in self.items.indices { self.items[index].receivers[client] = nil }
        self.items.removeAll { $0.receivers.isEmpty }
    }

    private func begin() {
        guard self.current == nil, !self.items.isEmpty, let core = self.core else { return }
        let version = core.state.version
        let item = self.items.removeFirst()
        let work = item.work
        self.current = item
        let lane = NIOLoopBound(self, eventLoop: core.loop)
        let isStarted = core.startThread { [worker = core.worker, entrance = core.entrance] in
            let bytes = worker(work)
            entrance.execute { lane.value.finish(bytes, of: version) }
        }
        if !isStarted { self.finish(nil, of: version) }
    }

    private func finish(_ bytes: [UInt8]?, of version: UInt64) {
        guard let done = self.current.take() else { return }
        let shared = done.receivers.isEmpty ? nil : self.core?.share(bytes, of: done.work, version)
        for receiver in done.receivers.values { receiver(shared) }
        self.begin()
    }
}

/// Bytes that several connections send; counted as long as one of them does.
final class SharedBytes {
    let bytes: [UInt8]
    private weak var core: ServerCore?

    init(_ bytes: [UInt8], of core: ServerCore) {
        self.bytes = bytes
        self.core = core
        core.sharedBytes += bytes.count
    }

    deinit { self.core?.sharedBytes -= self.bytes.count }
}
