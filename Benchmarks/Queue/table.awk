# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
#
# Makes the table of run-queue from raw values sorted by measurement, listener and value: medians and their ratios.

function finish() { if (n) median[what, who] = a[int((n + 1) / 2)] }
{
    if ($1 != what || $2 != who) { finish(); n = 0; what = $1; who = $2 }
    a[++n] = $3
}
function row(title, own, base, relation, target, digits) {
    printf "| %s | %.*f | %.*f | %.2f× | %s %s |\n", title, digits, own, digits, base, own / base, relation, target
}
END {
    finish()
    single = median["enqueue", "queue"]
    print "| median | queue | compared with | ratio | target |"
    print "|---|---|---|---|---|"
    row("durable enqueue, one caller, per second; bare SQLite insert and commit", single,
        median["enqueue", "bare SQLite"], "≥", "0.5×", 0)
    row("… 32 callers at once; one caller", median["enqueue by 32", "queue"], single, "≥", "2×", 0)
    row("10,000 small requests to a server on loopback, per second; the transport alone", median["drain", "queue"],
        median["drain", "transport"], "", "–", 0)
    full = median["open us", "full"] / 1000
    printf "| opening with 100,000 pending, ms; an empty one | %.1f | %.1f | %.2f× | ≤ 50 ms |\n", full,
        median["open us", "empty"] / 1000, full * 1000 / median["open us", "empty"]
    more = (median["open peak KiB", "full"] - median["open peak KiB", "empty"]) / 1024
    printf "| … peak memory, MiB; an empty one | %.1f | %.1f | %+.1f MiB | ≤ 8 MiB more |\n",
        median["open peak KiB", "full"] / 1024, median["open peak KiB", "empty"] / 1024, more
}
