// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How much the service takes of the clients of its socket.
struct ServiceLimits: Sendable {
    /// How many connections there may be; root, the user of the service and the members of its group may have more.
    var clients = 256
    /// How many of them one user may have.
    var clientsPerUser = 64
    /// How many bytes a question may have.
    var question = 1_024
    /// While more bytes than this wait for the clients of a user, no state is added, and a question of that user ends the
    /// connection for which most waits.
    var unsentPerUser = 8 << 20
    /// The same of all users.
    var unsent = 32 << 20
    /// How many bytes wait in the kernel for a client; the kernel counts what holds them, too, and doubles this.
    var buffer: Int32 = 16_384
    /// How long a client may ask nothing that does not watch.
    var idle: Duration = .seconds(10)
    /// How long a client may take to read an answer, or a page of a long one.
    var reading: Duration = .seconds(10)
    /// How much processor time histories may take at once, enough for the longest one on a slow machine; after that they get
    /// a tenth of one processor.
    var pageTime: Duration = .seconds(10)
    /// How long no connection is accepted when the process has no descriptor for it.
    var pause: Duration = .seconds(1)

    /// The limits of a process that may open so many files: half of them are left to what watches the network.
    func fitting(files: Int) -> ServiceLimits {
        var limits = self
        limits.clients = max(1, min(self.clients, files / 2))
        limits.clientsPerUser = max(1, min(self.clientsPerUser, limits.clients / 4))
        return limits
    }
}
