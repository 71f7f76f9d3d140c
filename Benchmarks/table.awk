# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
#
# Makes the table from raw values sorted by measurement, listener and value: medians, and 99th percentiles of latency.
# A value of -1 means that no line came: that is slower than any line, although it is sorted before them.

function at(position) { return position <= n - missed ? a[position + missed] : -1 }
function finish() {
    if (n == 0) return
    median[what, who] = at(int((n + 1) / 2))
    percentile[what, who] = at(int(n * 0.99 + 0.5))
}
{
    if ($1 != what || $2 != who) { finish(); n = missed = 0; what = $1; who = $2 }
    a[++n] = $3
    missed += $3 < 0
}
function number(value, digits) { return value == "" ? "–" : value < 0 ? "no line" : sprintf("%." digits "f", value) }
function ratio(value, base) { return value == "" || base <= 0 || value < 0 ? "–" : sprintf("%.2f×", value / base) }
function row(title, what, digits, own, base) {
    own = median[what, "netpath"]; base = median[what, "bare C"]
    printf "| %s | %s | %s | %s | %s | %s | %s |\n", title, number(own, digits), number(base, digits),
        number(median[what, "asking C"], digits), number(median[what, "GLib"], digits),
        number(median[what, "ip monitor"], digits), ratio(own, base)
}
function tail(title, what) {
    printf "| %s | %s | %s | %s | %s | %s | %s |\n", title, number(percentile[what, "netpath"], 0),
        number(percentile[what, "bare C"], 0), number(percentile[what, "asking C"], 0),
        number(percentile[what, "GLib"], 0), number(percentile[what, "ip monitor"], 0), ratio(percentile[what, "netpath"], percentile[what, "bare C"])
}
function pair(title, what, first, second, digits) {
    printf "| %s | %s | %s | %s |\n", title, number(median[what, first], digits), number(median[what, second], digits),
        (what ", ratio", second) in median ? sprintf("%.2f×", median[what ", ratio", second]) \
            : ratio(median[what, second], median[what, first])
}
function once(title, who, limit) {
    printf "| %s | %s | %s%s |\n", title, number(median["run us", who], 0),
        ratio(median["run us", who], median["run us", "ip route get"]), limit
}
END {
    finish()
    print "| median | `netpath watch --json` | bare C listener | … that asks | GLib | `ip monitor` | netpath / bare |"
    print "|---|---|---|---|---|---|---|"
    row("default route removed → line, µs", "latency route removed", 0)
    tail("… 99th percentile", "latency route removed")
    row("default route restored → line, µs", "latency route restored", 0)
    tail("… 99th percentile", "latency route restored")
    row("address added → line, µs", "latency address added", 0)
    row("address removed → line, µs", "latency address removed", 0)
    row("link down → line, µs", "latency link down", 0)
    row("link up → line, µs", "latency link up", 0)
    row("start → first line, µs", "start to first line", 0)
    row("200,000 unrelated route changes: wake-ups", "storm wake-ups", 0)
    row("… CPU, ms", "storm CPU ms", 1)
    row("… peak memory grown, kB", "storm peak memory grown kB", 0)
    row("… hears the next change (1 = yes)", "storm hears afterwards", 0)
    row("idle: context switches", "idle context switches", 0)
    row("peak memory, kB", "peak memory kB", 0)
    own = median["peak memory kB", "netpath"] / 1024
    floor = median["run peak memory kB", "memory floor"] / 1024
    printf "| … in MiB, of which an empty command with the same libraries has %.1f | %.1f (at most 14) | | | | | %s |\n",
        floor, own, (floor > 0 ? sprintf("+%.1f MiB (at most 3)", own - floor) : "–")
    row("allocations per event", "allocations per event", 0)
    print ""
    print "| asked once, median | wall time, µs | beside `ip` |"
    print "|---|---|---|"
    once("`ip -j route get 9.0.0.1`", "ip route get", "")
    once("`netpath -q`", "netpath -q", " (at most 6)")
    once("`netpath --version`", "netpath --version", "")
    print ""
    print "| netpath, median | few | many | ratio |"
    print "|---|---|---|---|"
    pair("`netpath status` with 10 and 1,000,000 routes: wall time, µs", "run us", "status 10 routes", "status 1M routes", 0)
    pair("… peak memory, kB", "run peak memory kB", "status 10 routes", "status 1M routes", 0)
    pair("one link event, 10 and 10,000 interfaces: CPU, µs", "link event CPU us", "netpath, 10", "netpath, 10000", 1)
    pair("… the bare C listener", "link event CPU us", "bare, 10", "bare, 10000", 1)
    if (("first path us", "library") in median)
        printf "| library in process: start → first path with 50 interfaces, µs | %s | | |\n", number(median["first path us", "library"], 0)
}
