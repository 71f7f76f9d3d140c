// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CCurl

/// libcurl's set of transfers and of the connections that are kept (`libcurl-multi(3)`).
///
/// Only ``wake()`` may be called on any thread, all else on one.
final class MultiHandle: Sendable {
    /// Connections that are kept for further requests.
    private static let connections = 64

    // As a number, because pointers are not sendable; it is valid as long as this object is.
    private let address: UInt

    /// Makes an empty set; nil when there is no memory or no descriptor.
    init?() {
        guard Self.isLibraryReady, let handle = unsafe curl_multi_init() else { return nil }
        self.address = UInt(bitPattern: handle)
        _ = unsafe netpath_set_multi_number(handle, CURLMOPT_MAXCONNECTS, Self.connections)
    }

    deinit {
        _ = unsafe curl_multi_cleanup(self.handle)
    }

    private var handle: UnsafeMutableRawPointer? { unsafe UnsafeMutableRawPointer(bitPattern: self.address) }

    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK

    /// Ends the current ``wait(until:)``, or else the next one.
    func wake() {
        _ = unsafe curl_multi_wakeup(self.handle)
    }

    /// Sleeps until a transfer can go on, or another thread wakes it.
    func wait(until deadline: ContinuousClock.Instant?) {
        // Rounded up: a remainder below a millisecond must not become a busy loop.
        let rest = deadline.map { min(max(.zero, $0 - .now) / .milliseconds(1) + 1, 1e9) }
        _ = unsafe curl_multi_poll(self.handle, nil, 0, rest.map { Int32($0) } ?? .max, nil)
    }

    func add(_ easy: EasyHandle) -> Bool {
        unsafe curl_multi_add_handle(self.handle, easy.handle) == CURLM_OK
    }

    func remove(_ easy: EasyHandle) {
        _ = unsafe curl_multi_remove_handle(self.handle, easy.handle)
    }

    func perform() {
        var running: Int32 = 0
        _ = unsafe curl_multi_perform(self.handle, &running)
    }

    /// The next transfer that has ended by itself, and libcurl's code for how.
    func nextResult() -> (Transfer, UInt32)? {
        var rest: Int32 = 0
        while let message = unsafe curl_multi_info_read(self.handle, &rest) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            var transfer: UnsafeMutableRawPointer?
            _ = unsafe netpath_get_private(message.pointee.easy_handle, &transfer)
            guard let transfer = unsafe transfer else { continue }
            let object = unsafe Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue()
            return (object, unsafe message.pointee.data.result.rawValue)
        }
        return nil
    }
}
