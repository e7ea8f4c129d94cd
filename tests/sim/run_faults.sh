#!/bin/bash
# run_faults.sh - runs faulty programs, and some that only look faulty, on the simulated GPU, and checks
# its findings.
#
#     tests/sim/run_faults.sh BUILD [PROGRAM[:CASE]...]
#     tests/sim/run_faults.sh BUILD --accept      rewrites faults/sentences.expected; read its diff
#
# The head comment of a program of faults/ describes its cases:
#
#      * case NAME [VARIABLE=VALUE ...]    runs PROGRAM NAME with these environment variables
#      *   reported: KIND [@MARK]          a finding, at the line that ends with // @MARK; findings must
#      *                                   be in this order; without any, stderr must be empty
#      *   says: TEXT                      the whole stdout, without its last line end; default cudaSuccess
#      *   status: N                       exit status of the program; default 0
#
# The sentences are in faults/sentences.expected, one finding per line: "PROGRAM CASE: SENTENCE", without
# "sim: " and line breaks. There, addresses are written 0x..., PROGRAM.cu:LINE is @MARK, and LINE alone is
# @@MARK. faults/table.expected is the table at the end of a run of races tree (SIM_TABLE=1 SIM_TIME=1).
# No line on stderr may be longer than 80 columns. BUILD holds the library.
. "$(dirname "$0")/prelude.sh"
begin faults "simulated faults" "${1:?the build folder}"
shift
need_nvcc
sentences=$here/faults/sentences.expected
accept=
if [ "${1:-}" = --accept ]; then
    accept=1
    shift
fi

compile()
{
    cd "$here/faults" || return # so that assert() prints the file name without a folder
    [ "$2" -nt "$1" ] && [ "$2" -nt "$here/faults/faults.h" ] ||
        "$nvcc" -O3 -lineinfo --no-compress -cudart shared -std=c++17 -w \
            -gencode 'arch=compute_80,code=[sm_80,compute_80]' -o "$2" "$(basename "$1")"
}

# wanted SOURCE CASE: the expected findings, one "KIND [@MARK]" per line.
wanted()
{
    awk -v wanted="$2" '/ \*\// { exit }
        $2 == "case" { inside = $3 == wanted }
        inside && $2 == "reported:" { sub(/^ \* *reported: /, ""); print }' "$1"
}

# said SOURCE CASE WORD DEFAULT
said()
{
    awk -v wanted="$2" -v word="$3:" -v otherwise="$4" '
        / \*\// { exit }
        $2 == "case" { inside = $3 == wanted }
        inside && $2 == word { sub(/^ \* +[a-z]+: ?/, ""); otherwise = $0 }
        END { print otherwise }' "$1"
}

# reported SOURCE ERR: the reported sentences, one finding per line, with marks instead of lines.
reported()
{
    awk '/^sim: / { if (text) print text; text = substr($0, 6); next }
         { sub(/^ +/, ""); text = text " " $0 }
         END { if (text) print text }' "$2" | sed -E 's/0x[0-9a-f]{9,}/0x.../g' |
    awk -v name="$(basename "$1")" '
        FNR == NR {
            if (match($0, /\/\/ @[a-z_0-9]+$/))
                mark[FNR] = substr($0, RSTART + 3)
            next
        }
        # Replaces line numbers after `before` by their marks.
        function put_marks(text, before, instead,    done, number) {
            while (match(text, before "[0-9]+")) {
                number = substr(text, RSTART + length(before), RLENGTH - length(before))
                done = done substr(text, 1, RSTART - 1) \
                       (number in mark ? instead mark[number] : before number)
                text = substr(text, RSTART + RLENGTH)
            }
            return done text
        }
        { print put_marks(put_marks($0, name ":", ""), "line ", "line @") }' "$1" -
}

# kinds: the kinds of these sentences, one "KIND [@MARK]" per line.
kinds()
{
    sed -E 's/^([a-z ]+): (@[a-z_0-9]+): .*/\1 \2/; t; s/^([a-z ]+): .*/\1/'
}

# table: the table of races tree, with source lines as N, so that the program may grow.
table()
{
    env -u SIM_REPORT -u SIM_QUIET SIM_TABLE=1 SIM_TIME=1 LD_PRELOAD="$library" \
        timeout 60 "$work/races" tree 2>&1 > /dev/null | sed -n '/^simulated/,$p' | sed -E 's/\.cu:[0-9]+/.cu:N/'
}

# judge SOURCE PROGRAM CASE SETTINGS...: prints errors.
judge()
{
    local source=$1 program=$2 case=$3 status
    shift 3
    env -u SIM_REPORT -u SIM_QUIET "$@" LD_PRELOAD="$library" timeout 60 "$program" "$case" \
        > "$program.out" 2> "$program.err"
    status=$?
    [ "$status" = "$(said "$source" "$case" status 0)" ] || echo "status $status"
    [ "$(cat "$program.out")" = "$(said "$source" "$case" says cudaSuccess)" ] ||
        echo "says: $(head -3 "$program.out")"
    reported "$source" "$program.err" > "$program.reported"
    diff <(wanted "$source" "$case") <(kinds < "$program.reported") | grep '^[<>]'
    sed "s/^/$(basename "$source" .cu) $case: /" "$program.reported" >> "$work/sentences"
    [ "$accept" ] || diff <(sed -n "s/^$(basename "$source" .cu) $case: //p" "$sentences") "$program.reported" |
        grep '^[<>]'
    awk 'length > 80 { print "too long: " $0 }' "$program.err"
}

: > "$work/sentences"
for source in "$here"/faults/*.cu; do
    name=$(basename "$source" .cu)
    [ $# = 0 ] || [[ " $*" == *" $name"[:\ ]* || " $* " == *" $name "* ]] || continue
    if ! (compile "$source" "$work/$name"); then
        failed=$((failed + 1))
        echo "$name: does not compile"
        continue
    fi
    while read -r case settings; do
        [[ " $*" == *" $name:"* && " $* " != *" $name:$case "* ]] && continue
        wrong=$(judge "$source" "$work/$name" "$case" $settings 2>&1)
        if [ -z "$wrong" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "$name $case:"
            echo "$wrong"
        fi
    done < <(sed -n '/ \*\//q; s/^ \* case //p' "$source")
done
if [ -n "$accept" ]; then
    cp "$work/sentences" "$sentences"
    table > "$here/faults/table.expected"
elif [ $# = 0 ] && ! diff "$here/faults/table.expected" <(table); then
    failed=$((failed + 1))
    echo "the table differs"
fi
finish
