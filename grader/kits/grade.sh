#!/bin/bash
# grade.sh HOST SUBMISSION RESULT LAB... - grades the kernels in the folder SUBMISSION on the simulated GPU, and writes
# RESULT in HOST's format: gradescope, prairielearn, classroom50, or text.
#
# The files of the submission are untrusted. Regular files of at most 256 KiB are read, and no link is followed. The
# score comes from `warpbook grade --format lines` alone, into which a student's output cannot write a line of its own.
# Kernels run in bubblewrap; where that does not work (most containers), as user 65534 without this environment; where
# that does not work either (not root), under the grader's own seccomp and Landlock. Standard output says which: it is
# for instructors. Exit status 3: the grader or the machine failed, and no result was written.
#
# $WARPBOOK_TREE: the workbook, built; otherwise the folder warpbook/ next to this script. $WARPBOOK_FLAGS: options for
# `warpbook grade`. $WARPBOOK_LIMIT_S: seconds per lab. $WARPBOOK_CONFINE: the first way to try (bwrap, user, own).
# $WARPBOOK_KEEP: what is built stays in the workbook; for the course's own kernels only.
set -euo pipefail
export LC_ALL=C
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
host=$1 submission=$2 result=$3
shift 3
labs=("$@")
tree=$(cd "${WARPBOOK_TREE:-$here/warpbook}" && pwd -P)
largest_bytes=262144
kept=$(mktemp -d)          # what students' code must not change: results
work=$(mktemp -d)          # has a folder per lab, which the grader's processes may write
trap 'rm -rf "$kept" "$work"' EXIT

fail() {
    echo "Not graded, because of the grader or the machine, not the submission: $*" >&2
    exit 3
}

# ---- The kernel of a lab, under its name or a name near it ----

# Prints the path of the lab's kernel below the submission; the status is 1 if there is none, 2 if several could be it.
find_kernel() { # LAB
    find "$submission" -maxdepth 6 \( -name .git -o -name __MACOSX -o -name solutions -o -name build \) -prune -o \
        -type f -size -513 -iname '*.cu*' ! -path $'*\n*' -printf '%P\n' | sort |
        awk -v lab="$1" -v only="${#labs[@]}" -f "$here/find.awk"
}

# Copies each lab's kernel to $work/LAB/kernel.cu, and notes its name, or what is wrong, in $kept/LAB.file.
collect() {
    local lab path status
    for lab in "${labs[@]}"; do
        status=0
        path=$(find_kernel "$lab") || status=$?
        printf '%s\n' "$path" > "$kept/$lab.file"
        case $status in
        0)
            mkdir "$work/$lab"
            head -c $((largest_bytes + 1)) -- "$submission/$path" > "$work/$lab/kernel.cu"
            ;;
        1) printf 'lab:%s\nverdict:missing\nend:%s\n' "$lab" "$lab" > "$kept/$lab.lines" ;;
        *) printf 'lab:%s\nverdict:several\nend:%s\n' "$lab" "$lab" > "$kept/$lab.lines" ;;
        esac
    done
}

# ---- Confinement ----

. "$tree/grader/build/toolkit.sh"
[ -n "$nvcc" ] || fail "there is no nvcc"

# The build folder as the grader's processes see it: programs are links, and what is written is a copy, for one lab.
writable_build() {
    local item
    mkdir "$room/tmp"
    if [ -n "${WARPBOOK_KEEP:-}" ]; then
        ln -s "$tree/build" "$room/build"
        return
    fi
    mkdir "$room/build"
    for item in "$tree/build"/*; do
        case ${item##*/} in
        cache | floor) cp -R "$item" "$room/build/" 2> /dev/null || true ;; # what another user built is built again
        *) ln -s "$item" "$room/build/" ;;
        esac
    done
}

# bubblewrap reads its options from a file, since the kernel's processes can read its command line.
in_bubblewrap() {
    local path options
    options=(--unshare-all --die-with-parent --new-session --cap-drop ALL --uid 65534 --gid 65534
        --proc /proc --dev /dev --tmpfs /dev/shm --tmpfs /tmp)
    for path in /usr /bin /sbin /lib /lib32 /lib64 /opt /etc/alternatives /etc/ld.so.cache; do
        options+=(--ro-bind-try "$path" "$path")
    done
    options+=(--ro-bind "$cuda" "$cuda" --ro-bind "$tree" "$tree" --bind "$room" "$room" --chdir "$tree")
    printf '%s\0' "${options[@]}" > "$kept/options"
    cell=(bwrap --args 3 --)
    confined="bubblewrap"
}

