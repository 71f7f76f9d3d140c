// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A wall clock that jumps while a program runs.
///
/// Linux has no namespace for it, so a library between the program and the system adds an offset, which it shares with
/// the test. The clocks that never jump stay as they are.
package struct WallClock {
    /// What a program is started with.
    package let environment: [String: String]
    private let file: String

    /// Makes one that is not off.
    ///
    /// - Throws: ``LabError`` when there is no C compiler.
    package init(in lab: NetworkNamespace) throws {
        self.file = "\(lab.directory)/clock-offset"
        let library = "\(lab.directory)/clock.so"
        self.environment = ["LD_PRELOAD": library, "WALL_CLOCK_OFFSET": self.file]
        try Data(Self.source.utf8).write(to: URL(fileURLWithPath: "\(lab.directory)/clock.c"))
        try self.set(.zero)
        try lab.run("cc -O1 -shared -fPIC -o \(library) \(lab.directory)/clock.c")
    }

    /// Sets how far it is off.
    package func set(_ offset: Duration) throws {
        var seconds = offset.components.seconds
        let data = unsafe Data(bytes: &seconds, count: 8)
        if let handle = FileHandle(forWritingAtPath: self.file) {
            try handle.write(contentsOf: data)
            try handle.close()
        } else {
            try data.write(to: URL(fileURLWithPath: self.file))
        }
    }

    private static let source = #"""
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdint.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>

        static const volatile int64_t *offset;
        __attribute__((constructor)) static void begin(void) {
            int file = open(getenv("WALL_CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
            offset = mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
            close(file);
        }
        int clock_gettime(clockid_t clock, struct timespec *time) {
            int result = (int)syscall(SYS_clock_gettime, clock, time);
            if (offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *offset;
            return result;
        }
        int gettimeofday(struct timeval *restrict time, void *restrict zone) {
            int result = (int)syscall(SYS_gettimeofday, time, zone);
            if (offset) time->tv_sec += *offset;
            return result;
        }
        time_t time(time_t *place) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (place) *place = now.tv_sec;
            return now.tv_sec;
        }
        """#
}
