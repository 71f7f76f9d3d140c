# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
#
# Makes the table of run-queue from raw values sorted by measurement, listener and value: medians and their ratios.

function finish() { if (n) median[what, who] = a[int((n + 1) / 2)] }
{
    if ($1 != what || $2 != who) { finish(); n = 0; what = $1; who = $2 }
    a[++n] = $3
}
function target(text, isMet) { return isMet ? text : text " (missed)" }
function row(title, own, base, least, digits) {
    printf "| %s | %.*f | %.*f | %.2f× | %s |\n", title, digits, own, digits, base, own / base,
        least ? target("≥ " least "×", own / base >= least) : "–"
}
function beside(title, sick, mostFirst, mostAll,    isMeasured, first, last) {
    isMeasured = ("first beside " sick, "queue") in median
    first = median["first beside " sick, "queue"] / 1000
    last = median["all beside " sick, "queue"] / 1000
    printf "| %s | %.2f | %.2f | %s |\n", title, first, last,
        mostAll ? target("≤ " mostFirst " s, ≤ " mostAll " s", isMeasured && first <= mostFirst && last <= mostAll) : "–"
}
END {
    finish()
    single = median["enqueue", "queue"]
    print "| median | queue | compared with | ratio | target |"
    print "|---|---|---|---|---|"
    row("durable enqueue, one caller, per second; bare SQLite insert and commit", single,
        median["enqueue", "bare SQLite"], 0.6, 0)
    row("… 32 callers at once; one caller", median["enqueue by 32", "queue"], single, 2, 0)
    row("10,000 small requests to a server on loopback, per second; the transport alone", median["drain", "queue"],
        median["drain", "transport"], 0, 0)
    full = median["open us", "full"] / 1000
    printf "| opening with 100,000 pending, ms; an empty one | %.1f | %.1f | %.2f× | %s |\n", full,
        median["open us", "empty"] / 1000, full * 1000 / median["open us", "empty"], target("≤ 50 ms", full <= 50)
    more = (median["open peak KiB", "full"] - median["open peak KiB", "empty"]) / 1024
    printf "| … peak memory, MiB; an empty one | %.1f | %.1f | %+.1f MiB | %s |\n",
        median["open peak KiB", "full"] / 1024, median["open peak KiB", "empty"] / 1024, more,
        target("≤ 8 MiB more", more <= 8)
    print ""
    print "| 20 requests to a host, seconds | first | all | target |"
    print "|---|---|---|---|"
    split("60 300 900", counts, " ")
    for (i = 1; i <= 3; i++)
        beside("behind those for " counts[i] " hosts that drop packets", "dropping " counts[i], 2, 5)
    beside("in the middle of those for 300 hosts that drop packets", "dropping 300 --middle 1", 0, 0)
    beside("behind 6 that it fails at, after 20 s of 500 for all: since it serves", "poisoned 6", 10, 10)
}
