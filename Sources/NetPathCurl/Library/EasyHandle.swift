// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CCurl
import Glibc
import NetPathHTTP
import NetPathSystem

/// A transfer of libcurl (`libcurl-easy(3)`), used for one request after the other.
@safe final class EasyHandle {
    /// What all requests of a transport have in common.
    struct Configuration: Sendable {
        var certificateAuthority: String?
        var certificateFolder: String?
        var proxy: String?
    }

    let handle: UnsafeMutableRawPointer
    private let configuration: Configuration
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private var fields: UnsafeMutablePointer<curl_slist>?

    /// Makes a handle; nil when there is no memory.
    init?(_ configuration: Configuration) {
        guard let handle = unsafe curl_easy_init() else { return nil }
        self.configuration = configuration
        unsafe self.handle = unsafe handle
        unsafe self.errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe self.errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        unsafe curl_easy_cleanup(self.handle)
        unsafe curl_slist_free_all(self.fields)
        unsafe self.errorBuffer.deallocate()
    }

    /// Forgets the request, and keeps the memory.
    func reset() {
        unsafe curl_easy_reset(self.handle)
        unsafe curl_slist_free_all(self.fields)
        unsafe self.fields = nil
        unsafe self.errorBuffer.pointee = 0
    }

    /// Sets everything for a request whose body may be in a file; returns why libcurl refuses something.
    ///
    /// The transfer gets the calls; libcurl does not hold it.
    func prepare(
        _ request: TransportRequest,
        bodySize: Int?,
        asksFirst: Bool,
        for transfer: Transfer
    ) -> TransportError.Reason? {
        let options = unsafe OptionWriter(self.handle)
        unsafe options.set(CURLOPT_ERRORBUFFER, pointer: self.errorBuffer)
        options.set(CURLOPT_URL, request.url)
        // What is signed or routed by must arrive as it was written.
        options.set(CURLOPT_PATH_AS_IS, 1)
        options.set(CURLOPT_PROTOCOLS_STR, "http,https")
        options.set(CURLOPT_NOSIGNAL, 1)
        // A transfer that waits for its answer learns this way that the server is gone.
        options.set(CURLOPT_TCP_KEEPALIVE, 1)
        options.set(CURLOPT_TCP_KEEPIDLE, Self.keepAlive)
        options.set(CURLOPT_TCP_KEEPINTVL, Self.keepAlive)
        // A cancelled name lookup must not hold up all the other requests until it ends.
        options.set(CURLOPT_QUICK_EXIT, 1)
        // The answer of a proxy to CONNECT is not the answer to the request.
        options.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        options.set(CURLOPT_CONNECTTIMEOUT_MS, request.timeouts.connect.milliseconds)
        if let total = request.timeouts.total { options.set(CURLOPT_TIMEOUT_MS, total.milliseconds) }
        if let interface = request.interface { options.set(CURLOPT_INTERFACE, "if!\(interface)") }
        let (file, folder) = (self.configuration.certificateAuthority, self.configuration.certificateFolder)
        if file != nil || folder != nil {
            // libcurl has defaults of its own for both, and trusts either.
            unsafe file.map { options.set(CURLOPT_CAINFO, $0) } ?? options.set(CURLOPT_CAINFO, pointer: nil)
            unsafe folder.map { options.set(CURLOPT_CAPATH, $0) } ?? options.set(CURLOPT_CAPATH, pointer: nil)
        }
        if let proxy = self.configuration.proxy { options.set(CURLOPT_PROXY, proxy) }
        options.set(CURLOPT_USERAGENT, "netpath/\(netPathVersion)")
        options.set(methodAndBodyOf: request, bodySize: bodySize)
        guard self.makeFields(request, asksFirst: asksFirst) else { return .other }
        unsafe options.set(CURLOPT_HTTPHEADER, pointer: self.fields)
        options.set(callbacksOf: transfer)
        // A lack of memory may be over the next time.
        return options.refusal.map { $0 == CURLE_OUT_OF_MEMORY ? .other : .invalidRequest }
    }

    /// The seconds of silence after which the kernel probes the peer, and between probes (tcp(7)).
    private static let keepAlive = 30

    /// How long libcurl keeps connections that are idle (CURLOPT_MAXAGE_CONN, 118 s), and the second it rounds by.
    static let connectionAge: Duration = .seconds(120)

