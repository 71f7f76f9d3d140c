// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A check that a vendor offers to the users of its product.
///
/// None is on unless a configuration names it: each tells its owner that this machine is there, and which terms the owner
/// has for others' machines is for the one to find out who names it.
public struct HTTPCheckPreset: Hashable, Sendable {
    /// What a configuration calls it.
    public let name: String
    /// Who runs the server.
    public let owner: String
    /// Whose machines it is for.
    public let purpose: String
    /// What is asked, and what is answered.
    public let check: HTTPCheck

    /// All of them, by name.
    public static let all: [HTTPCheckPreset] = [
        Self("android", "Google", "Android", "http://connectivitycheck.gstatic.com/generate_204"),
        Self("android-https", "Google", "Android", "https://www.google.com/generate_204"),
        Self("apple", "Apple", "iOS and macOS", "http://captive.apple.com/hotspot-detect.html", applePage),
        Self("arch", "Arch Linux", "\(manager) of Arch Linux", "http://ping.archlinux.org/nm-check.txt", online),
        Self("debian", "Debian", "\(manager) of Debian", "http://network-test.debian.org/nm", online),
        Self(
            "fedora",
            "the Fedora project",
            "\(manager) of Fedora",
            "http://fedoraproject.org/static/hotspot.txt",
            "OK"
        ),
        Self("firefox", "Mozilla", "Firefox", "http://detectportal.firefox.com/success.txt", "success"),
        Self(
            "gnome",
            "the GNOME project",
            "\(manager) and GNOME",
            "http://nmcheck.gnome.org/check_network_status.txt",
            online
        ),
        Self("opensuse", "openSUSE", "\(manager) of openSUSE", "http://conncheck.opensuse.org", header: status),
        Self("ubuntu", "Canonical", "\(manager) of Ubuntu", "http://connectivity-check.ubuntu.com"),
        Self(
            "windows",
            "Microsoft",
            "Windows",
            "http://www.msftconnecttest.com/connecttest.txt",
            "Microsoft Connect Test"
        ),
    ]

    private static let manager = "NetworkManager"
    private static let online = "NetworkManager is online"
    private static let status = HTTPCheck.Header(name: "X-NetworkManager-Status", value: "online")
    private static let applePage = "<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>"

    /// A check that is answered with a body or a field, or with 204 where it is answered with neither.
    private init(
        _ name: String,
        _ owner: String,
        _ purpose: String,
        _ url: String,
        _ body: String? = nil,
        header: HTTPCheck.Header? = nil
    ) {
        self.name = name
        self.owner = owner
        self.purpose = purpose
        let isEmpty = body == nil && header == nil
        self.check = HTTPCheck(url: url, status: isEmpty ? 204 : 200, body: body, header: header)
    }
}
