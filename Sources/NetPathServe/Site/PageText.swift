// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Pages with a word in them that is another one on each machine.
enum PageText {
    /// The status page, with the name of the machine; without it where that is nil.
    static func page(host: String?) -> [UInt8] {
        self.replace(
            #"data-host="""#,
            with: "data-host=\"\(self.escaped(host ?? ""))\"",
            in: PackageResources.page_html
        )
    }

    /// The form for the token, which says that the one that was sent is not the right one.
    static let loginAfterWrongToken = Self.replace(
        "<!-- refused -->",
        with: #"<p role="alert">That token is wrong.</p>"#,
        in: PackageResources.login_html
    )

    private static func replace(_ mark: String, with text: String, in page: [UInt8]) -> [UInt8] {
        let parts = String(decoding: page, as: UTF8.self).split(separator: mark, maxSplits: 1)
        return Array(parts.joined(separator: text).utf8)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
