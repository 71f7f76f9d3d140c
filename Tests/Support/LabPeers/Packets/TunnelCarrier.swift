// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// A VPN in a process: holds a tun device and carries its packets in datagrams, as they are.
struct TunnelCarrier {
    let device: String
    let endpoint: SocketAddress
    let options: DatagramSocket.Options

    func run() -> Never {
        let tunnel = self.openTunnel()
        say(#"{"ready":true}"#)
        var socket: DatagramSocket?
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let readable = FileDescriptor.poll(readable: [tunnel, socket?.descriptor ?? -1], timeout: nil)
            if readable[0], let packet = receive(from: tunnel, into: &buffer) {
                socket = socket ?? DatagramSocket(self.endpoint.family, self.options)
                // A device that was made anew has another index, which the socket does not know yet.
                if let socket, socket.bindToDevice() { socket.send(packet, to: self.endpoint) }
            }
            // Reading also takes the error that a datagram before met.
            if readable[1], let socket, let packet = receive(from: socket.descriptor, into: &buffer) {
                _ = unsafe packet.withUnsafeBytes { unsafe write(tunnel, $0.baseAddress, $0.count) }
            }
        }
    }

    private func openTunnel() -> Int32 {
        let descriptor = unsafe open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { fail("/dev/net/tun: errno \(errno)") }
        // struct ifreq: 16 bytes of name, then IFF_TUN | IFF_NO_PI; the request is TUNSETIFF (linux/if_tun.h).
        var request = Array(self.device.utf8.prefix(15))
        request += [UInt8](repeating: 0, count: 40 - request.count)
        unsafe request.withUnsafeMutableBytes { unsafe $0.storeBytes(of: 0x1001, toByteOffset: 16, as: UInt16.self) }
        let status = unsafe request.withUnsafeMutableBytes { request -> Int32 in
            guard let start = request.baseAddress else { return -1 }
            return unsafe ioctl(descriptor, 0x4004_54ca, start)
        }
        guard status == 0 else { fail("TUNSETIFF \(self.device): errno \(errno)") }
        return descriptor
    }
}
