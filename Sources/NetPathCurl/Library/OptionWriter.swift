// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CCurl
import NetPathHTTP

/// Sets options of a transfer, and remembers why libcurl refused the first of those that it did.
@safe final class OptionWriter {
    private let handle: UnsafeMutableRawPointer
    private(set) var refusal: CURLcode?

    init(_ handle: UnsafeMutableRawPointer) {
        unsafe self.handle = unsafe handle
    }

    func set(_ option: CURLoption, _ value: Int) {
        self.note(unsafe netpath_set_number(self.handle, option, value))
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) {
        self.note(unsafe netpath_set_text(self.handle, option, value))
    }

    /// libcurl keeps the pointer.
    func set(_ option: CURLoption, pointer: UnsafeRawPointer?) {
        self.note(unsafe netpath_set_pointer(self.handle, option, pointer))
    }

    func set(methodAndBodyOf request: TransportRequest, bodySize: Int?) {
        switch request.body {
        case .file:
            self.set(CURLOPT_UPLOAD, 1)
            self.note(unsafe netpath_set_offset(self.handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(bodySize ?? 0)))
        case .bytes(let bytes):
            self.set(body: bytes)
        case .none where ["POST", "PUT", "PATCH"].contains(request.method):
            // Those methods anticipate a body, so that its length is sent even if it is 0 (RFC 9110, 8.6).
            self.set(body: [])
        case .none where request.method == "HEAD":
            self.set(CURLOPT_NOBODY, 1)
            return
        case .none:
            self.set(CURLOPT_HTTPGET, 1)
        }
        self.set(CURLOPT_CUSTOMREQUEST, request.method)
    }

    /// A body that libcurl copies: sent in one piece with the head if it is small.
    private func set(body: [UInt8]) {
        self.set(CURLOPT_POST, 1)
        self.note(unsafe netpath_set_offset(self.handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
        unsafe body.withUnsafeBytes { body in
            unsafe self.set(CURLOPT_COPYPOSTFIELDS, pointer: body.baseAddress ?? UnsafeRawPointer(self.handle))
        }
    }

    func set(callbacksOf transfer: Transfer) {
        let pointer = unsafe UnsafeRawPointer(Unmanaged.passUnretained(transfer).toOpaque())
        for option in [
            CURLOPT_PRIVATE, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA,
            CURLOPT_PREREQDATA, CURLOPT_DEBUGDATA,
        ] {
            unsafe self.set(option, pointer: pointer)
        }
        self.note(
            unsafe netpath_set_prerequest(self.handle) { transfer, _, localAddress, _, _ in
                let transfer = unsafe OptionWriter.transfer(transfer)
                transfer.localAddress = unsafe localAddress.map { unsafe String(cString: $0) }
                return transfer.mayBegin() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }
        )
        self.note(
            unsafe netpath_set_transfer(self.handle, CURLOPT_READFUNCTION) { buffer, _, count, transfer in
                let buffer = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count)
                return unsafe OptionWriter.transfer(transfer).read(into: buffer) ?? Int(CURL_READFUNC_ABORT)
            }
        )
        self.note(
            unsafe netpath_set_seek(self.handle) { transfer, offset, origin in
                let isDone = unsafe origin == SEEK_SET && OptionWriter.transfer(transfer).seek(to: Int(offset))
                return isDone ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
            }
        )
        self.note(
            unsafe netpath_set_transfer(self.handle, CURLOPT_WRITEFUNCTION) { bytes, _, count, transfer in
                let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
                return unsafe OptionWriter.transfer(transfer).takeBody(bytes) ? count : -1
            }
        )
        self.note(
            unsafe netpath_set_transfer(self.handle, CURLOPT_HEADERFUNCTION) { line, size, count, transfer in
                let line = unsafe Array(UnsafeRawBufferPointer(start: line, count: size * count))
                return unsafe OptionWriter.transfer(transfer).takeHeader(line) ? line.count : -1
            }
        )
        self.note(
            unsafe netpath_set_debug(self.handle) { _, kind, _, count, transfer in
                if kind == CURLINFO_DATA_IN { unsafe OptionWriter.transfer(transfer).came(count) }
                return 0
            }
        )
    }

    private static func transfer(_ pointer: UnsafeMutableRawPointer?) -> Transfer {
        guard let pointer = unsafe pointer else { preconditionFailure("libcurl lost the transfer") }
        return unsafe Unmanaged<Transfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func note(_ code: CURLcode) {
        if code != CURLE_OK, self.refusal == nil { self.refusal = code }
    }
}
