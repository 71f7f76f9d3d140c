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
        Self(
            "apple",
            "Apple",
            "iOS and macOS",
            "http://captive.apple.com/hotspot-detect.html",
            200,
            body: "<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>"
        ),
        Self(
            "arch",
            "Arch Linux",
            "NetworkManager of Arch Linux",
            "http://ping.archlinux.org/nm-check.txt",
            200,
            body: "NetworkManager is online"
        ),
        Self(
            "debian",
            "Debian",
            "NetworkManager of Debian",
            "http://network-test.debian.org/nm",
            200,
            body: "NetworkManager is online"
        ),
        Self(
            "fedora",
            "the Fedora project",
            "NetworkManager of Fedora",
            "http://fedoraproject.org/static/hotspot.txt",
            200,
            body: "OK"
        ),
        Self("firefox", "Mozilla", "Firefox", "http://detectportal.firefox.com/success.txt", 200, body: "success"),
        Self(
            "gnome",
            "the GNOME project",
            "NetworkManager and GNOME",
            "http://nmcheck.gnome.org/check_network_status.txt",
            200,
            body: "NetworkManager is online"
        ),
        Self(
            "opensuse",
            "openSUSE",
            "NetworkManager of openSUSE",
            "http://conncheck.opensuse.org",
            200,
            header: HTTPCheck.Header(name: "X-NetworkManager-Status", value: "online")
        ),
        Self("ubuntu", "Canonical", "NetworkManager of Ubuntu", "http://connectivity-check.ubuntu.com", 204),
        Self(
            "windows",
            "Microsoft",
            "Windows",
            "http://www.msftconnecttest.com/connecttest.txt",
            200,
            body: "Microsoft Connect Test"
        ),
    ]

    private init(
        _ name: String,
        _ owner: String,
        _ purpose: String,
        _ url: String,
        _ status: Int = 204,
        body: String? = nil,
        header: HTTPCheck.Header? = nil
    ) {
        self.name = name
        self.owner = owner
        self.purpose = purpose
        self.check = HTTPCheck(url: url, status: status, body: body, header: header)
    }
}
