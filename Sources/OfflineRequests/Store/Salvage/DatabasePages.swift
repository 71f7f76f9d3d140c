// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The pages of a database that SQLite cannot read any more, as its last transaction left them.
///
/// Pages whose latest form is in the journal come from there (https://www.sqlite.org/fileformat2.html#walformat).
struct DatabasePages {
    /// How long a page of a queue is: a durable commit costs what its pages cost, and most change three of them by a few
    /// hundred octets at most.
    static let size = 2048

    private let file: FileReader
    private let journal: FileReader?
    /// Where in the journal the latest form of a page begins.
    private var inJournal: [Int: Int] = [:]
    /// How many there are.
    private(set) var count: Int

    init(database path: String) throws(QueueError) {
        self.file = try FileReader(path)
        self.count = (self.file.size + Self.size - 1) / Self.size
        self.journal = try? FileReader("\(path)-wal")
        if let journal = self.journal { self.readJournal(journal) }
    }

    /// The octets of a page, the first of which has the number 1; fewer than all when the file ends in it.
    func page(_ number: Int) -> [UInt8] {
        if let place = self.inJournal[number], let journal = self.journal {
            return journal.read(at: place, count: Self.size)
        }
        return self.file.read(at: (number - 1) * Self.size, count: Self.size)
    }

    /// Whether this is a queue, or was one before it was damaged.
    var isQueue: Bool {
        let mark = Array(StoreSchema.mark.utf8)
        return (1...max(1, min(self.count, 16))).contains { number in
            let page = self.page(number)
            if number == 1, page.count >= 72, page.number(at: 68, octets: 4) == Int(StoreSchema.applicationID) {
                return true
            }
            return page.firstRange(of: mark) != nil
        }
    }

    /// The version of the tables where that is newer than what this program knows (`user_version` of the header).
    var newerVersion: Int? {
        let page = self.page(1)
        guard page.starts(with: "SQLite format 3\0".utf8),
            page.number(at: 68, octets: 4) == Int(StoreSchema.applicationID)
        else { return nil }
        let version = page.number(at: 60, octets: 4)
        return version > StoreSchema.migrations.count && version < 1 << 16 ? version : nil
    }

    /// Goes through the frames, up to the first that is not whole: what follows was never committed.
    private mutating func readJournal(_ journal: FileReader) {
        let header = journal.read(at: 0, count: 32)
        guard header.count == 32, header.number(at: 8, octets: 4) == Self.size else { return }
        let isBigEndian = header.number(at: 0, octets: 4) == 0x377F_0683
        var sum = Checksum()
        sum.add(header[..<24], isBigEndian: isBigEndian)
        guard sum.isAt(24, in: header) else { return }
        var pending: [Int: Int] = [:]
        var place = 32
        while true {
            let frame = journal.read(at: place, count: 24 + Self.size)
            guard frame.count == 24 + Self.size, frame[8..<16] == header[16..<24] else { return }
            sum.add(frame[..<8], isBigEndian: isBigEndian)
            sum.add(frame[24...], isBigEndian: isBigEndian)
            guard sum.isAt(16, in: frame) else { return }
            pending[frame.number(at: 0, octets: 4)] = place + 24
            let committed = frame.number(at: 4, octets: 4)
            if committed > 0 {
                self.inJournal.merge(pending) { _, latest in latest }
                self.count = committed
                pending = [:]
            }
            place += frame.count
        }
    }

    /// The checksum of the journal.
    private struct Checksum {
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        mutating func add(_ octets: ArraySlice<UInt8>, isBigEndian: Bool) {
            var index = octets.startIndex
            func word() -> UInt32 {
                defer { index += 4 }
                let word = octets[index..<(index + 4)].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
                return isBigEndian ? word : word.byteSwapped
            }
            while index + 8 <= octets.endIndex {
                self.first = self.first &+ word() &+ self.second
                self.second = self.second &+ word() &+ self.first
            }
        }

        func isAt(_ index: Int, in octets: [UInt8]) -> Bool {
            octets.number(at: index, octets: 4) == Int(self.first)
                && octets.number(at: index + 4, octets: 4) == Int(self.second)
        }
    }
}

extension [UInt8] {
    /// A number of several octets, the most significant one first; 0 where the octets end before.
    func number(at index: Int, octets: Int) -> Int {
        guard index >= 0, index + octets <= self.count else { return 0 }
        return self[index..<(index + octets)].reduce(0) { $0 << 8 | Int($1) }
    }
}
