#!/bin/sh
# check_tools.sh - lists the tools that `make slides` lacks, and how to install them.
missing=""
command -v node > /dev/null || missing="$missing node"
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || missing="$missing chromium"
command -v gnuplot > /dev/null || missing="$missing gnuplot"
[ -d "${0%/*}/node_modules/@marp-team" ] || missing="$missing node packages (slides/package-lock.json)"
[ -z "$missing" ] && exit 0
echo "Decks cannot be built here. Missing:$missing. To install: make setup-slides" >&2
exit 1
