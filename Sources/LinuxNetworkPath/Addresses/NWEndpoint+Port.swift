// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension NWEndpoint {
    /// A port of TCP or UDP.
    public struct Port: Hashable, CustomDebugStringConvertible, ExpressibleByIntegerLiteral, RawRepresentable, Sendable
    {
        /// Literals are 16 bits wide.
        public typealias IntegerLiteralType = UInt16

        /// 0: any port.
        public static let any: NWEndpoint.Port = 0
        /// 22: SSH.
        public static let ssh: NWEndpoint.Port = 22
        /// 25: SMTP.
        public static let smtp: NWEndpoint.Port = 25
        /// 80: HTTP.
        public static let http: NWEndpoint.Port = 80
        /// 110: POP.
        public static let pop: NWEndpoint.Port = 110
        /// 143: IMAP.
        public static let imap: NWEndpoint.Port = 143
        /// 443: HTTPS.
        public static let https: NWEndpoint.Port = 443
        /// 993: IMAP over TLS.
        public static let imaps: NWEndpoint.Port = 993
        /// 1080: SOCKS.
        public static let socks: NWEndpoint.Port = 1080

        private let number: UInt16

        /// The number.
        public var rawValue: UInt16 { self.number }

        /// Creates a port from a number, or from the name of a service in `/etc/services`; nil for other texts.
        public init?(_ service: String) {
            // The C library would take a number that is too large modulo 65536.
            let isNumber = service.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            guard let number = isNumber ? UInt16(service) : NameTables.port(of: service) else { return nil }
            self.number = number
        }

        /// Creates a port from a literal.
        public init(integerLiteral: UInt16) {
            self.number = integerLiteral
        }

        /// Creates a port from a number; never nil.
        public init?(rawValue: UInt16) {
            self.number = rawValue
        }

        /// The number in decimal.
        public var debugDescription: String { String(self.number) }
    }
}
