#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In a guest of busybox alone, on arm64: the BPF programs load, a burner's CPU time is what the kernel says, and /proc takes over
# without BPF.
set -eu
port=28282

fail() {
	echo "FAILED: $*"
	head -60 /tmp/log
	exit 1
}

start() {
	kepler run --config.file=/dev/null --host.state-dir= --table=never --web.listen-address=127.0.0.1:$port \
		--metrics.process.min-joules=0 --metrics.settle=0s "$@" >/tmp/log 2>&1 &
	kepler=$!
	tries=0
	until wget -q -O /tmp/metrics "http://127.0.0.1:$port/metrics"; do
		tries=$((tries + 1))
		[ $tries -lt 30 ] || fail "kepler did not start"
		sleep 1
	done
}

stop() {
	kill $kepler
	wait $kepler || fail "exit status $?"
}

# utime + stime of a living process, in ms (USER_HZ is 100)
cpu_ms() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{print ($12 + $13) * 10}'
}

start
grep -q 'processes: bpf-iter' /tmp/log || fail "not the BPF reader"
sh -c 'while :; do :; done' &
burner=$!
sleep 6
kill -STOP $burner
truth=$(cpu_ms $burner)
sleep 2
wget -q -O /tmp/metrics "http://127.0.0.1:$port/metrics"
seen=$(awk -v pid="pid=\"$burner\"" '/^kepler_process_bpf_cpu_time_ms_total/ && index($0, pid) {sum += $NF} END {print sum + 0}' \
	/tmp/metrics)
echo "burner: $truth ms, seen $seen ms"
# the kernel's two figures are whole ticks of 10 ms each
awk -v a="$truth" -v b="$seen" 'BEGIN {d = a > b ? a - b : b - a; exit !(a > 1000 && d <= 0.02 * a + 20)}' || fail "over 2 % off"
kill -KILL $burner
stop

start --bpf.enabled=false
grep -q 'processes: procfs' /tmp/log || fail "no /proc reader"
stop
