# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# What control-plane and node share. The caller has set $here and is called with DIR up|down; afterwards the folder is the current
# one, and $binaries and PATH lead to the programs. Everything listens on loopback only, the kubelet excepted.

kubelet_port=10250 # where Kepler looks for it

die() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

enter() { # enter DIR
	cache=${KEPLER_LAB_CACHE:-/var/cache/kepler-lab}
	binaries=$("$here/build" --path) || die "Kubernetes is not built: $here/build"
	PATH=$binaries:$PATH:$cache/tools/usr/bin:$cache/tools/usr/sbin:/usr/sbin:/sbin
	mkdir -p "$1"
	directory=$(readlink -f "$1")
	cd "$directory" || exit
}

start() { # start NAME COMMAND...: in the background, with NAME.pid and NAME.log
	local name=$1
	shift
	[ ! -f "$name.pid" ] || ! kill -0 "$(cat "$name.pid")" 2>/dev/null || die "$name runs already"
	setsid "$@" >"$name.log" 2>&1 </dev/null &
	echo $! >"$name.pid"
}

wait_for() { # wait_for NAME SECONDS COMMAND...: until the command succeeds; ends when NAME has ended
	local name=$1 deadline=$((SECONDS + $2))
	shift 2
	until "$@" >/dev/null 2>&1; do
		kill -0 "$(cat "$name.pid")" 2>/dev/null || { tail -n 5 "$name.log" >&2; die "$name ended"; }
		[ $SECONDS -lt $deadline ] || { tail -n 5 "$name.log" >&2; die "$name is not ready"; }
		sleep 0.2
	done
}

stop() { # stop NAME: and waits, so that its port is free
	[ -f "$1.pid" ] || return 0
	local pid
	pid=$(cat "$1.pid")
	kill "$pid" 2>/dev/null || true
	for _ in $(seq 75); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.2
	done
	kill -9 "$pid" 2>/dev/null || true
	rm -f "$1.pid"
}

certificate() { # certificate NAME SUBJECT [SUBJECT-ALTERNATIVE-NAMES]: NAME.key and NAME.crt, signed by ca.crt
	openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "$2" 2>/dev/null
	openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out "$1.crt" \
		-extfile <(echo "${3:+subjectAltName=$3}") 2>/dev/null
	rm "$1.csr"
}
