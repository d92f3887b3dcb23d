#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Runs a command of the project on a bare Debian 12, where nothing is installed but what debootstrap's minbase has, to
# see that the project brings everything that it needs.
#
#   scripts/fresh_machine.sh [--keep] COMMAND...      e.g. scripts/fresh_machine.sh scripts/demo.sh
#
# The committed state of this checkout is copied into a new root, and COMMAND runs there as root, with this machine's
# package sources. Needs root and debootstrap, which is installed if missing; --can-run only says whether that is so
# (exit status 0 or 1). The bare system is made once and kept below $TMPDIR; --keep keeps the root of this run, too.
# Exits with the command's status and says how long it took.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "fresh_machine: $*" >&2; }

# Prints why this machine cannot do it, or nothing.
obstacle() {
  if [ "$(id -u)" != 0 ]; then
    echo "a new root needs the rights of root; try sudo"
  elif ! command -v debootstrap >/dev/null && ! command -v apt-get >/dev/null; then
    echo "debootstrap is missing, and no apt-get to install it"
  elif ! unshare --mount true 2>/dev/null; then
    echo "mounting is not allowed here, as in many containers"
  fi
}

keep=false
while [ $# -gt 0 ]; do
  case $1 in
    --can-run) why=$(obstacle); [ -z "$why" ] || { say "$why"; exit 1; }; exit 0 ;;
    --keep) keep=true; shift ;;
    -*) say "unknown option $1"; exit 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { sed -n '3,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
why=$(obstacle)
[ -z "$why" ] || { say "$why"; exit 2; }

cache=${TMPDIR:-/tmp}/weft-fresh-debian-12
base=$cache/base
mkdir -p "$cache"
if [ ! -e "$base.done" ]; then
  say "making a bare Debian 12 in $base (a minute or two)"
  if ! command -v debootstrap >/dev/null; then
    { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends debootstrap; } \
      >"$cache/install.log" 2>&1 || { say "cannot install debootstrap, see $cache/install.log"; exit 2; }
  fi
  rm -rf "$base"
  mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
  debootstrap --variant=minbase bookworm "$base" ${mirror:+"$mirror"} >"$cache/debootstrap.log" 2>&1 ||
    { say "debootstrap failed, see $cache/debootstrap.log"; exit 2; }
  # the same package sources as here, with what it takes to trust and to reach them
  rm -rf "$base"/etc/apt/sources.list "$base"/etc/apt/sources.list.d
  cp -a /etc/apt/sources.list* /etc/apt/apt.conf.d "$base/etc/apt/" 2>/dev/null || true
  cp -a /etc/apt/keyrings /etc/apt/trusted.gpg.d "$base/etc/apt/" 2>/dev/null || true
  cp -a /usr/share/keyrings/. "$base/usr/share/keyrings/" 2>/dev/null || true
  cp -L /etc/resolv.conf /etc/hosts "$base/etc/" 2>/dev/null || true
  touch "$base.done"
fi

root=$(mktemp -d "$cache/root.XXXXXX")
leave() {
  local status=$?
  local at
  for at in dev sys proc; do umount -R -l "$root/$at" 2>/dev/null || true; done
  if $keep; then
    say "kept $root"
  elif ! grep -qF " $root/" /proc/mounts; then
    rm -rf "$root"
  fi
  exit $status
}
trap leave EXIT
trap 'exit 130' INT TERM
cp -a "$base/." "$root/"
mkdir -p "$root/srv/project"
git -c safe.directory="$PWD" archive HEAD | tar -x -C "$root/srv/project"
mount -t proc proc "$root/proc"
mount -t sysfs sys "$root/sys" 2>/dev/null || true
mount --rbind /dev "$root/dev" 2>/dev/null && mount --make-rslave "$root/dev"

begin=$SECONDS status=0
env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 \
  ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
  chroot "$root" bash -c 'cd /srv/project && exec "$@"' _ "$@" </dev/null || status=$?
say "exit $status after $((SECONDS - begin)) s: $*"
exit $status
