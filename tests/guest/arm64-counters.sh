#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On arm64, where the emulated processor has a PMU with counters (PMUv3): cycles and instructions of a process are those that events
# of its own count, rows add up to the node, an event that shares its counter is extrapolated, and CPUs come and go. R14: the events
# that the PMU lacks are named, and the others are counted.
set -eu
port=28282
turns=200

fail() {
	echo "FAILED: $*"
	head -40 /tmp/log
	grep -E 'exporter_counters|(node_.*|pmu-loop.*)_cpu_(cycles|instructions)' /tmp/metrics | grep -v '^#'
	exit 1
}

look() {
	wget -q -O /tmp/metrics "http://127.0.0.1:$port/metrics" || fail "no answer"
	balanced cpu_cycles
	balanced cpu_instructions
}

# The rows, those that are gone, what waits for its series and what is in no row are the node's.
balanced() {
	awk -v name="$1" '
		index($0, "#") == 1 {next}
		index($0, "kepler_node_" name "_total") == 1 {node = $NF; found++}
		index($0, "kepler_node_unattributed_" name "_total") == 1 || index($0, "kepler_process_" name "_total") == 1 ||
		index($0, "kepler_process_retired_" name "_total") == 1 ||
		index($0, "kepler_pending_" name "{level=\"process\"") == 1 {sum += $NF; rows++}
		END {
			if (found != 1 || rows < 3 || node != sum) {
				printf "%s: node %.0f, rows %.0f of %d\n", name, node, sum, rows
				exit 1
			}
		}' /tmp/metrics || fail "rows of $1 do not add up to the node"
}

start() {
	kepler run --config.file=/dev/null --host.state-dir= --table=never --web.listen-address=127.0.0.1:$port \
		--metrics.process.min-joules=0 --metrics.settle=0s --monitor.interval=1s --counters.enabled=true >/tmp/log 2>&1 &
	kepler=$!
	tries=0
	until wget -q -O /tmp/metrics "http://127.0.0.1:$port/metrics"; do
		tries=$((tries + 1))
		[ $tries -lt 60 ] || fail "kepler did not start"
		sleep 1
	done
}

value() {
	awk -v name="$1" '$1 == name {print $NF}' /tmp/metrics
}

# of NAME PID: what the process's row shows
of() {
	awk -v name="kepler_process_$1_total{" -v pid="pid=\"$2\"" 'index($0, name) == 1 && index($0, pid) {sum += $NF}
		END {printf "%.0f\n", sum}' /tmp/metrics
}

# near WHAT SEEN TRUTH PERMILLE
near() {
	awk -v a="$2" -v b="$3" -v limit="$4" -v what="$1" 'BEGIN {
		off = b ? (a - b) * 1000 / b : 1e9
		printf "%s: %.0f seen, %.0f true: %+.2f per mille\n", what, a, b, off
		exit !(off <= limit && off >= -limit)
	}' || fail "$1 is off by more than $4 per mille"
}

# loop CPUS TURNS: pid, cycles and instructions of a loop, by its own events; it goes on living
loop() {
	taskset "$1" pmu-loop "$2" >/tmp/loop &
	while ! [ -s /tmp/loop ]; do sleep 1; done
	# shellcheck disable=SC2046 # three words
	set -- $(cat /tmp/loop)
	pid=$1 cycles=$2 instructions=$3
	rm /tmp/loop
	sleep 3
	look
}

# Debian's default is 3, see the end.
echo 2 >/proc/sys/kernel/perf_event_paranoid
start
grep -q 'processes: bpf-iter' /tmp/log || fail "not the BPF reader"
[ "$(value kepler_exporter_counters)" -ge 2 ] || fail "no counters"
grep 'cache-misses' /tmp/log || fail "the log does not name the event that the PMU lacks"
sleep 2
look

echo "cycles and instructions of a loop"
loop 1 $turns
true_instructions=$instructions
near instructions "$(of cpu_instructions "$pid")" "$instructions" 3
near cycles "$(of cpu_cycles "$pid")" "$cycles" 3
kill "$pid"

echo "counters that are shared by more events than there are"
pmu-loop --hog 0 16 >/tmp/hog &
hog=$!
sleep 2
[ "$(cat /tmp/hog)" = 16 ] || fail "events of the other process did not open"
loop 1 10 # a slice shows that a counter is shared; its times are those since the last look
kill "$pid"
loop 1 $turns
echo "by an event of its own, extrapolated: $instructions"
near "extrapolated instructions" "$(of cpu_instructions "$pid")" "$true_instructions" 100
kill "$pid"
# two that share the CPU, in slices of some milliseconds, as long as an event keeps its counter
taskset 1 pmu-loop $turns >/tmp/other &
other=$!
loop 1 $turns
while ! [ -s /tmp/other ]; do sleep 1; done
sleep 3
look
near "extrapolated instructions in short slices" "$(of cpu_instructions "$pid")" "$true_instructions" 150
near "… of the other loop" "$(of cpu_instructions "$other")" "$true_instructions" 150
kill "$pid" "$other" "$hog"
sleep 2
look

echo "CPUs that come and go"
pmu-loop $((2 * turns)) >/tmp/long &
for cycle in 1 2 3; do
	echo 0 >/sys/devices/system/cpu/cpu1/online
	sleep 2
	look
	[ "$(value kepler_exporter_counters_uncounted_cpus)" = 0 ] || fail "an offline CPU is called uncounted"
	echo 1 >/sys/devices/system/cpu/cpu1/online
	sleep 2
	look
	[ "$(value kepler_exporter_counters_uncounted_cpus)" = 0 ] ||
		fail "CPU 1 is not counted again, cycle $cycle: $(value kepler_exporter_counters_uncounted_cpus)"
done
while ! [ -s /tmp/long ]; do sleep 1; done
sleep 3
look
# shellcheck disable=SC2046 # three words
set -- $(cat /tmp/long)
near "instructions across CPUs" "$(of cpu_instructions "$1")" "$3" 10
kill "$1"
loop 2 $turns
near "instructions on the CPU that came back" "$(of cpu_instructions "$pid")" "$instructions" 3
kill "$pid"
kill $kepler
wait $kepler || fail "exit status $?"

echo "a kernel that wants CAP_SYS_ADMIN, which is kept by nothing: a CPU that comes later is not counted, and is said to be"
echo 3 >/proc/sys/kernel/perf_event_paranoid
start
sleep 2
look
[ "$(value kepler_exporter_counters)" = 2 ] || fail "no counters"
[ "$(value kepler_exporter_counters_uncounted_cpus)" = 0 ] || fail "CPUs are not counted at the start"
echo 0 >/sys/devices/system/cpu/cpu1/online
sleep 2
echo 1 >/sys/devices/system/cpu/cpu1/online
sleep 2
loop 2 $turns
[ "$(value kepler_exporter_counters_uncounted_cpus)" = 1 ] || fail "it is not said that CPU 1 is not counted"
[ "$(of cpu_instructions "$pid")" -lt $((true_instructions / 50)) ] || fail "instructions of a CPU without events"
kill "$pid"
kill $kepler
wait $kepler || fail "exit status $?"
