// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Reads parts of a file that nobody writes to.
struct FileReader: Sendable {
    private let descriptor: FileDescriptor
    /// How many octets it has.
    let size: Int

    init(_ path: String) throws(QueueError) {
        guard let descriptor = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC)) else {
            throw StoreFiles.error(errno, path)
        }
        self.descriptor = descriptor
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw StoreFiles.error(errno, path) }
        self.size = Int(status.st_size)
    }

    /// Reads octets; fewer where the file ends or cannot be read.
    func read(at place: Int, count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
            read = 0
            while read < count {
                let got = unsafe pread(
                    self.descriptor.number,
                    buffer.baseAddress?.advanced(by: read),
                    count - read,
                    off_t(place + read)
                )
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { return }
                read += got
            }
        }
    }
}
