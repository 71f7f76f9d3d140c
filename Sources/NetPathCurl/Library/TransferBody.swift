// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP

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
            let room = max(0, self.job.request.responseLimit - self.body.count)
            if bytes.count > room { self.isCut = true }
            unsafe self.body.append(contentsOf: bytes.prefix(room))
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
