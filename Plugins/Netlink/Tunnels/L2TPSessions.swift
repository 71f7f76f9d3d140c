// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// The PPP interfaces that L2TP carries (RFC 2661), as procfs shows them.
///
/// PPP is mostly a line to a provider; over L2TP it is a tunnel, of which no far end is shown.
enum L2TPSessions {
    /// Reads the names of the interfaces; empty where nothing can be read.
    static func interfaces(procfs: String = "/proc/thread-self/net") -> Set<String> {
        FileAccess.contents("\(procfs)/pppol2tp").map { Self.interfaces(in: $0) } ?? []
    }

    /// Finds the names in the text of the kernel (`pppol2tp_seq_session_show` of `net/l2tp/l2tp_ppp.c`).
    static func interfaces(in text: String) -> Set<String> {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        return Set(lines.compactMap { $0.count == 2 && $0[0] == "interface" ? String($0[1]) : nil })
    }
}