as_nobody() {
    [ "$(id -u)" = 0 ] || return
    chmod 711 "$work"
    chown -R 65534:65534 "$room"
    cell=(setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --inh-caps=-all --)
    confined="user 65534"
}

by_the_grader() {
    cell=()
    confined="the grader's own seccomp and Landlock"
}

# warpbook, with nothing of this environment: it may hold tokens.
warpbook() {
    (
        cd "$tree"
        [ "${cell[0]:-}" != bwrap ] || exec 3< "$kept/options"
        exec timeout -k 5 "${WARPBOOK_LIMIT_S:-540}" "${cell[@]}" /usr/bin/env -i PATH="${nvcc%/*}:/usr/local/bin:/usr/bin:/bin" \
            HOME="$room/tmp" TMPDIR="$room/tmp" LANG=C.UTF-8 WARPBOOK_BUILD="$room/build" \
            "$tree/build/warpbook" "$@" < /dev/null
    )
}

# Takes the first way in which warpbook runs here.
confine() {
    local way
    : > "$kept/tried"
    for way in in_bubblewrap as_nobody by_the_grader; do
        case ${WARPBOOK_CONFINE:-}:$way in user:in_bubblewrap | own:in_bubblewrap | own:as_nobody) continue ;; esac
        cell=()
        if $way && warpbook --version > /dev/null 2>> "$kept/tried"; then return; fi
    done
    cat "$kept/tried" >&2
    fail "warpbook does not run"
}

# ---- Grading ----

# The simulated GPU that the course file names, or the Teaching GPU.
device() {
    local named
    named=$(sed -n 's/^ *device *= *\(sim:[a-z0-9]*\) *$/\1/p' "$tree/course.ini" 2> /dev/null | tail -1)
    echo "${named:-sim}"
}

grade() { # LAB
    local status=0 lines=$kept/$1.lines
    room=$work/$1
    writable_build
    confine
    # shellcheck disable=SC2086 # options
    warpbook grade "$1" --submission "$room/kernel.cu" --format lines --device "$(device)" ${WARPBOOK_FLAGS:-} \
        > "$lines" 2> "$kept/$1.errors" || status=$?
    if [ $status -gt 1 ] || ! grep -qx "end:$1" "$lines" || grep -qx verdict:unsound "$lines"; then
        tail -c 4000 "$kept/$1.errors" >&2
        sed -n 's/^why:/    /p' "$lines" >&2
        fail "$1: exit status $status"
    fi
}

write_result() {
    local lab
    cat "$tree/course.ini" > "$kept/course.ini" 2> /dev/null || true
    for lab in "${labs[@]}"; do
        printf 'graded_file:%s\n' "$(tr -d '\000-\037' < "$kept/$lab.file" | head -c 300)"
        cat "$kept/$lab.lines"
    done | sed "s|$work/||g" | { iconv -c -f UTF-8 -t UTF-8 || true; } |
        awk -v host="$host" -v late="${WARPBOOK_LATE:-}" -v confined="$confined" -f "$here/results.awk" \
            "$tree/docs/lines.md" "$kept/course.ini" - > "$kept/result" || fail "the results could not be read"
    mkdir -p "$(dirname "$result")"
    cp "$kept/result" "$result.new" && mv "$result.new" "$result"
}

cell=() confined="nothing was run"
collect
for lab in "${labs[@]}"; do
    [ -e "$kept/$lab.lines" ] || grade "$lab"
    echo "$lab: $(sed -n 's/^verdict://p' "$kept/$lab.lines"), $(sed -n 's/^marks://p' "$kept/$lab.lines") marks;" \
        "confined by $confined; $(sed -n 's/^sandbox:/sandbox /p; s/^isolation:/isolation /p' "$kept/$lab.lines" | paste -sd' ')"
done
[ ! -s "$kept/tried" ] || sed 's/^/tried: /' "$kept/tried"
write_result
