// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDBSQLite

extension OfflineRequestQueue {
    /// The C library that queues are stored with, and the version of that, not of the headers: `SQLite 3.40.1`.
    package static let library = unsafe "SQLite \(String(cString: sqlite3_libversion()))"
}
