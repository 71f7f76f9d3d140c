// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP
import OfflineRequests

/// Asks for an answer now, and says what came.
func fetch() async throws {
    let queue = try OfflineRequestQueue(file: options.file, settings: options.settings)
    let client = OfflineClient(baseURL: "", queue: queue)
    say(["begin": options.file])
    do {
        say(["status": "\(try await client.fetchWithOfflineSupport(options.request(0)).status)"])
    } catch {
        say(["error": "\(error)"])
    }
    await queue.shutdown(within: .seconds(1))
}
