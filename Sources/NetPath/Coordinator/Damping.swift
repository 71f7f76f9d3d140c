// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How long a change of the status has to hold before it is published.
///
/// Only the status is damped: other changes go out at once, unless a change of the status is being held back. The
/// first path is never held back. Zero, the default, costs nothing.
public struct Damping: Hashable, Sendable, Codable {
    /// How long a better status has to hold.
    public var gain: Duration
    /// How long a worse status has to hold.
    public var loss: Duration
    /// How long a status that keeps changing is held back at most.
    ///
    /// Less than the longer of ``gain`` and ``loss`` counts as that one, or it would never hold.
    public var maxWait: Duration

    /// Creates a damping; none unless told otherwise.
    public init(gain: Duration = .zero, loss: Duration = .zero, maxWait: Duration = .seconds(1)) {
        self.gain = gain
        self.loss = loss
        self.maxWait = maxWait
    }
}

/// Decides when a status that differs from the published one may go out.
struct Damper: Sendable, Codable {
    private enum CodingKeys: String, CodingKey { case episode, deadline }

    private struct Episode: Sendable, Codable {
        private enum CodingKeys: String, CodingKey { case began, candidate, since, due }

        /// When the status first differed from the published one.
        let began: MonotonicTime
        var candidate: PathStatus
        var since: MonotonicTime
        var due: MonotonicTime
    }

    private var episode: Episode?

    /// When the status that is held back may go out; nil when none is.
    private(set) var deadline: MonotonicTime?

    /// Whether a path of this status may be published now.
    ///
    /// A status that keeps changing restarts its hold every time, but not the longest wait: that begins with the first
    /// change and ends once the published status has held as long as any change would have to.
    mutating func admits(
        _ status: PathStatus,
        published: PathStatus?,
        damping: Damping,
        now: MonotonicTime
    ) -> Bool {
        guard let published, damping.gain > .zero || damping.loss > .zero else { return self.settle() }
        if let episode, episode.due <= now, episode.candidate == published { self.episode = nil }
        guard status != published || self.episode != nil else { return true }
        var episode = self.episode ?? Episode(began: now, candidate: status, since: now, due: now)
        if episode.candidate != status { (episode.candidate, episode.since) = (status, now) }
        let hold =
            status == published
            ? max(damping.gain, damping.loss) : status < published ? damping.loss : damping.gain
        episode.due = min(episode.since + hold, episode.began + max(damping.maxWait, damping.gain, damping.loss))
        guard episode.due > now else { return self.settle() }
        self.episode = episode
        self.deadline = status == published ? nil : episode.due
        return status == published
    }

    private mutating func settle() -> Bool {
        self.episode = nil
        self.deadline = nil
        return true
    }
}
