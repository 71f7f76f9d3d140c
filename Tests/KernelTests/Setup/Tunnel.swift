// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// A program that holds a tun interface and carries its packets in UDP, as VPN clients do.
///
/// It also stands for the kinds of tunnels that not every kernel has.
struct Tunnel: Sendable {
    let name: String
    /// The address of the server, with `%interface` where it is of a link.
    let endpoint: String
    /// How the program steers its own packets.
    let options: DatagramOptions
    /// Commands of `ip` that configure the tunnel when it is there.
    let configuration: [String]

    /// - Parameters:
    ///   - name: The interface's name.
    ///   - endpoint: The address of the server.
    ///   - mark: SO_MARK of the program's socket.
    ///   - device: SO_BINDTODEVICE of the program's socket.
    ///   - configuration: Commands of `ip` that configure the tunnel.
    init(
        _ name: String,
        to endpoint: String = "203.0.113.9",
        mark: Int? = nil,
        device: String? = nil,
        _ configuration: String...
    ) {
        self.init(name, to: endpoint, mark: mark, device: device, configuration)
    }

    init(
        _ name: String,
        to endpoint: String = "203.0.113.9",
        mark: Int? = nil,
        device: String? = nil,
        _ configuration: [String]
    ) {
        self.name = name
        self.endpoint = endpoint
        self.options = DatagramOptions(mark: mark, device: device)
        self.configuration = configuration
    }

    /// The program ends, with its interface, and comes back.
    ///
    /// - Parameters:
    ///   - ending: What happens besides when it ends.
    ///   - starting: What happens besides when it starts.
    /// - Returns: The steps.
    func restart(ending: [Command] = [], starting: [Command] = []) -> [Step] {
        [
            Step("\(self.name): the program ends", [.stop(self.name)] + ending),
            Step("\(self.name): the program starts", [.start(self)] + starting),
        ]
    }
}
