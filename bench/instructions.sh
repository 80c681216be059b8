#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guest's part of bench/instructions.py: instructions.sh "COUNT..." "PART...". It prints a line for each figure:
# "figure|BUILD|TEXT|VALUE".
#
# A build runs in a cgroup of its own, whose CPU time includes that of threads that have ended.
set -eu
cgroup=/sys/fs/cgroup/kepler
url=http://127.0.0.1:28282/metrics
window=60

fail() {
	echo "FAILED: $*"
	cat /tmp/log
	exit 1
}

usage() {
	sed -n 's/^usage_usec //p' $cgroup/cpu.stat
}

waits() {
	cat /proc/"$pid"/task/*/status | awk '/^voluntary_ctxt_switches/ {sum += $2} END {print sum}'
}

resident() {
	awk '/^VmRSS/ {print $2}' /proc/"$pid"/status
}

now_us() {
	awk '/^now at/ {printf "%d\n", $3 / 1000}' /proc/timer_list
}

processes() {
	find /proc -maxdepth 1 -name '[0-9]*' | wc -l
}

figure() { # figure BUILD TEXT VALUE
	echo "figure|$1|$2|$3"
}

get() { # get ENCODING
	wget -q -O /tmp/page --header "Accept-Encoding: $1" $url 2>/tmp/wget.log
}

start() { # start BUILD [OPTION...]
	build=$1
	shift
	mkdir $cgroup
	began=$(now_us)
	sh -c "echo \$\$ >$cgroup/cgroup.procs; exec kepler-$build \"\$@\"" sh run --config.file=/dev/null --host.state-dir= \
		--table=never --web.listen-address=127.0.0.1:28282 "$@" >/tmp/log 2>&1 &
	pid=$!
	until get identity; do
		kill -0 $pid 2>/dev/null || fail "kepler-$build ended"
		usleep 5000
	done
}

stop() {
	kill $pid
	wait $pid || fail "exit status $?"
	rmdir $cgroup
}

crowd() { # crowd MODE COUNT: ends with end_crowd
	crowd=
	: >/tmp/crowd
	if [ "$2" -gt 0 ]; then
		load "$1" "$2" >/tmp/crowd &
		crowd=$!
		until grep -q ready /tmp/crowd; do sleep 1; done
	fi
}

end_crowd() {
	[ -z "$crowd" ] || kill $crowd
	sleep 5
}

steady() { # steady BUILD LABEL: an exporter that no one scrapes meanwhile
	start "$1"
	figure "$1" "start, CPU, $2" "$(usage)"
	figure "$1" "exec to the first snapshot, $2" $(($(now_us) - began))
	sleep $window
	usage_before=$(usage) waits_before=$(waits)
	sleep $window
	usage_after=$(usage) waits_after=$(waits)
	figure "$1" "interval, $2" "$(((usage_after - usage_before) / window))"
	figure "$1" "wake-ups a minute, $2" "$(((waits_after - waits_before) * 60 / window))"
	get identity || fail "no page"
	figure "$1" "VmRSS, $2" "$(resident)"
	stop
}

# Waits until an interval is over: until CPU time has grown by more than a scrape's housekeeping and stands still.
after_interval() {
	last=$(usage)
	while [ "$(usage)" -lt $((last + 300)) ]; do usleep 10000; done
	usleep 800000
}

scrape() { # scrape BUILD ENCODING TEXT COUNT
	scrape_before=$(usage)
	for _ in $(seq "$4"); do get "$2" || fail "no page"; done
	figure "$1" "$3" $((($(usage) - scrape_before) / $4))
}

scrapes() { # scrapes BUILD LABEL
	start "$1" --monitor.interval=4s --metrics.process.min-joules=0.000001 --metrics.settle=0s
	sleep 20
	after_interval
	get identity # labels are escaped the first time
	after_interval
	scrape "$1" identity "first scrape of a snapshot, $2" 1
	scrape "$1" gzip "the first gzip of it, $2" 1
	scrape "$1" identity "any other scrape, $2" 8
	scrape "$1" gzip "any other scrape, gzip, $2" 8
	figure "$1" "VmRSS with series, $2" "$(resident)"
	stop
}

profile() { # profile LABEL: where an interval's instructions go
	for build in old new; do
		start $build
		sleep 20
		perf record -q -e cpu-clock -c 10000 -p $pid -o /tmp/perf.data -- sleep $window >/dev/null 2>/tmp/perf.log ||
			fail "perf: $(cat /tmp/perf.log)"
		echo "profile of $build, $1"
		for key in pid dso dso,symbol; do
			perf report -i /tmp/perf.data --stdio --sort $key --percent-limit 0.25 -n 2>/dev/null | grep -v '^#'
		done
		stop
	done
}

insmod /modules/0-labmsr.ko start_raw=0x10000 # the driver takes a counter of 0 for one that does not exist
for module in /modules/[1-9]*.ko; do
	insmod "$module"
done
parts=" $2 "
for count in $1; do
	crowd light "$count"
	label="$(processes) processes"
	case $parts in *" interval "*) for build in old new; do steady $build "$label"; done ;; esac
	case $parts in *" profile "*) profile "$label" ;; esac
	end_crowd
done
case $parts in *" active "*)
	crowd ring 1000
	for build in old new; do steady $build "1,000 active processes"; done
	end_crowd
	;;
esac
case $parts in *" scrape "*)
	crowd ring 2200
	for build in old new; do scrapes $build "2,200 active processes"; done
	end_crowd
	;;
esac
