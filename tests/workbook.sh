#!/bin/bash
# workbook.sh - checks the workbook's files: dependencies, English, figures in lessons, what the Makefile finds, and
# that a lab can be added. Builds in copies with scripted tools, so it needs neither nvcc nor a GPU.
set -uo pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL B CFLAGS # a make above us, and what it was told

. tests/check.sh
export TMPDIR=$work

# The nvcc on the PATH may be a script that calls the real one: the counters' driver once searched for
# its headers next to the script.
toolkit_of_a_script() {
    mkdir -p "$work/path" "$work/cuda-1/bin"
    printf '#!/bin/sh\necho "#$ TOP=%s/cuda-1/bin/.." >&2\n' "$work" > "$work/cuda-1/bin/nvcc"
    printf '#!/bin/sh\nexec "%s/cuda-1/bin/nvcc" "$@"\n' "$work" > "$work/path/nvcc"
    chmod +x "$work/cuda-1/bin/nvcc" "$work/path/nvcc"
    # shellcheck disable=SC2016 # for the other shell
    found=$(env -u CUDA_HOME PATH="$work/path:$PATH" sh -uc '. grader/build/toolkit.sh; echo "$nvcc $cuda"')
    [ "$found" = "$work/path/nvcc $(cd "$work/cuda-1" && pwd -P)" ] || { echo "$found"; return 1; }
}
check "the toolkit is where nvcc says it is" toolkit_of_a_script

# What setup installs is found within the same call of make. Here it "installs" a file without which the
# compiler finds no libarchive.
setup_comes_first() {
    mkdir "$work/copy"
    cp -r Makefile common grader labs tests "$work/copy/"
    printf '#!/bin/sh\n: > "%s"\n' "$work/installed" > "$work/copy/tests/setup.sh"
    printf '#!/bin/sh\ncase "$*" in *-larchive*) [ -e "%s" ] || exit 1 ;; esac\nexec cc "$@"\n' "$work/installed" > "$work/cc"
    chmod +x "$work/cc"
    make -s -C "$work/copy" CC="$work/cc" B="$work/before" "$work/before/suites.c" || return 1
    ! grep test_gradebook "$work/before/suites.c" || return 1
    make -s -C "$work/copy" CC="$work/cc" B="$work/after" "$work/after/suites.c" setup || return 1
    grep -q test_gradebook "$work/after/suites.c"
}
if echo 'int main(void) { return 0; }' | cc -include archive.h -include sqlite3.h -include cjson/cJSON.h -include csv.h -include yaml.h -x c -o "$work/probe" - \
    -larchive -lsqlite3 -lcjson -lcsv -lyaml 2> /dev/null; then
    check "what setup installs is found at once" setup_comes_first
else
    skip "libarchive, SQLite, cJSON, libcsv or libyaml is not installed: whether make finds them after setup"
fi

# A first build shows "building 7/320 NAME": the total is what is built, to the last file.
total_is_exact() {
    make -n -j1 MAKE_TERMOUT=1 B="$work/first" V= programs 2> /dev/null | sed -n "s/^printf 'building.* \"\([0-9/]*\)\" .*/\1/p" > "$work/steps"
    local steps
    steps=$(wc -l < "$work/steps")
    [ "$steps" -gt 100 ] && [ "$(tail -1 "$work/steps")" = "$steps/$steps" ] && return
    tail -3 "$work/steps"
    return 1
}
check "a first build counts to its total" total_is_exact

# What a learner is told is no error of make's; the status of a grading is kept.
answers() { # GOAL STATUS: of warpbook; of make
    printf '#!/bin/sh\nexit %s\n' "$2" > "$work/fake/warpbook"
    make -s -o programs B="$work/fake" "$1" > /dev/null 2>&1
    local got=$?
    [ $got = "$3" ] && return
    echo "make $1: $got, expected $3"
    return 1
}
mkdir "$work/fake"
printf '#!/bin/sh\n' > "$work/fake/warpbook"
chmod +x "$work/fake/warpbook"
for goal in hint explain compare quiz see; do
    check "make $goal: 'not yet' is an answer" answers $goal 1 0
    check "make $goal: an error is one" answers $goal 3 2
done
check "make grade keeps the status" answers grade 1 2
check "make check does, too" answers check 1 2

benched() { make -n bench NVCC=nvcc LAB="$1" 2>&1 | sed -n 's/^set -e; for program in \([^;]*\);.*/\1/p' | sed 's|[^ ]*/bench_||g'; }
check "make bench LAB: by number, name and folder" test "$(benched "6 sgemm 14_tuning")" = "06_transpose 09_sgemm 14_tuning"
check "make bench LAB: there is no such lab" not make -n bench LAB=nonsense

check "dependencies point one way" tests/dependencies.sh
check "no construction comes back that was banned" tests/english.sh
check "figures in lessons are those that were measured" tests/figures.sh check
check "and a figure that is not is found" tests/figures_test.sh
check "a lab is added without editing a file" env WARPBOOK_NVCC="$PWD/tests/fake_nvcc" WARPBOOK_READELF="$PWD/tests/fake_nvcc" \
    WARPBOOK_RUNNER=fake_runner WARPBOOK_PATIENCE=0.3 tests/add_a_lab.sh

finish
