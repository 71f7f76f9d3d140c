// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Notices that a server sends more and more of what is around the body and hardly any of that: extensions of chunks (RFC
/// 9112, 7.1.1), which libcurl reads for ever and counts nowhere.
///
/// What comes is counted only while the body hardly grows from look to look: libcurl has to write down what it does for that.
struct FramingWatch {
    /// How many bytes there may be.
    static let limit: Int64 = 1 << 20
    /// How many more for every byte of the body: it may come in chunks of one.
    private static let perByte: Int64 = 64
    /// By how much the body grows from look to look, if it does.
    private static let growth: Int64 = 4096

    /// How long the body was at the last look, and when counting began.
    private var body: Int64?
    private var start: Int64 = 0
    /// How many bytes came since then.
    private var bytes: Int64 = 0

    /// Whether what comes has to be counted from now on.
    private(set) var counts = false

    mutating func came(_ count: Int) { self.bytes += Int64(count) }

    /// Looks how long the body is by now, and says whether there is too much around it.
    mutating func isExcessive(at body: Int64) -> Bool {
        self.counts = self.body.map { body - $0 < Self.growth } ?? false
        if !self.counts { (self.start, self.bytes) = (body, 0) }
        self.body = body
        return self.bytes > Self.limit + (body - self.start) * Self.perByte
    }
}
