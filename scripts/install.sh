#!/bin/sh
# Postrider from a release into a folder of yours: finds the archive for this machine, checks it against SHA256SUMS, puts
# one file in place, and prints the next command. Nothing else is written, and nothing is started. Read it first:
#
#   sh install.sh --from URL|FOLDER [--version 0.1.0] [--to FOLDER]
#
# --from (or POSTRIDER_FROM) is where the release lies: SHA256SUMS and the archives. --to is /usr/local/bin for root, and
# ~/.local/bin for everybody else. Without --version it is the highest that lies there.
#
# Everything is in functions and the last line starts them: half a download does nothing.
set -eu

main() {
  from=${POSTRIDER_FROM:-}
  version=
  to=
  while [ $# -gt 0 ]; do
    case $1 in
      --from | --version | --to)
        [ $# -ge 2 ] || fail "$1: expected a value behind it"
        case $1 in
          --from) from=$2 ;;
          --version) version=${2#v} ;;
          --to) to=$2 ;;
        esac
        shift 2
        ;;
      -h | --help)
        echo 'sh install.sh --from URL|FOLDER [--version VERSION] [--to FOLDER]'
        return
        ;;
      *) fail "unknown option $1; there are --from, --version and --to" ;;
    esac
  done
  [ -n "$from" ] || fail 'expected --from: the address or folder of a release'
  [ -n "$to" ] || to=$(usual_folder)

  for tool in uname mktemp tar sha256sum grep sed sort tail install mv; do
    has "$tool" || fail "$tool is needed and is not here"
  done
  target=$(target_of "$(uname -s)" "$(uname -m)")
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM HUP

  fetch SHA256SUMS
  archive=$(archive_for "$target" "$version")
  fetch "$archive"
  # Of all that stands there only this line: the other files are not here.
  (cd "$work" && grep -F "  $archive" SHA256SUMS | sha256sum -c --status) ||
    fail "$archive is not what SHA256SUMS says; nothing was installed"
  tar -xf "$work/$archive" -C "$work" "${archive%.tar.*}/postrider"
  "$work/${archive%.tar.*}/postrider" version >/dev/null || fail 'the program does not run on this machine'

  # A running program cannot be written over, but another can take its name.
  mkdir -p "$to"
  install -m 755 "$work/${archive%.tar.*}/postrider" "$to/.postrider.new"
  mv "$to/.postrider.new" "$to/postrider"
  next_command
}

# The folder that programs of whoever runs this are put in.
usual_folder() {
  if [ "$(id -u)" = 0 ]; then echo /usr/local/bin; else echo "${HOME:?}/.local/bin"; fi
}

# Names of system and processor → x64, arm64, or the same for musl.
target_of() {
  [ "$1" = Linux ] || fail "Postrider runs on Linux, and this is $1"
  case $2 in
    x86_64 | amd64) processor=x64 ;;
    aarch64 | arm64) processor=arm64 ;;
    *) fail "there is no Postrider for the processor $2" ;;
  esac
  for loader in /lib/ld-musl-*; do
    if [ -e "$loader" ]; then processor=$processor-musl; fi
  done
  echo "$processor"
}

# The name of the archive, the smaller kind where xz is here; the highest version where none is asked for.
archive_for() {
  kind=gz
  if has xz; then kind=xz; fi
  wanted=${2:-[0-9][0-9A-Za-z.+~-]*}
  found=$(sed 's/^[0-9a-f]*  //' "$work/SHA256SUMS" | grep -x "postrider-$wanted-linux-$1\.tar\.$kind" | sort -V | tail -n 1)
  [ -n "$found" ] || fail "there is no postrider${2:+ $2} for linux-$1 at $from"
  echo "$found"
}

# A file of the release → $work.
fetch() {
  case $from in
    http://* | https://*)
      if has curl; then
        curl -fsSL --retry 2 -o "$work/$1" "${from%/}/$1" || fail "${from%/}/$1 cannot be fetched"
      elif has wget; then
        wget -q -O "$work/$1" "${from%/}/$1" || fail "${from%/}/$1 cannot be fetched"
      else
        fail 'curl or wget is needed and neither is here'
      fi
      ;;
    *) cp "$from/$1" "$work/$1" || fail "$from/$1 cannot be read" ;;
  esac
}

next_command() {
  program=$to/postrider
  case :$PATH: in *:"$to":*) program=postrider ;; esac
  echo "Postrider is in $to/postrider. Look at it, with nothing leaving this machine:"
  echo "  $program try"
}

has() { command -v "$1" >/dev/null 2>&1; }

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

main "$@"
