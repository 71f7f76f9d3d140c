# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
#
# The functions of netpath itself in callgrind's outputs, each once, in the order of their first appearance. An output
# names an object or a function by a number, and says once which name that is: (12) name.

function name(kind, text,    number) {
    number = text
    sub(/\).*/, ")", number)
    if (index(text, " ")) names[kind number] = substr(text, index(text, " ") + 1)
    return names[kind number]
}
FNR == 1 { split("", names) }
/^c?ob=/ { object = name("ob", substr($0, index($0, "=") + 1)); if (/^ob/) own = object ~ /\/netpath$/ }
/^cfn=/ { name("fn", substr($0, 5)) }
/^fn=/ {
    symbol = name("fn", substr($0, 4))
    # Of what calls itself, the depth.
    sub(/'[0-9]+$/, "", symbol)
    if (own && symbol !~ /^0x/ && !seen[symbol]++) print symbol
}
