#!/bin/sh
# setup.sh - installs what the tests and the instructor's tools need. `make grade` needs none of it.
set -u

packages="gcc g++ make libc6-dev binutils libcunit1-dev clang-format jq libarchive-dev libsqlite3-dev sqlite3 libcjson-dev libcsv-dev libyaml-dev bubblewrap similarity-tester python3-jsonschema gnuplot-nox"

if ! command -v apt-get > /dev/null; then
    echo "This system has no apt-get. Install by hand what corresponds to: $packages" >&2
    exit 1
fi
missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q "install ok installed" ||
        missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo "Everything the tests need is installed."
    exit 0
fi
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
if [ -n "$sudo" ] && ! command -v sudo > /dev/null; then
    echo "Installing needs root. Ask for these packages:$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$sudo apt-get update -q && $sudo apt-get install -y -q --no-install-recommends $missing
