// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Answers requests; knows no sockets.
package struct Site: Sendable {
    /// How many hours of history there are to ask for.
    package static let historyHours = 1...168

    package private(set) var access: Access

    package init(_ access: Access) {
        self.access = access
    }

    /// Takes other rules of who may ask; with another token, no browser is logged in any more.
    ///
    /// - Returns: Whether the token is another one.
    package mutating func apply(_ access: Access) -> Bool { self.access.apply(access) }

    /// Takes what the administrator should know; nil when there is nothing.
    package mutating func takeMessage() -> String? { self.access.takeMessage() }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - document: The newest state.
    ///   - now: The time since some moment.
    /// - Returns: The answer, or where it comes from.
    package mutating func answer(
        _ request: Request,
        document: [UInt8],
        now: Duration = .zero
    ) -> Outcome {
        var isScript = false
        let outcome = self.route(request, document: document, now: now, isScript: &isScript)
        // The banner's script has no data in it, and a page that pins it (SRI) has to read it.
        let origin =
            isScript ? [(name: "Access-Control-Allow-Origin", value: "*")] : self.access.originFields(request)
        let fields =
            Self.commonFields + origin + [("Cross-Origin-Resource-Policy", isScript ? "cross-origin" : "same-origin")]
        let noStore = [(name: "Cache-Control", value: "no-store")]
        switch outcome {
        case .response(var response):
            let hasOwnPolicy = response.field("Cache-Control") != nil
            response.fields += fields + (hasOwnPolicy ? [] : noStore)
            return .response(response)
        case .events(let lastEvent, _): return .events(lastEvent: lastEvent, fields: fields + noStore)
        case .work(let work, let type, _): return .work(work, type: type, fields: fields + noStore)
        }
    }

    /// What every answer says to browsers: load nothing from elsewhere, be in no frame, guess no types.
    static let commonFields: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
            form-action 'self'; frame-ancestors 'none'; base-uri 'none'
            """
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "same-origin"),
    ]

    // MARK: Routes

    private mutating func route(
        _ request: Request,
        document: [UInt8],
        now: Duration,
        isScript: inout Bool
    ) -> Outcome {
        if let refusal = self.access.refusal(of: request) { return .response(refusal) }
        guard let route = Route(rawValue: request.path) else {
            return .response(.refusal(404, "there is no such page; /openapi.json lists them"))
        }
        isScript = route == .banner || route == .bannerTypes
        if request.method == "OPTIONS" { return .response(self.preflight(request, route)) }
        guard route.methods.contains(request.method) else {
            let allow = [("Allow", route.methods.joined(separator: ", "))]
            return .response(.refusal(405, "this page does not allow the method", fields: allow))
        }
        switch route.isPublic ? .admitted : self.access.admission(of: request, now: now) {
        case .admitted: break
        case .slowedDown(let wait): return .response(Self.slowDown(wait))
        case .refused:
            if route == .page { return .response(Response(401, MediaType.html, PackageResources.login_html)) }
            let challenge = [("WWW-Authenticate", #"Bearer realm="netpath""#)]
            let advice: StaticString =
                request.field("authorization") == nil
                ? "send the token: Authorization: Bearer …" : "that is not the token; send Authorization: Bearer …"
            return .response(.refusal(401, advice, fields: challenge))
        }
        if route == .page {
            let page = PageText.page(host: self.access.shownHost)
            return .response(Response(200, MediaType.html, page, fields: [("Cache-Control", "no-cache")]))
        }
        if let file = route.file {
            return .response(Response(200, file.type, file.bytes, fields: [("Cache-Control", "no-cache")]))
        }
        return self.data(route, request, document: document, now: now)
    }

    private mutating func data(
        _ route: Route,
        _ request: Request,
        document: [UInt8],
        now: Duration
    ) -> Outcome {
        switch route {
        case .status: return .response(Response(200, MediaType.json, document + [0x0A]))
        case .events:
            // HEAD asks what would come.
            if request.method == "HEAD" { return .response(Response(200, MediaType.events, [])) }
            return .events(lastEvent: request.field("last-event-id"), fields: [])
        case .details: return .work(.details, type: MediaType.json, fields: [])
        case .history:
            guard let hours = request.query.isEmpty ? 24 : request.queryValue("hours").flatMap({ Int($0) }),
                Self.historyHours.contains(hours)
            else { return .response(.refusal(400, "hours is a whole number from 1 to 168")) }
            let work = Work.history(hours: hours, withMessages: self.access.showsMessages(to: request.peer))
            return .work(work, type: MediaType.json, fields: [])
        case .metrics:
            let isOpen = request.field("accept")?.contains("application/openmetrics-text") == true
            let type = isOpen ? MediaType.openMetrics : MediaType.prometheus
            return .work(.metrics(isOpenMetrics: isOpen), type: type, fields: [])
        case .logIn, .logOut:
            guard self.access.isOwnForm(request) else {
                return .response(.refusal(403, "the form came from another site"))
            }
            if route == .logIn { return .response(self.logIn(request, now: now)) }
            return .response(Self.toPage(setting: self.access.logOut(request)))
        default: return .response(Response(200, MediaType.text, Array("ok\n".utf8)))
        }
    }

    // MARK: Logging in

    private mutating func logIn(_ request: Request, now: Duration) -> Response {
        switch self.access.logIn(request, now: now) {
        case .slowedDown(let wait): return Self.slowDown(wait)
        case .refused: return Response(401, MediaType.html, PageText.loginAfterWrongToken)
        case .admitted: return Self.toPage(setting: self.access.beginSession(request))
        }
    }

    /// Sends the browser to the page, with another cookie.
    private static func toPage(setting cookie: String) -> Response {
        Response(303, MediaType.text, [], fields: [("Location", "./"), ("Set-Cookie", cookie)])
    }

    private static func slowDown(_ wait: Duration) -> Response {
        let seconds = wait.components.seconds + 1
        return .refusal(
            429,
            "too many wrong tokens came from this address; try again later",
            fields: [("Retry-After", "\(seconds)")]
        )
    }

    /// What a browser asks before it sends a token for a page of another origin.
    private func preflight(_ request: Request, _ route: Route) -> Response {
        let allow = [
            ("Allow", route.methods.joined(separator: ", ")),
            ("Access-Control-Allow-Headers", "Authorization, Last-Event-ID"),
            ("Access-Control-Max-Age", "600"),
        ]
        return Response(204, MediaType.text, [], fields: allow)
    }
}