    /// Uses no connection that has been idle for that long.
    ///
    /// libcurl cannot be told to close what is idle, and counts in whole seconds: rather a connection too many.
    func refuseConnections(idleFor age: Duration) {
        let options = unsafe OptionWriter(self.handle)
        let seconds = Int(age.components.seconds)
        // To newer versions 0 means no limit.
        if seconds <= 1 {
            options.set(CURLOPT_FRESH_CONNECT, 1)
        } else if age < Self.connectionAge {
            options.set(CURLOPT_MAXAGE_CONN, min(seconds - 1, 118))
        }
    }

    /// Makes the header fields; false when there is no memory.
    private func makeFields(_ request: TransportRequest, asksFirst: Bool) -> Bool {
        var lines = request.headers.fields.map { field in
            // A colon without a value removes the field.
            field.value.allSatisfy(\.isWhitespace) ? "\(field.name);" : "\(field.name): \(field.value)"
        }
        // libcurl takes every body for a form unless told otherwise.
        if request.headers["Content-Type"] == nil { lines.append("Content-Type:") }
        if !asksFirst, request.headers["Expect"] == nil { lines.append("Expect:") }
        for line in lines {
            // Where it fails what was made before stays ours.
            guard let fields = unsafe curl_slist_append(self.fields, line) else { return false }
            unsafe self.fields = unsafe fields
        }
        return true
    }

    // MARK: What libcurl knows

    private func number(_ information: CURLINFO) -> Int {
        var number = 0
        _ = unsafe netpath_get_number(self.handle, information, &number)
        return number
    }

    private func offset(_ information: CURLINFO) -> Int64 {
        var offset = curl_off_t()
        _ = unsafe netpath_get_offset(self.handle, information, &offset)
        return Int64(offset)
    }

    /// How many bytes of heads were sent, of all attempts, and of those to get through a proxy.
    var sentHeadSize: Int { self.number(CURLINFO_REQUEST_SIZE) }

    var moved: StallWatch.Moved {
        var moved = StallWatch.Moved()
        moved.received = self.offset(CURLINFO_SIZE_DOWNLOAD_T) + Int64(self.number(CURLINFO_HEADER_SIZE))
        moved.uploaded = self.offset(CURLINFO_SIZE_UPLOAD_T)
        moved.sent = moved.uploaded + Int64(self.sentHeadSize)
        var socket: curl_socket_t = -1
        _ = unsafe netpath_get_socket(self.handle, &socket)
        if socket >= 0 { _ = unsafe ioctl(socket, UInt(TIOCOUTQ), &moved.unsent) }
        return moved
    }

    /// Tells the transfer of everything that comes, or of the body alone.
    func tellWhatComes(_ isTold: Bool) {
        unsafe OptionWriter(self.handle).set(CURLOPT_VERBOSE, isTold ? 1 : 0)
    }

    /// libcurl's own words for what went wrong; empty when it has none.
    var errorText: String { unsafe String(cString: self.errorBuffer) }

    /// What a code of libcurl means; nil for success.
    func failure(code: UInt32, isConnected: Bool, isHeadBegun: Bool) -> Transfer.Failure? {
        let code = CURLcode(rawValue: code)
        guard code != CURLE_OK else { return nil }
        let error = self.number(CURLINFO_OS_ERRNO)
        var reason = TransportError.Reason(code, systemError: Int32(truncatingIfNeeded: error), isConnected)
        var text = self.errorText.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : self.errorText
        // libcurl before 8.6 says the same of a line of a head for which its buffer is too small (CURLE_TOO_LARGE, 100, since).
        if code == CURLE_OUT_OF_MEMORY || code.rawValue == 100 {
            text += ", or a line in the head of the response that is longer than 100 KiB"
            if isHeadBegun { reason = .badResponse }
        }
        var failure = Transfer.Failure(reason, text)
        if code == CURLE_PEER_FAILED_VERIFICATION {
            let result = self.number(CURLINFO_SSL_VERIFYRESULT)
            failure.certificateFault = TransportError.CertificateFault(verifyResult: result)
        }
        return failure
    }
}

extension Duration {
    /// For libcurl, to which 0 means no limit or its own.
    fileprivate var milliseconds: Int { max(1, Int(clamping: Int64(min(self / .milliseconds(1), 1e12)))) }
}
