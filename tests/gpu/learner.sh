#!/bin/bash
# learner.sh BUILD OUT [LAB...] - make profile and make sweep on a real GPU, for each lab. About five minutes.
#
# Prints PASS or FAIL per check. OUT gets LAB.sweep.txt (rung 1 beside the reference; copy an H200's to
# docs/measured), LAB.profile.txt and LAB.ncu.csv (ncu's table). Where counters are not permitted, profile must say why.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:?the build folder} out=${2:?a folder for the results}
shift 2
case $build in /*) ;; *) build=$PWD/$build ;; esac
export WARPBOOK_BUILD=$build
mkdir -p "$out"
failed=0

check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" > "$out/said" 2>&1; then
        echo "PASS $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        tail -5 "$out/said" | sed 's/^/    /'
    fi
}

to_file() { # FILE COMMAND...: keeps what it prints, and its status
    local file=$1
    shift
    "$@" > "$file" 2>&1
}

rung() { find "solutions/$1" -maxdepth 1 -name '[1-9]*.cu' | sort -V | "$2" -1; }

profiled() { # LAB: a table in which no more than a few values are missing, or the reason
    local file=$out/$1.profile.txt
    if to_file "$file" "$build/warpbook" profile "$1" --submission "$(rung "$1" tail)"; then
        "$ncu" --import "$build/profile/${1#*_}.ncu-rep" --csv --page raw --print-units base > "$out/$1.ncu.csv"
        cat "$file"
        [ "$(grep -cE ' [0-9.]+ [%us]*$' "$file")" -ge 3 ] && [ "$(grep -cE ' -$' "$file")" -le 2 ]
    else
        cat "$file"
        grep -qE '^No counters: ' "$file" && ! grep -q 'ncu or the kernel failed' "$file"
    fi
}

swept() { # LAB: every value has both speeds
    rm -f "$out/$1.sweep.txt"
    "$build/warpbook" sweep "$1" --submission "$(rung "$1" head)" --figures "$out/$1.sweep.txt" &&
        [ "$(grep -cE '/(yours|reference) [0-9]' "$out/$1.sweep.txt")" -ge 8 ] &&
        ! grep -qE '/(yours|reference) 0$' "$out/$1.sweep.txt"
}

is_real() { grep -q '^device: NVIDIA' "$1" && ! grep -q modelled "$1"; }

. grader/build/toolkit.sh
ncu=$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2> /dev/null | tail -1)
labs=("$@")
[ $# -gt 0 ] || mapfile -t labs < <(basename -a labs/*/)
for lab in "${labs[@]}"; do
    if grep -q '\.sweep = ' "labs/$lab/lab.c"; then
        check "sweep $lab" swept "$lab"
        check "sweep $lab is measured" is_real "$out/$lab.sweep.txt"
        check "sweep $lab: its picture" grep -q '</svg>' "$build/sweep/${lab#*_}.svg"
    fi
    check "profile $lab" profiled "$lab"
done
rm -f "$out/said"
[ "$failed" = 0 ] && echo "PASS all"
exit $((failed > 0))
