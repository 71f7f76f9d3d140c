// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathConfiguration
import NetPathRecording

/// What the service tells of itself, besides what the coordinator does.
extension MetricsText {
    /// How often hooks were run, and failed.
    mutating func add(_ hooks: [HookReport]) {
        self.counter(
            "netpath_hook_runs",
            "How often the command of a hook ended, or could not be started.",
            hooks.map { .init($0.runCount, ["hook": $0.hook.name]) }
        )
        self.counter(
            "netpath_hook_failures",
            "How often it did not end well: another exit status than 0, a signal, a timeout, or no start.",
            hooks.map { .init($0.failureCount, ["hook": $0.hook.name]) }
        )
    }

    /// What is recorded.
    mutating func add(_ recorder: RecorderStatus) {
        self.gauge("netpath_recorder_up", "Whether what happens is recorded.", [.init(recorder.isRecording)])
        self.counter("netpath_recorder_written_bytes", "Bytes written.", [.init(recorder.writtenBytes)])
        self.counter("netpath_recorder_errors", "Attempts to write that failed.", [.init(recorder.errors)])
        let last = recorder.lastWrite.map { Sample(Duration.nanoseconds($0).seconds) }
        self.gauge(
            "netpath_recorder_last_write_timestamp_seconds",
            "When something was written last, in seconds since 1970.",
            [last].compactMap(\.self)
        )
    }

    /// Which configuration is in force.
    mutating func add(_ standing: ConfigurationStanding) {
        self.counter(
            "netpath_configuration_refusals",
            "How often a configuration on disk was refused.",
            [.init(standing.refusals)]
        )
        // Its text quotes the file, and is another one on each machine.
        self.gauge(
            "netpath_configuration_error_info",
            "What is wrong with the configuration on disk; the hash is the same where the same is wrong.",
            [standing.errorHash.map { .init(1, ["hash": $0]) }].compactMap(\.self)
        )
        self.gauge(
            "netpath_configuration_accepted",
            "Whether the configuration on disk is the one in force; it was refused otherwise.",
            [.init(standing.refusal == nil)]
        )
        self.gauge(
            "netpath_configuration_loaded_timestamp_seconds",
            "When the configuration was put in force, in seconds since 1970.",
            [.init(Duration.nanoseconds(standing.loadedAt).seconds)]
        )
        self.gauge(
            "netpath_configuration_info",
            "The configuration in force; the hash is another one when any value is.",
            [.init(1, ["hash": standing.hash])]
        )
    }

    /// What every exporter tells of its process, where procfs is there.
    mutating func add(_ process: ProcessStatistics) {
        self.counter("process_cpu_seconds", "Processor time.", [.init(process.processorTime.seconds)])
        self.gauge("process_virtual_memory_bytes", "Virtual memory.", [.init(process.virtualBytes)])
        self.gauge("process_resident_memory_bytes", "Resident memory.", [.init(process.residentBytes)])
        self.gauge("process_threads", "Threads.", [.init(process.threads)])
        self.gauge("process_open_fds", "Open descriptors.", [.init(process.descriptors)])
        self.gauge("process_max_fds", "How many descriptors may be open.", [.init(process.descriptorLimit)])
        self.gauge(
            "process_start_time_seconds",
            "When the process began, in seconds since 1970.",
            [process.start.map { Sample($0.seconds) }].compactMap(\.self)
        )
    }
}
