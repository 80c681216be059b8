# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# Functions that ./run and ./check share. The caller is in the root of the tree and has set $me, its name in messages.

say() {
	echo "$me: $*" >&2
}

die() {
	say "$*"
	exit 1
}

# packages SECTION...: the packages that tools/dependencies.txt lists for them
packages() {
	for section; do
		awk -v section="$section" '$1 == section {print $2}' tools/dependencies.txt
	done
}

# missing SECTION...: those of them that are not installed
missing() {
	for package in $(packages "$@"); do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
	done
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# install_missing SECTION...: nothing when all is there; else one line, apt's own words only when it fails
install_missing() {
	if ! command -v dpkg-query >/dev/null; then
		say "not a Debian system: install the packages that tools/dependencies.txt lists; going on with those already here"
		return 0
	fi
	wanted=$(missing "$@" | xargs)
	[ -n "$wanted" ] || return 0
	if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
		die "missing packages, and neither root nor sudo here. As root: apt-get install --no-install-recommends $wanted"
	fi
	say "installing $(echo "$wanted" | wc -w) packages from Debian: $wanted"
	log=$(mktemp)
	for step in "update" "install -y --no-install-recommends $wanted"; do
		# shellcheck disable=SC2086 # words of apt's command line
		if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=2 -o Dpkg::Use-Pty=0 \
			$step >"$log" 2>&1; then
			tail -n 15 "$log" >&2
			rm -f "$log"
			die "apt-get ${step%% *} failed (network? privilege?); needed: $wanted"
		fi
	done
	rm -f "$log"
}

# build_targets DIR TARGET...: builds them, on a terminal with ninja's own line of progress; else it prints what failed, and
# DIR/build.log has all of it
build_targets() {
	dir=$1
	shift
	steps=$(ninja -C "$dir" -n "$@" 2>/dev/null | sed -n 's|^\[[0-9]*/\([0-9]*\)\].*|\1|p' | tail -n 1)
	minutes=$((${steps:-0} / 200 / $(nproc) + 1))
	[ "${steps:-0}" -le 100 ] || say "$steps steps: about $minutes min on $(nproc) CPUs, less with ccache"
	if [ -t 1 ]; then
		ninja -C "$dir" "$@" || die "the build failed"
	elif ! ninja -C "$dir" "$@" >"$dir/build.log" 2>&1; then
		tail -n 40 "$dir/build.log" >&2
		die "the build failed; all of it is in $dir/build.log"
	fi
}

# set_up DIR MESON-OPTION...: configures DIR unless it is configured
set_up() {
	dir=$1
	shift
	[ ! -f "$dir/build.ninja" ] || return 0
	say "configuring $dir"
	mkdir -p "$dir"
	if ! meson setup "$dir" "$@" >"$dir/setup.log" 2>&1; then
		tail -n 20 "$dir/setup.log" >&2
		die "meson setup failed; all of it is in $dir/setup.log"
	fi
}

# set_up_sanitized DIR MESON-OPTION...: the build for tests. Little optimisation, and lines without variables, take half the time to
# compile. Two warnings are left to the release build, because they need more optimisation to be right.
set_up_sanitized() {
	dir=$1
	shift
	set_up "$dir" -Db_sanitize=address,undefined -Doptimization=1 \
		'-Dc_args=-g1 -Wno-format-truncation -Wno-maybe-uninitialized' "$@"
}
