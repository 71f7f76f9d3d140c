# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
#
# Makes the table of what ./boots printed: medians in ms, and in how many boots netpath ended no later than the later of
# the other program's end and the first datagram.

BEGIN { FS = "\t" }
function median(set, n,    i, j, value) {
    for (i = 2; i <= n; i++) {
        value = set[i]
        for (j = i - 1; j >= 1 && set[j] > value; j--) set[j + 1] = set[j]
        set[j + 1] = value
    }
    return set[int((n + 1) / 2)]
}
NF >= 3 && $1 ~ /, (dhcp|static|ra|satisfied)$/ {
    n = ++count[$1, $2]
    time[$1, $2, n] = $3
    if (!($1 in modes)) order[++kinds] = $1
    modes[$1] = 1
    if (n == 1 && $2 != "first datagram" && $2 != "netpath wait") peers[$1] = peers[$1] "\t" $2
}
function middle(mode, who,    i, set) {
    for (i = 1; i <= count[mode, who]; i++) set[i] = time[mode, who, i]
    return median(set, count[mode, who])
}
END {
    print "| manager, configuration | first datagram | other program | its end | `netpath wait` | no later in | later by at most |"
    print "|---|---|---|---|---|---|---|"
    for (k = 1; k <= kinds; k++) {
        mode = order[k]
        parts = split(peers[mode], names, "\t")
        for (p = 2; p <= parts; p++) {
            boots = count[mode, "netpath wait"]
            good = 0; worst = 0
            for (i = 1; i <= boots; i++) {
                limit = time[mode, names[p], i]
                if (time[mode, "first datagram", i] > limit) limit = time[mode, "first datagram", i]
                late = time[mode, "netpath wait", i] - limit
                if (late <= 0) good++
                if (late > worst) worst = late
            }
            datagram = (mode, "first datagram") in count ? sprintf("%.0f", middle(mode, "first datagram")) : "–"
            printf "| %s | %s | `%s` | %.0f | %.0f | %d of %d | %s |\n", mode, datagram, names[p],
                middle(mode, names[p]), middle(mode, "netpath wait"), good, boots, worst ? sprintf("%.1f", worst) : "–"
        }
    }
}
