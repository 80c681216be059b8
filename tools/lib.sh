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

# test_names DIR NAME...: the tests' full names; "split" is enough for "attribution/split". One that is unknown stays as it is.
test_names() {
	dir=$1
	shift
	for name; do
		meson test -C "$dir" --no-rebuild --list 2>/dev/null | awk -v name="$name" '
			{ full = $NF; short = full; sub(".*/", "", short) }
			full == name { exact = 1 }
			short == name && !(full in seen) { seen[full]; list = list " " full }
			END { print exact || list == "" ? name : list }'
	done
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
