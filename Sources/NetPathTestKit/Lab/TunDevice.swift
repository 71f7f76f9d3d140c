// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A tun device, as a VPN program makes it, and the process that holds it open.
///
/// Held open it has a carrier; a persistent one without a process is down. Closing the device is what the end of a
/// VPN program looks like.
package final class TunDevice: Sendable {
    /// Whether `/dev/net/tun` can be opened here; some machines keep it for root or lack it.
    ///
    /// Where it is not, ``NetworkNamespace/addTunnel(_:addresses:)`` gives a device that looks much the same.
    package static var isAvailable: Bool {
        FileManager.default.isReadableFile(atPath: "/dev/net/tun")
            && FileManager.default.isWritableFile(atPath: "/dev/net/tun")
    }

    /// The device.
    package let interface: LabInterface
    private let holder: MonitorProcess

    /// Makes the device, or opens it if it exists already and is persistent.
    ///
    /// A shell cannot make the needed system call and a thread of ours cannot enter the namespace, so perl does it:
    /// it is part of every Debian and Ubuntu system, and the device stays while it runs.
    fileprivate init(_ name: String, in namespace: NetworkNamespace) throws {
        // struct ifreq with IFF_TUN | IFF_NO_PI; the request is TUNSETIFF.
        let script = """
            $| = 1;
            open(my $tun, "+<", "/dev/net/tun") or die "open /dev/net/tun: $!";
            my $request = pack("a16 S x22", "\(name)", 0x1001);
            ioctl($tun, 0x400454ca, $request) or die "TUNSETIFF: $!";
            print "ready\\n";
            sleep;
            """
        holder = try namespace.start("perl", ["-e", script])
        _ = try holder.nextText()
        interface = LabInterface(name, in: namespace)
        try namespace.ip("link set \(name) up")
    }

    /// Closes the device: it disappears, or loses its carrier if it is persistent.
    package func close() throws {
        try holder.stop()
    }
}

extension NetworkNamespace {
    /// Adds a tun device that is up and held open by a process.
    ///
    /// - Parameters:
    ///   - name: The device's name.
    ///   - addresses: Addresses with prefix lengths.
    ///   - isPersistent: Whether the device outlives the process, then without a carrier.
    /// - Returns: The device, closed when the object goes away.
    /// - Throws: ``LabError`` when perl or `/dev/net/tun` is missing or not accessible.
    package func addTun(_ name: String, addresses: [String] = [], isPersistent: Bool = false) throws -> TunDevice {
        if isPersistent { try ip("tuntap add mode tun name \(name)") }
        let device = try TunDevice(name, in: self)
        for address in addresses { try device.interface.addAddress(address) }
        return device
    }
}
