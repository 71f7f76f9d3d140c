// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathCLI

/// What listens in the place of a service, and is none.
@Suite(.timeLimit(.minutes(5)))
struct ServiceClientTests {
    private let folder: TemporaryDirectory

    init() throws { self.folder = try TemporaryDirectory() }

    /// A limit is that of the whole answer: one byte now and then is no answer.
    @Test func bytesThatDripHoldUpNoQuestion() async throws {
        let folders = ServiceFolders(runtime: self.folder.path, state: self.folder.path)
        let listener = try #require(FileDescriptor(Glibc.socket(AF_UNIX, SocketType.blockingStream, 0)))
        #expect(unsafe UnixAddress(folders.socket).with({ unsafe bind(listener.number, $0, $1) }) == 0)
        #expect(listen(listener.number, 1) == 0)
        async let failure = onBlockingThread { () -> Int32? in
            do {
                _ = try ServiceClient([folders])?.ask(.snapshot, limit: .milliseconds(300))
                return nil
            } catch { return (error as? SystemError)?.errno }
        }
        let accepted = try await onBlockingThread { [number = listener.number] in accept(number, nil, nil) }
        let connection = try #require(FileDescriptor(accepted))
        async let drops = onBlockingThread { [number = connection.number] in
            var drops = 0
            // Until the client has gone, or for much longer than it may wait.
            while drops < 1_000, unsafe send(number, "[", 1, Int32(MSG_NOSIGNAL)) == 1 {
                drops += 1
                usleep(20_000)
            }
            return drops
        }
        #expect(try await failure == ETIMEDOUT)
        #expect(try await drops < 1_000)
    }
}
