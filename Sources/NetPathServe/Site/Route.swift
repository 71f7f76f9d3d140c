// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What there is to ask for.
package enum Route: String, CaseIterable, Sendable {
    case page = "/"
    case style = "/page.css"
    case script = "/page.js"
    case status = "/status"
    case events = "/events"
    case details = "/details"
    case history = "/history"
    case metrics = "/metrics"
    case health = "/healthz"
    case description = "/openapi.json"
    case banner = "/banner.js"
    case bannerTypes = "/banner.d.ts"
    case demo = "/demo"
    case demoScript = "/demo.js"
    case logIn = "/login"
    case logOut = "/logout"

    /// The methods that it takes.
    package var methods: [String] {
        switch self {
        case .logIn, .logOut: ["POST"]
        default: ["GET", "HEAD"]
        }
    }

    /// Whether it holds nothing of this machine, so that everybody may have it.
    package var isPublic: Bool {
        switch self {
        case .style, .health, .banner, .bannerTypes, .logIn: true
        default: false
        }
    }

    /// What is always the same; nil for the others.
    var file: (type: String, bytes: [UInt8])? {
        switch self {
        case .page: (MediaType.html, PackageResources.page_html)
        case .style: (MediaType.css, PackageResources.page_css)
        case .script: (MediaType.script, PackageResources.page_js)
        case .description: (MediaType.json, PackageResources.openapi_json)
        case .banner: (MediaType.script, PackageResources.banner_js)
        case .bannerTypes: (MediaType.text, PackageResources.banner_d_ts)
        case .demo: (MediaType.html, PackageResources.demo_html)
        case .demoScript: (MediaType.script, PackageResources.demo_js)
        case .status, .events, .details, .history, .metrics, .health, .logIn, .logOut: nil
        }
    }
}
