# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# Debian's archive without the machine's own package manager state: other suites and architectures, nothing is installed.
# For scripts that set $cache (the lab's cache) and $arch, and call open_archive first.

die() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# The first http mirror among the machine's own package sources.
mirror() {
	[ -z "${DEBIAN_MIRROR:-}" ] || { echo "$DEBIAN_MIRROR"; return; }
	found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
		awk '/^(URIs:|deb )/ {for (i = 2; i <= NF; i++) if ($i ~ /^https?:.*\/debian\/?$/) {print $i; exit}}')
	echo "${found:-http://deb.debian.org/debian}"
}

# base_system: prints where a tar of Debian 12's base system lies, which is made once. The format is named: mmdebstrap makes a
# folder where the name of its target does not end like an archive's.
base_system() {
	base=$cache/fresh-bookworm-$arch.tar
	if [ ! -f "$base" ]; then
		command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install --no-install-recommends mmdebstrap"
		echo "$(basename "$0"): making a base system" >&2
		mkdir -p "$cache"
		rm -rf "$base" "$base.part"
		mmdebstrap --quiet --variant=minbase --include=sudo --format=tar bookworm "$base.part" "$(mirror)" >&2 ||
			die "mmdebstrap failed"
		mv "$base.part" "$base"
	fi
	echo "$base"
}

# open_archive SUITE: a work folder $work below the cache, gone at exit, with the suite's package lists
open_archive() {
	mkdir -p "$cache" || die "cannot write to $cache (set KEPLER_LAB_CACHE)"
	work=$(mktemp -d "$cache/fetch.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' INT TERM
	mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
	: >"$work/status"
	echo "deb [arch=$arch signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $1 main" >"$work/sources.list"
	own_apt apt-get -qq update || die "no package list for $1 from $(mirror)"
}

close_archive() {
	rm -rf "$work"
	trap - EXIT INT TERM
}

own_apt() {
	tool=$1
	shift
	"$tool" -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o Dir::State::status="$work/status" \
		-o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o APT::Sandbox::User=root "$@"
}

# with_dependencies REGEX PACKAGE...: these and what they depend on, and so on, as far as names match
with_dependencies() {
	want=$1
	shift
	wave=$* seen=
	while [ -n "$wave" ]; do
		seen="$seen $wave"
		# shellcheck disable=SC2086 # a list of packages
		wave=$(own_apt apt-cache depends --no-recommends --no-suggests $wave | awk -v want="$want" -v seen="$seen" '
			BEGIN {split(seen, names); for (i in names) known[names[i]]}
			$1 == "Depends:" && $2 ~ want && !($2 in known) {known[$2]; printf "%s ", $2}')
	done
	echo "$seen"
}

# download PACKAGE...: their files in $work
download() {
	(cd "$work" && own_apt apt-get -qq download "$@") || die "download of $* failed"
}

# unpack FOLDER PACKAGE...: fetches them and unpacks them there
unpack() {
	folder=$1
	shift
	download "$@"
	for deb in "$work"/*.deb; do
		dpkg-deb -x "$deb" "$folder"
	done
	rm -f "$work"/*.deb
}
