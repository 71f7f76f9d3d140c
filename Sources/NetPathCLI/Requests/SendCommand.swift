// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import ArgumentParser

/// `netpath send`.
package struct SendCommand: RequestCommand {
    /// What to do when a request with the same unique key is waiting.
    package enum IfExists: String, CaseIterable, ExpressibleByArgument, Sendable {
        case keep
        case replace
    }

    /// What becomes of those behind a request that failed for good.
    package enum OnFailure: String, CaseIterable, ExpressibleByArgument, Sendable {
        case hold
        case skip
        case dropLane = "drop-lane"
    }

    /// What goes first.
    package enum Priority: String, CaseIterable, ExpressibleByArgument, Sendable {
        case low
        case normal
        case high
    }

    /// What the path must lead over.
    package enum Link: String, CaseIterable, ExpressibleByArgument, Sendable {
        case wifi
        case cellular
        case wired
    }

    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "send",
            abstract: "Put an HTTP request on disk, to be sent when there is a path, and return at once.",
            discussion: """
                When the command returns, the request is on the disk, and its identifier has been printed. It goes out \
                when 'queue run' runs, or any other program that uses the same file, and is repeated until the server \
                has answered. Every repeat carries the same Idempotency-Key header, so that a server that honours it \
                acts once. Redirections are not followed.

                With --wait the command sends this request itself, and no other, unless another program sends already, \
                and prints the body of the response; like 'queue run' it applies the rules of the configuration about \
                interfaces, which say what is metered. The exit status is then 0 when the server accepted it, 1 when \
                it refused it or the request was given up, and 3 when --timeout ended first; the request stays in the \
                queue then, unless another process held the file locked until then: the message says so.
                """,
            shouldDisplay: ToolContext.current.offersRequests()
        )
    }

    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp("The method. Default: POST with data, GET without.", valueName: "method")
    )
    package var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "Send this header, or those that are the lines of @file; may be repeated.",
            discussion: """
                Other users see what is typed (ps): put a secret into a file. Other commands show the values of \
                harmless headers only, unless --show-secrets is given.
                """,
            valueName: "name: value"
        )
    )
    package var headers: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Do not show the value of this header either; may be repeated.", valueName: "name")
    )
    package var sensitive: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Send this; @file sends a file, which is copied, and - what comes on standard input.",
            discussion: """
                May be repeated: the parts are joined with &. Without a Content-Type among the headers that is \
                application/x-www-form-urlencoded.
                """,
            valueName: "data"
        )
    )
    package var data: [String] = []

    @Option(
        help: ArgumentHelp(
            "Send this percent-encoded, after what -d gives; may be repeated.",
            discussion: "As with curl: content, =content, name=content, @file, or name@file.",
            valueName: "data"
        )
    )
    package var dataUrlencode: [String] = []

    @Option(help: ArgumentHelp("A name for the kind of request, for 'queue cancel --type'.", valueName: "type"))
    package var type: String?

    @Option(help: ArgumentHelp("Send the requests with this key one at a time, in order.", valueName: "key"))
    package var key: String?

    @Option(
        help: """
            When it is given up: hold those of its --key behind it, skip to the next, or drop-lane, which gives them up, too.
            """
    )
    package var onFailure: OnFailure?

    @Option(help: ArgumentHelp("Keep at most one waiting request with this key; see --if-exists.", valueName: "key"))
    package var unique: String?

    @Option(help: "What to do when a request with the same --unique is waiting: keep that one, unless told otherwise.")
    package var ifExists: IfExists?

    @Option(
        help: ArgumentHelp(
            "Send this as the Idempotency-Key, in quotation marks (RFC 8941). Default: the identifier of the request.",
            valueName: "key"
        )
    )
    package var idempotencyKey: String?

    @Flag(help: "Send no Idempotency-Key.")
    package var noIdempotencyKey = false

    @Option(help: "Whether it goes before or after others.")
    package var priority = Priority.normal

    @Option(help: ArgumentHelp("Give up after this long, for example 1h. Default: 7 days.", valueName: "duration"))
    package var expiresIn: TimeLimit?

    @Option(
        help: ArgumentHelp(
            "Give up after this many repeats; those that no server answered do not count. Default: 10.",
            valueName: "number"
        )
    )
    package var maxRetries: Int?

    @Option(help: ArgumentHelp("End an attempt after this long. Default: 1h.", valueName: "duration"))
    package var maxTime: TimeLimit?

    @Option(
        help: ArgumentHelp(
            "End an attempt when almost no data moves for this long. Default: 30s.",
            discussion: "The time until the server begins to answer counts towards --max-time only.",
            valueName: "duration"
        )
    )
    package var stallTime: TimeLimit?

    @Option(
        help: ArgumentHelp(
            "Keep at most this much of a response, and drop the rest, for example 64K. Default: 4M.",
            valueName: "bytes"
        )
    )
    package var maxResponse: ByteCount?

    @Option(
        help: ArgumentHelp(
            "Count an answer with this status as success, and no other, for example 201 or 200-204; may be repeated.",
            discussion: """
                Another 2xx over https is the server's, and the request is held at once. Over plain http a captive \
                portal may have given it: unless probes find that the internet is there, the request is sent again, up \
                to --max-retries times, and then held. --wait says so each time.
                """,
            valueName: "status"
        )
    )
    package var expectStatus: [String] = []

    @Option(
        help: ArgumentHelp(
            "Count an answer as success only if it has this header, its value beginning so; may be repeated.",
            discussion: "An answer without it is treated as one that --expect-status does not name.",
            valueName: "name[: value]"
        )
    )
    package var expectHeader: [String] = []

    @Flag(help: "Wait for a path that is not metered.")
    package var unmeteredOnly = false

    @Option(help: "Wait for a path over an interface of this type.")
    package var interfaceType: Link?

    @Flag(help: "Wait for the response and print its body.")
    package var wait = false

    @Option(help: ArgumentHelp("With --wait: wait at most this long, for example 30s.", valueName: "duration"))
    package var timeout: TimeLimit?

    @OptionGroup
    package var trust: TrustOptions

    @OptionGroup
    package var secrets: SecretsOption

    @Argument(help: ArgumentHelp("The address, with http:// or https://.", valueName: "url"))
    package var url: String

    @OptionGroup
    package var common: CommonRequestOptions

    package init() {}

    package func validate() throws {
        if self.idempotencyKey != nil, self.noIdempotencyKey {
            throw ValidationError(
                "--idempotency-key and --no-idempotency-key exclude each other: leave out one of them"
            )
        }
        if self.timeout != nil, !self.wait {
            throw ValidationError("--timeout needs --wait")
        }
        if !self.wait {
            if self.trust.file != nil || self.trust.folder != nil {
                throw ValidationError("--cacert and --capath are for --wait, which sends: give them to 'queue run'")
            }
            if self.secrets.showSecrets { throw ValidationError("--show-secrets is for what --wait --json shows") }
        }
        if let limit = self.expiresIn, limit.duration <= .zero {
            throw ValidationError("--expires-in must be more than 0: the request would never be sent")
        }
        let inputs = self.data.count { SendCommand.isStandardInput($0) }
        if inputs > 1 { throw ValidationError("-d - reads standard input, which can be read only once") }
        if self.ifExists != nil, self.unique == nil { throw ValidationError("--if-exists needs --unique") }
        if self.onFailure != nil, self.key == nil { throw ValidationError("--on-failure needs --key") }
        if let count = self.maxRetries, count < 0 {
            throw ValidationError("--max-retries must be at least 0, found \(count)")
        }
        for text in self.expectStatus where Self.statuses(text) == nil {
            throw ValidationError("--expect-status takes a status or a range, such as 200-204, found '\(text.safe)'")
        }
        for text in self.expectHeader where text.isEmpty || text.hasPrefix(":") {
            throw ValidationError("--expect-header takes a name, or 'Name: value', found '\(text.safe)'")
        }
        try Self.validate(headers: self.headers)
    }

    /// Makes sure that headers are some.
    static func validate(headers: [String]) throws {
        for header in headers where Self.field(header) == nil && (!header.hasPrefix("@") || header.count < 2) {
            throw ValidationError("-H takes 'Name: value' or @file, found '\(header.safe)'")
        }
    }

    /// Reads a status or a range of them; nil when it is none.
    package static func statuses(_ text: String) -> ClosedRange<Int>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last,
            200...599 ~= first, 200...599 ~= last
        else { return nil }
        return first...last
    }

    /// Whether data is what comes on standard input.
    package static func isStandardInput(_ data: String) -> Bool { data == "-" || data == "@-" }

    /// Splits a header; nil when it is none.
    package static func field(_ text: String) -> (name: String, value: String)? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon > text.startIndex else { return nil }
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var value = text[colon...].dropFirst().drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        return (String(text[..<colon]), String(value))
    }
}
