// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

/// That a history which is wrong is found out.
struct OutageLogTests {
    typealias Word = (from: Double, isUp: Bool?)

    /// Down from 10 to 20 and from 30 to 35, told by 0.2 s later; from 40 to 50 the service was dead.
    private let log: OutageLog = {
        var log = OutageLog()
        for (time, isUp) in [(0.0, true), (10, false), (20, true), (30, false), (35, true)] {
            log.change(isUp: isUp, OutageLog.Span(begin: time, end: time + 0.2))
        }
        log.excuse(OutageLog.Span(begin: 40, end: 50))
        return log
    }()

    /// How many faults a history has that says something of the first outage, and of the time after the second.
    private func faults(_ first: [Word], _ last: [Word] = []) -> Int {
        let words = [(0, true)] + first + [(30, false), (35, true)] + last
        let claims = words.indices.map { index in
            let end = index + 1 < words.count ? words[index + 1].0 : 60
            return OutageLog.Claim(span: OutageLog.Span(begin: words[index].0, end: end), isUp: words[index].1)
        }
        return self.log.faults(of: claims, until: 60).count
    }

    @Test func whatIsTrueIsRight() {
        #expect(self.log.outages.count == 2)
        #expect(self.faults([(10, false), (20, true)]) == 0)
        #expect(self.faults([(10.9, false), (19.2, true)], [(40, nil), (50, true)]) == 0)
    }

    @Test func whatIsWrongIsFoundOut() {
        // One is missing, one was not, one is there twice, one begins too late, and one goes on.
        #expect(self.faults([]) > 0)
        #expect(self.faults([(5, false), (6.1, true), (10, false), (20, true)]) > 0)
        #expect(self.faults([(10, false), (14, true), (16, false), (20, true)]) > 0)
        #expect(self.faults([(12, false), (20, true)]) > 0)
        #expect(self.faults([(10, false)]) > 0)
        // What could be known is not unknown.
        #expect(self.faults([(10, nil), (20, true)]) > 0)
        #expect(self.faults([(10, false), (20, true)], [(38, nil), (50, true)]) > 0)
    }

    /// A disk that was full when the service began, which was killed before there was room.
    @Test func whatWasNeverWrittenNeedsAnExcuse() {
        let claims = [(26.0, 30.0, true), (30, 35, false), (35, 60, true)].map {
            OutageLog.Claim(span: OutageLog.Span(begin: $0.0, end: $0.1), isUp: $0.2)
        }
        var log = self.log
        #expect(!log.faults(of: claims, until: 60).isEmpty)
        log.excuse(OutageLog.Span(begin: 15, end: 26))
        #expect(!log.faults(of: claims, until: 60).isEmpty)
        log.excuse(OutageLog.Span(begin: 0, end: 26))
        #expect(log.faults(of: claims, until: 60).isEmpty)
    }
}
