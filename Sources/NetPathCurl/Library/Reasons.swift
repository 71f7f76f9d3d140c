// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CCurl
import Glibc
import NetPathHTTP

extension TransportError.CertificateFault {
    /// What the result of a verification says (`X509_STORE_CTX_get_error(3)`).
    ///
    /// libcurl compares the name itself, after the chain was found good, and leaves 1 behind, which nothing else does.
    init(verifyResult: Int) {
        switch verifyResult {
        case 0, 1, 62, 64: self = .wrongName
        case 9: self = .notYetValid
        case 10: self = .expired
        case 2, 18, 19, 20, 21, 27: self = .untrusted
        default: self = .other
        }
    }
}

extension TransportError.Reason {
    /// What a code of libcurl says (`libcurl-errors(3)`), with the error of the last system call.
    init(_ code: CURLcode, systemError: Int32, _ isConnected: Bool) {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT: self = .invalidRequest
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .nameNotResolved
        case CURLE_COULDNT_CONNECT where systemError == ECONNREFUSED: self = .refused
        case CURLE_COULDNT_CONNECT where systemError == ETIMEDOUT: self = .connectTimedOut
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: self = .unreachable
        case CURLE_OPERATION_TIMEDOUT: self = isConnected ? .timedOut : .connectTimedOut
        // A handshake that the network ended says nothing about certificates.
        case CURLE_SSL_CONNECT_ERROR where [ECONNRESET, EPIPE, ETIMEDOUT, ENETUNREACH].contains(systemError):
            self = .connectionLost
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            self = .tls
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND,
            CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SSL_SHUTDOWN_FAILED:
            self = .connectionLost
        // Not supported is also what does not look like HTTP.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: self = .badResponse
        case CURLE_UNSUPPORTED_PROTOCOL: self = isConnected ? .badResponse : .invalidRequest
        default: self = .other
        }
    }
}
