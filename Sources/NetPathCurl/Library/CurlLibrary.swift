// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CCurl

extension CurlTransport {
    /// The C library that it sends with, and the version of that, not of the headers: `libcurl 7.88.1`.
    package static var library: String {
        // libcurl/7.88.1 OpenSSL/3.0.11 and so on.
        let versions = unsafe String(cString: curl_version())
        return String(versions.prefix { $0 != " " }.replacing("/", with: " "))
    }
}
