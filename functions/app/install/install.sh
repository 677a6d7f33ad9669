#!/bin/sh
# Installs the CLI of Vitrine for the current user:
#
#   curl -fsSL URL/install.sh | sh
#   wget -qO- URL/install.sh | sh
#
# The program goes to $VITRINE_INSTALL, by default $HOME/.local/bin. Its settings get the address of this deployment, if
# they have none. Nothing else is changed.
#
# Everything is in functions, and the last line calls the first of them, so that a part of this script does nothing.

install_vitrine() {
  set -u
  umask 077
  app=@app@
  api=@api@
  version=@version@
  publish=@publish@

  folder=${VITRINE_INSTALL:-${HOME:+$HOME/.local/bin}}
  case $folder in
    /*) ;;
    '') stop "Neither VITRINE_INSTALL nor HOME is set: name the folder of the program with VITRINE_INSTALL." ;;
    *) folder=$PWD/$folder ;;
  esac
  allow_protocols
  find_platform
  for tool in mktemp tar gzip; do has "$tool" || stop "$tool is needed: install it, then run this again."; done
  has curl || has wget || stop "curl or wget is needed: install one, then run this again."
  has sha256sum || has shasum || stop "sha256sum or shasum is needed: install one, then run this again."

  temporary=$(mktemp -d) || stop "No temporary folder can be made."
  new=$temporary/none
  trap 'rm -rf "$temporary" "$new"' EXIT
  trap 'exit 1' HUP INT TERM
  if stays; then
    say "$folder/vitrine is $have, newer than the $version of this deployment, so it stays. Delete it to get $version."
  else
    put_program
    say "vitrine $version is installed: $folder/vitrine"
  fi
  set_address
  say_next
}

say() { printf '%s\n' "$*"; }
stop() {
  printf 'vitrine was not installed. %s\n' "$*" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# allow_protocols allows HTTP for a deployment on this machine only.
allow_protocols() {
  case $app in
    https://*) protocols='=https' ;;
    http://localhost | http://localhost:* | http://127.0.0.1 | http://127.0.0.1:*) protocols='=http,https' ;;
    *) stop "$app would send the program without encryption." ;;
  esac
}

find_platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN*) stop "In PowerShell of Windows run: irm $app/install.ps1 | iex" ;;
    *) stop "There is no CLI for $(uname -s)." ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) stop "There is no CLI for $(uname -m) processors." ;;
  esac
  # To a shell that Rosetta translates, the processor is one of Intel.
  if [ "$os" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then arch=arm64; fi
  archive=vitrine_${version}_${os}_$arch.tar.gz
}

# stays tells whether the folder has a newer version, and sets have to the version that it has.
stays() {
  [ ! -d "$folder/vitrine" ] || stop "$folder/vitrine is a folder: choose another place with VITRINE_INSTALL."
  have=
  if [ ! -x "$folder/vitrine" ]; then return 1; fi
  have=$("$folder/vitrine" version </dev/null 2>/dev/null) || return 1 # it does not run
  case $have in
    'vitrine '[0-9]*.[0-9]*.[0-9]*) have=${have#vitrine } ;;
    *) stop "$folder/vitrine is another program: choose another place with VITRINE_INSTALL." ;;
  esac
  newer "${have%%-*}" "$version"
}

# newer compares two versions of three numbers.
newer() {
  a=$1. b=$2.
  while [ -n "$a" ]; do
    if [ "${a%%.*}" -gt "${b%%.*}" ]; then return 0; fi
    if [ "${a%%.*}" -lt "${b%%.*}" ]; then return 1; fi
    a=${a#*.} b=${b#*.}
  done
  return 1
}

# put_program downloads, checks and tries the program before it takes the place of an older one.
put_program() {
  (umask 022 && mkdir -p "$folder") 2>/dev/null ||
    stop "$folder cannot be made: choose another folder with VITRINE_INSTALL."
  new=$(mktemp "$folder/.vitrine.XXXXXX" 2>/dev/null) ||
    stop "$folder cannot be written to: choose another folder with VITRINE_INSTALL."
  fetch checksums.txt
  wanted=
  while read -r sum name; do
    if [ "$name" = "$archive" ]; then wanted=$sum; fi
  done <"$temporary/checksums.txt"
  [ -n "$wanted" ] || stop "This deployment has no CLI for $os on $arch."
  fetch "$archive"
  got=$(checksum "$temporary/$archive")
  [ "$got" = "$wanted" ] || stop "$archive did not arrive as it was sent: its SHA-256 is $got and should be $wanted."
  tar -xzOf "$temporary/$archive" vitrine >"$new" || stop "$archive cannot be unpacked into $folder."
  chmod 755 "$new" || stop "The program cannot be made executable in $folder."
  [ "$("$new" version </dev/null 2>/dev/null)" = "vitrine $version" ] ||
    stop "The program does not run in $folder: choose a folder with VITRINE_INSTALL where programs may run."
  mv -f "$new" "$folder/vitrine" || stop "$folder/vitrine cannot be replaced."
}

# fetch downloads a file of the release. wget cannot be told which protocols a redirect may lead to; what it brings is
# checked like the rest. It would try 20 times, for minutes and without a word; that of busybox tries once all the same.
fetch() {
  url=$app/cli/$version/$1
  if has curl; then
    curl -fsSL --proto "$protocols" --proto-redir "$protocols" -o "$temporary/$1" "$url"
  else
    wget -q -t 3 -O "$temporary/$1" "$url"
  fi || stop "$url did not arrive: look at the message above, or try again later."
}

checksum() {
  if has sha256sum; then sum=$(sha256sum <"$1"); else sum=$(shasum -a 256 <"$1"); fi
  printf '%s\n' "${sum%% *}"
}

# set_address makes this deployment the one that the CLI talks to, unless it talks to another.
set_address() {
  program=$folder/vitrine
  case $("$program" config get url --json </dev/null 2>/dev/null) in
    *'"source":"default"'*)
      "$program" config set url "$api" </dev/null >/dev/null ||
        say "To use this deployment: vitrine config set url $api"
      ;;
    *)
      if [ "$("$program" config get url </dev/null 2>/dev/null)" != "$api" ]; then
        say "It talks to another deployment. To use this one: vitrine config set url $api"
      fi
      ;;
  esac
}

say_next() {
  case :${PATH:-}: in
    *":$folder:"*) ;;
    *)
      say "This folder is not in your PATH. To find the program there, add this line to the profile of your shell:"
      say "  export PATH=\"$folder:\$PATH\""
      ;;
  esac
  say "Next: $publish"
}

install_vitrine
