// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a monitor has seen and nothing shows any more, so that a program that starts now knows less.
///
/// These are the rows of "Where a fresh look knows less" in Evaluation.md.
enum MonitorMemory: String, CaseIterable, Sendable {
    /// Which interface a tunnel stood beside before that one lost its routes.
    case tunnelCarrier = "what carried a tunnel before"
    /// Which interface carried the path before it lost its addresses or was set down.
    case formerPath = "which interface carried the path"
    /// Behind which port of a bridge the gateway was, before the kernel forgot the port's entries with its carrier.
    case gatewayPort = "behind which port of a bridge a gateway was"

    /// Whether a program that starts now may say this where a monitor says that.
    ///
    /// It may say that there is a path and what is doubtful about it, or why else there is none; never the opposite without
    /// a hint.
    func allows(_ fresh: SaidPath, beside watched: SaidPath) -> Bool {
        switch self {
        case .tunnelCarrier, .gatewayPort:
            watched.status != "satisfied" && (fresh.isDoubtful || fresh.status == watched.status)
        case .formerPath: fresh.status == watched.status && fresh.status != "satisfied"
        }
    }
}
