// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import NetPathTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct ResolverFilesTests {
    @Test func listenersHearOfEveryFileUntilTheyAreRemoved() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("hosts", "1")
        let files = ResolverFiles(paths: [directory["hosts"], directory["resolv.conf"]])
        let (first, firstCalls) = AsyncStream.makeStream(of: Void.self)
        let (second, secondCalls) = AsyncStream.makeStream(of: Void.self)
        let firstID = files.listen { firstCalls.yield() }
        let secondID = files.listen { secondCalls.yield() }
        var iterator = first.makeAsyncIterator()
        try directory.write("hosts", "2")
        await iterator.next()
        try directory.write("resolv.conf", "1")
        await iterator.next()
        files.remove(firstID)
        files.remove(secondID)
        // The thread has ended, and another one begins.
        let (third, thirdCalls) = AsyncStream.makeStream(of: Void.self)
        let thirdID = files.listen { thirdCalls.yield() }
        try directory.write("hosts", "3")
        var last = third.makeAsyncIterator()
        await last.next()
        files.remove(thirdID)
        secondCalls.finish()
        var count = 0
        for await _ in second { count += 1 }
        #expect(count >= 1)
    }
}
