// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathHTTP
import NetPathHTTPProbe

/// What is true of a network, as the table of checks has it.
enum Truth: String, Sendable {
    /// The internet can be reached.
    case internet
    /// A portal wants somebody to sign in.
    case portal
    /// Nobody answers whom one could believe.
    case nothing
    /// The internet is there, and the server, or the clock of this machine, is at fault.
    case fault

    func isTold(by internet: InternetReachability) -> Bool {
        switch self {
        case .internet: internet == .reachable
        case .portal: internet == .portal
        case .nothing: internet == .unreachable
        case .fault: internet == .unknown || internet == .reachable
        }
    }
}

/// What others make of an answer: computed from their rules, as neither runs in these tests.
enum Rivals {
    /// `NMConnectivityState` (NetworkManager, `src/core/nm-connectivity.c` at dc2afc9b).
    enum NetworkManager: String, Sendable {
        case full = "FULL"
        case portal = "PORTAL"
        case limited = "LIMITED"

        func tells(_ truth: Truth) -> Bool {
            switch truth {
            case .internet, .fault: self == .full
            case .portal: self == .portal
            case .nothing: self == .limited
            }
        }
    }

    /// One address, no redirect followed, 20 s.
    ///
    /// An error of libcurl is LIMITED. `X-NetworkManager-Status: online` is FULL.
    /// Where no body is expected, 204, or 200 without a body, is FULL; otherwise a body that begins as expected is.
    /// Everything else, whatever its status, is PORTAL.
    static func networkManager(
        _ result: Result<TransportResponse, TransportError>,
        to check: HTTPCheck
    ) -> NetworkManager {
        guard case .success(let response) = result else { return .limited }
        if response.headers["X-NetworkManager-Status"]?.lowercased() == "online" { return .full }
        guard let body = check.body else {
            return response.status == 204 || (response.status == 200 && response.body.isEmpty) ? .full : .portal
        }
        return response.body.starts(with: Array(body.utf8)) ? .full : .portal
    }

    /// `QNetworkInformation::isBehindCaptivePortal` and whether `reachability` is `Online`, which are NetworkManager's
    /// word (qtbase, `qnetworkmanagernetworkinformationbackend.cpp` at 05fc3aef): `Online` is
    /// NM_STATE_CONNECTED_GLOBAL, which NetworkManager takes on with FULL.
    static func qt(_ state: NetworkManager) -> (isBehindCaptivePortal: Bool, isOnline: Bool) {
        (state == .portal, state == .full)
    }
}
