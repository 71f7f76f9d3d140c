#!/bin/sh
# Says "online" while a file exists: the smallest plugin there is. Needs nothing but a shell.
echo '{"netpath":1,"name":"flag file","heartbeat":10}'
while :; do
    if [ -e "${1:-/run/online}" ]; then status=satisfied; else status=unsatisfied; fi
    echo "{\"conclusion\":{\"status\":\"$status\",\"reason\":\"the flag file says so\"}}"
    sleep 2
done
