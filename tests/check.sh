# check.sh - functions for test scripts, to be sourced. $work is a folder that is removed at the end.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

check() { # NAME, then a command that must succeed
    local name=$1
    shift
    if "$@" > "$work/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: ${0##*/}: $name: $*"
        sed 's/^/    /' "$work/said" | tail -20
    fi
}

skip() { # WHY
    echo "skipped: $*"
    skipped=$((skipped + 1))
}

not() { ! "$@"; }

status_is() { # STATUS COMMAND...
    local wanted=$1
    shift
    "$@" > "$work/out" 2>&1
    local got=$?
    [ $got = "$wanted" ] && return
    echo "exit status $got, expected $wanted"
    cat "$work/out"
    return 1
}

holds() { # PATTERN FILE: as its lines are, or on one line, since where prose wraps is chance
    grep -qE -- "$1" "$2" <(tr -s '[:space:]' ' ' < "$2")
}

says() { # PATTERN COMMAND...: what it prints holds the pattern
    local pattern=$1
    shift
    "$@" > "$work/out" 2>&1
    holds "$pattern" "$work/out" && return
    echo "does not say: $pattern"
    cat "$work/out"
    return 1
}

until_true() { # COMMAND...: within a minute
    local until=$((SECONDS + 60))
    while [ $SECONDS -lt $until ]; do
        "$@" > /dev/null 2>&1 && return
        sleep 0.1
    done
    echo "still not so: $*"
    return 1
}

# Of many tests of one kind, given line by line, CI runs every $SAMPLE-th; everyone else runs all.
sampled() { awk -v n="${SAMPLE:-1}" 'NR % n == 1 % n'; }

finish() { # the script's last words, and its status
    echo "${0##*/}: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
