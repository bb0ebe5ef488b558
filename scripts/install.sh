#!/bin/sh
# Installs Postrider from a release: finds the archive for this machine, verifies the signature of SHA256SUMS and the archive
# against it, installs one file, and prints the next command. It writes nothing else and starts nothing. Read it first:
#
#   sh install.sh --from URL|FOLDER [--version 0.1.0] [--to FOLDER] [--signers FILE | --no-verify]
#
# --from (or POSTRIDER_FROM) is the URL or folder of the release, with SHA256SUMS, SHA256SUMS.minisig and the archives. --to
# defaults to /usr/local/bin for root and to ~/.local/bin for other users. --version defaults to the highest version of the
# release. --signers is a file of public keys of minisign that may sign releases; without it, the keys below count.
# --no-verify skips the signature.
#
# Only the last line calls a function, so that an incomplete download does nothing.
set -eu

# Keys that may sign releases; scripts/release fills them in.
signers=''

main() {
  from=${POSTRIDER_FROM:-}
  version=
  to=
  verify=yes
  while [ $# -gt 0 ]; do
    case $1 in
      --from | --version | --to | --signers)
        [ $# -ge 2 ] || fail "$1: missing value"
        case $1 in
          --from) from=$2 ;;
          --version) version=${2#v} ;;
          --to) to=$2 ;;
          --signers) signers=$(cat "$2") || fail "cannot read $2" ;;
        esac
        shift 2
        ;;
      --no-verify)
        verify=no
        shift
        ;;
      -h | --help)
        echo 'sh install.sh --from URL|FOLDER [--version VERSION] [--to FOLDER] [--signers FILE | --no-verify]'
        return
        ;;
      *) fail "unknown option $1; the options are --from, --version, --to, --signers and --no-verify" ;;
    esac
  done
  [ -n "$from" ] || fail 'missing --from: the URL or folder of a release'
  [ -n "$to" ] || to=$(usual_folder)

  for tool in uname mktemp tar sha256sum grep sed sort tail install mv; do
    has "$tool" || fail "$tool not found; install it first"
  done
  target=$(target_of "$(uname -s)" "$(uname -m)")
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM HUP

  fetch SHA256SUMS
  verify_sums
  archive=$(archive_for "$target" "$version")
  fetch "$archive"
  # Only the line of this archive, since the other files were not downloaded.
  (cd "$work" && grep -F "  $archive" SHA256SUMS | sha256sum -c --status) ||
    fail "$archive does not match SHA256SUMS; nothing was installed"
  tar -xf "$work/$archive" -C "$work" "${archive%.tar.*}/postrider"
  "$work/${archive%.tar.*}/postrider" version >/dev/null || fail 'the executable does not run on this machine'

  # A running executable cannot be overwritten, but it can be replaced by a rename.
  mkdir -p "$to"
  install -m 755 "$work/${archive%.tar.*}/postrider" "$to/.postrider.new"
  mv "$to/.postrider.new" "$to/postrider"
  next_command
}

# The folder for programs of the current user.
usual_folder() {
  if [ "$(id -u)" = 0 ]; then echo /usr/local/bin; else echo "${HOME:?}/.local/bin"; fi
}

# Names of system and processor → x64 or arm64, with -musl for musl.
target_of() {
  [ "$1" = Linux ] || fail "Postrider requires Linux; this system is $1"
  case $2 in
    x86_64 | amd64) processor=x64 ;;
    aarch64 | arm64) processor=arm64 ;;
    *) fail "processor $2 is not supported" ;;
  esac
  for loader in /lib/ld-musl-*; do
    if [ -e "$loader" ]; then processor=$processor-musl; fi
  done
  echo "$processor"
}

# The signature of SHA256SUMS is by one of the keys.
verify_sums() {
  if [ "$verify" = no ]; then
    echo 'install.sh: the signature is not verified, because of --no-verify' >&2
    return
  fi
  keys=$(printf '%s\n' "$signers" | grep '^RW') ||
    fail 'no keys of releases here; give a file of them with --signers, or --no-verify'
  has minisign || fail 'minisign not found; install the package minisign, or give --no-verify'
  fetch SHA256SUMS.minisig
  for key in $keys; do
    if minisign -VHqm "$work/SHA256SUMS" -P "$key" >/dev/null 2>&1; then return; fi
  done
  fail 'the signature of SHA256SUMS is not by one of the known keys; nothing was installed'
}

# The name of the archive: compressed by xz if xz is installed, of the highest version by default.
archive_for() {
  kind=gz
  if has xz; then kind=xz; fi
  wanted=${2:-[0-9][0-9A-Za-z.+~-]*}
  found=$(sed 's/^[0-9a-f]*  //' "$work/SHA256SUMS" | grep -x "postrider-$wanted-linux-$1\.tar\.$kind" | sort -V | tail -n 1)
  [ -n "$found" ] || fail "no postrider${2:+ $2} for linux-$1 found at $from"
  echo "$found"
}

# A file of the release → $work.
fetch() {
  case $from in
    http://* | https://*)
      if has curl; then
        curl -fsSL --retry 2 -o "$work/$1" "${from%/}/$1" || fail "cannot download ${from%/}/$1"
      elif has wget; then
        wget -q -O "$work/$1" "${from%/}/$1" || fail "cannot download ${from%/}/$1"
      else
        fail 'neither curl nor wget found; install one first'
      fi
      ;;
    *) cp "$from/$1" "$work/$1" || fail "cannot read $from/$1" ;;
  esac
}

next_command() {
  program=$to/postrider
  case :$PATH: in *:"$to":*) program=postrider ;; esac
  echo "Installed $to/postrider. Try it; no mail leaves this machine:"
  echo "  $program try"
}

has() { command -v "$1" >/dev/null 2>&1; }

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

main "$@"
