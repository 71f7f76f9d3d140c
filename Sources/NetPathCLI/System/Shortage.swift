// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import Synchronization

/// What to do where the system grants too few threads or too little memory.
///
/// libdispatch does not give up in such a place: it tries every second for ever, on the thread that asks, which may be the
/// main one, and no wait of this program's own ends that.
package enum Shortage: Sendable {
    /// What the libraries need besides the stacks of threads.
    private static let memory = 32 << 20

    /// Finds out whether threads and memory are granted, before anything is opened that cannot do without.
    ///
    /// - Parameter threads: How many threads are needed at the same time.
    /// - Throws: `ToolFailure` where they are not.
    package static func check(threads: Int) throws(ToolFailure) {
        var limit = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != .max {
            Self.keepHeapSmall()
        }
        // Keeps threads until all of them are there.
        let gate = Mutex(())
        let pass = { @Sendable in gate.withLock { _ in } }
        let isEnough = gate.withLock { _ in
            // Their stacks stay with the process, for those that come later.
            guard (0..<threads).allSatisfy({ _ in BackgroundThread.start(pass) }) else { return false }
            return Self.isMemoryLeft
        }
        if isEnough { return }
        throw ToolFailure(
            .failure,
            "the system grants too few threads or too little memory: netpath needs \(threads) threads and "
                + "another 32 MiB; allow more with 'ulimit -u' and 'ulimit -v', or TasksMax= of the unit"
        )
    }

    /// Ends the process with the status of a limit that has passed, a while after that limit, whatever holds it up.
    package static func end(after limit: Duration) {
        // Those that wait for other processes and for the end of the queue take less.
        let seconds = UInt32(clamping: (limit + .seconds(15)).components.seconds)
        _ = signal(SIGALRM) { _ in
            // Only what a signal handler may call (signal-safety(7)).
            let text: StaticString =
                "netpath: error: timed out, and the program cannot end by itself: no thread or no memory is left\n"
            _ = unsafe write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
            _exit(ToolStatus.timedOut.rawValue)
        }
        _ = alarm(seconds)
    }

    /// Has all threads share one heap, which gives back what is free at its end: mallopt(3).
    ///
    /// Each further heap takes 64 MiB of addresses, and keeps most of the memory that a thread of a hook, a plugin or a page
    /// ever held. And glibc keeps twice as much as the largest block that was ever freed, unless it is told how much: that was
    /// 0.4 of the 3.5 MiB of a service. Larger blocks are mapped each time then. Called before there are other threads.
    package static func keepHeapSmall() {
        typealias SetOption = @convention(c) (_ option: Int32, _ value: Int32) -> Int32
        // No module has malloc.h, with M_ARENA_MAX and M_TRIM_THRESHOLD.
        guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
        let setOption = unsafe unsafeBitCast(symbol, to: SetOption.self)
        _ = setOption(-8, 1)
        _ = setOption(-1, 128 << 10)
    }

    /// Gives the system back what no thread uses of the heap: malloc_trim(3), which glibc does by itself at the end of a heap only.
    ///
    /// It looks through the whole heap: for a thread that made something large, and waits for nothing.
    package static func returnMemory() {
        typealias Trim = @convention(c) (Int) -> Int32
        guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
        _ = unsafe unsafeBitCast(symbol, to: Trim.self)(0)
    }

    private static var isMemoryLeft: Bool {
        let access = PROT_READ | PROT_WRITE
        guard let pages = unsafe mmap(nil, Self.memory, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            unsafe pages != MAP_FAILED
        else { return false }
        _ = unsafe munmap(pages, Self.memory)
        return true
    }
}
