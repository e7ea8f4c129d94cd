#!/bin/sh
# setup.sh - installs the tools that decks need: node and npm, Chromium and gnuplot (apt), node packages from the lock file (npm).
# Nothing else in the workbook needs them.
set -eu
cd "$(dirname "$0")"

packages=""
have() { command -v "$1" > /dev/null; }
have node || packages="$packages nodejs"
have npm || packages="$packages npm"
have chromium || have chromium-browser || have google-chrome || packages="$packages chromium"
have gnuplot || packages="$packages gnuplot-nox"
if [ -n "$packages" ]; then
    if ! have apt-get; then
        echo "This system has no apt-get. Install the equivalents of these packages yourself:$packages" >&2
        exit 1
    fi
    sudo=""
    [ "$(id -u)" = 0 ] || sudo="sudo"
    if [ -n "$sudo" ] && ! have sudo; then
        echo "Installing needs root. Ask your administrator for these packages:$packages" >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    $sudo apt-get update -q && $sudo apt-get install -y -q --no-install-recommends $packages
fi
if ! node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)'; then
    echo "Decks need node 18 or newer; this is $(node --version)" >&2
    exit 1
fi
if cmp -s package-lock.json node_modules/.installed; then
    echo "Everything that decks need is installed."
else
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.installed
fi
