#!/usr/bin/env bash
# Node's own tests, from the source package of Debian's nodejs 20, into a directory. Needs root for apt's package lists no
# more than any apt-get does: lists and archives stay in the directory. Usage: fetch-node-tests.sh DIR
set -euo pipefail
target=$(realpath -m "${1:?usage: fetch-node-tests.sh DIR}")
mkdir -p "$target"/apt/{lists/partial,archives/partial} "$target/node"
# The mirror is the one this machine has its packages from.
mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } | grep -oE 'https?://[^ ]+/debian/?( |$)' | tr -d ' ' | sort -u | head -n 1)
keys=/usr/share/keyrings/debian-archive-keyring.gpg
printf 'deb-src [signed-by=%s] %s trixie main\n' "$keys" "$mirror" >"$target/apt/sources.list"
apt=(-o "Dir::Etc::SourceList=$target/apt/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$target/apt/lists"
  -o "Dir::Cache::Archives=$target/apt/archives" -o APT::Get::List-Cleanup=0 -o APT::Sandbox::User=root)
cd "$target/apt"
apt-get "${apt[@]}" update -qq
version=$(apt-cache "${apt[@]}" showsrc nodejs | awk '/^Version: 20\./ { print $2 }' | sort -V | tail -n 1)
# Packaging files of a superseded revision may be gone; the upstream archive is all that is needed.
apt-get "${apt[@]}" source -qq --download-only "nodejs=$version" >/dev/null 2>&1 || true
archive=$(ls nodejs_20.*.orig.tar.xz | head -n 1)
tar -xJf "$archive" -C "$target/node" --strip-components=1 --wildcards '*/test/common' '*/test/fixtures' \
  '*/test/parallel/test-fs*' '*/test/parallel/test-filehandle*'
