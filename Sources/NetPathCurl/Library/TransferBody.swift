// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension Transfer {
    /// Reads from the file of the body; nil ends the transfer.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        do throws(Failure) {
            return unsafe try self.source?.read(into: buffer) ?? 0
        } catch {
            self.failure = error
            return nil
        }
    }

    /// Keeps a part of the response, and says whether more may come.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let destination = self.destination, self.isSuccess else {
            unsafe self.body.append(contentsOf: bytes.prefix(self.room(for: bytes.count)))
            return !self.isCut
        }
        do throws(Failure) {
            unsafe try destination.write(bytes)
            return true
        } catch {
            self.failure = error
            return false
        }
    }
}
