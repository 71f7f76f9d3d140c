// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation

/// Why the queue refused something.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum QueueError: Error, Hashable, Sendable {
    /// The request cannot be sent as it is: a field of it, and what is wrong with that. Nothing was kept.
    case invalidRequest(field: String, reason: String)
    /// The queue holds as much as it may: how much, and of what, for example `requests`. Nothing was kept.
    case queueFull(limit: Int, of: String)
    /// The body has more bytes than may be kept.
    case bodyTooLarge(bytes: Int, limit: Int)
    /// The file of the body cannot be read.
    case bodyUnreadable(path: String, reason: String)
    /// The disk of the queue is full, or has less room than the ends of requests may need; nothing half-written is left.
    /// How many bytes are missing, where that is known.
    case diskFull(path: String, missing: Int?)
    /// The file of the queue is damaged, and was set aside under the second name; without one it is as it was.
    case corrupt(path: String, setAsideAs: String?)
    /// A newer version of the program wrote the file.
    case newerSchema(path: String, version: Int)
    /// There is no queue, and only to look into one makes none.
    case missing(path: String)
    /// Another user who may write there could have put it there, or could replace it.
    case notTrusted(path: String, reason: String)
    /// The file is a database, or something else, but no queue.
    case notAQueue(path: String)
    /// There is a folder where the file should be.
    case isDirectory(path: String)
    /// The file, or the folder it is in, cannot be read and written.
    case readOnly(path: String)
    /// The folder of the queue, the locks beside its file or SQLite's shared memory were removed while it was open.
    case removed(path: String)
    /// The system refused something else.
    case io(path: String, reason: String)
    /// The queue was closed.
    case closed
    /// No request has this id, or no longer.
    case unknownID(UUID)
    /// A request with this id is there already.
    case duplicate(UUID)
}

extension QueueError: CustomStringConvertible, LocalizedError {
    /// The description.
    public var errorDescription: String? { self.description }

    /// What, where, why, and what to do.
    public var description: String {
        switch self {
        case .invalidRequest(let field, let reason):
            "the \(field) of the request \(reason)"
        case .queueFull(let limit, let unit):
            "the request was not kept: the queue holds \(limit) \(unit), its limit; "
                + "deliver or cancel some, or raise the limit"
        case .bodyTooLarge(let bytes, let limit):
            "the request was not kept: its body has \(bytes) bytes, and the limit is \(limit); "
                + "send less, or raise the limit"
        case .bodyUnreadable(let path, let reason):
            "the request was not kept: the file \(path) of its body cannot be read: \(reason)"
        case .diskFull(let path, let missing?):
            "\(path): the request was not kept: the disk is full, and has no room to record the ends of requests; "
                + "make room for \((missing + 1023) / 1024) KiB more, and try again"
        case .diskFull(let path, nil):
            "\(path): the disk is full, nothing was written; make room and try again"
        case .corrupt(let path, let aside?):
            "\(path): the file is damaged; it was set aside as \(aside), and what could be read was kept"
        case .corrupt(let path, nil):
            "\(path): the file is damaged and was left as it is; not everything in it can be read. "
                + "Repairing the queue keeps what can be, and the old file"
        case .newerSchema(let path, let version):
            "\(path): a newer version wrote this queue (schema \(version)); use that version, or another file"
        case .missing(let path):
            "\(path): there is no queue here; name another file, or put a request into this one first"
        case .notTrusted(let path, let reason):
            "\(path): \(reason)"
        case .notAQueue(let path):
            "\(path): this is not a queue; name another file"
        case .isDirectory(let path):
            "\(path): this is a folder; name a file in it"
        case .readOnly(let path):
            "\(path): this cannot be read and written: its permissions forbid it, or its file system is read-only; "
                + "change that, or name another file"
        case .removed(let path):
            "\(path): this was removed while the queue was open; open the queue anew"
        case .io(let path, let reason):
            "\(path): \(reason)"
        case .closed:
            "the queue was closed; open it again"
        case .unknownID(let id):
            "no request has the id \(id.text); it may have been delivered or removed"
        case .duplicate(let id):
            "a request with the id \(id.text) is in the queue already; use a new id"
        }
    }
}

extension QueueError {
    /// Whether the queue that meets it is closed, since trying again would not help.
    package var endsQueue: Bool {
        switch self {
        case .removed, .newerSchema, .notAQueue, .isDirectory: true
        default: false
        }
    }
}
