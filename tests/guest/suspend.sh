#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In a guest of busybox alone: a suspend (pm_test, 5 s) in the middle of measuring. CLOCK_MONOTONIC stops while CLOCK_BOOTTIME
# goes on: no spike of power, nothing charged for the gap to a process that slept, and the sum is still the meter's.
set -eu
port=28282

fail() {
	echo "FAILED: $*"
	cat /tmp/log /tmp/metrics 2>/dev/null | head -60
	exit 1
}

scrape() {
	wget -q -O /tmp/metrics "http://127.0.0.1:$port/metrics" || fail "no answer"
}

value() { # value PATTERN: the sum of the samples whose line matches, in µJ where they are joules
	awk -v pattern="$1" '$0 !~ /^#/ && $0 ~ pattern {sum += $NF} END {printf "%.6f\n", sum}' /tmp/metrics
}

less() { # less A B: true when A < B
	awk -v a="$1" -v b="$2" 'BEGIN {exit !(a < b)}'
}

for module in /modules/*.ko; do
	insmod "$module"
done
kepler run --config.file=/dev/null --host.state-dir= --table=never --web.listen-address=127.0.0.1:$port \
	--metrics.process.min-joules=0 --metrics.settle=0s >/tmp/log 2>&1 &
kepler=$!
sleep 300 &
sleeper=$!
tries=0
until wget -q -O /tmp/metrics "http://127.0.0.1:$port/metrics"; do
	tries=$((tries + 1))
	[ $tries -lt 30 ] || fail "kepler did not start"
	sleep 1
done
sleep 3
scrape
before=$(value '^kepler_node_package_joules_total')
slept=$(value "^kepler_process_package_joules_total.*pid=\"$sleeper\"")

echo core >/sys/power/pm_test
echo mem >/sys/power/state
# each response after it, for some intervals
highest=0
for _ in 1 2 3 4 5 6; do
	sleep 0.5
	scrape
	watts=$(value '^kepler_node_package_watts')
	if less "$highest" "$watts"; then highest=$watts; fi
done
after=$(value '^kepler_node_package_joules_total')
slept=$(awk -v a="$(value "^kepler_process_package_joules_total.*pid=\"$sleeper\"")" -v b="$slept" 'BEGIN {printf "%.6f", a - b}')
echo "package: $before J before, $after J after; highest power $highest W; the sleeper got $slept J"

less "$before" "$after" || fail "the counter does not go on after the suspend"
less "$highest" 60 || fail "power spiked: $highest W (20 W idle, 35 W busy)"
# it ran a little, to be frozen; the gap at 20 W would be 100 J
less "$slept" 1 || fail "a process that slept was charged $slept J"
kill -0 $kepler || fail "kepler did not survive"
kill $kepler
wait $kepler || fail "exit status $?"
