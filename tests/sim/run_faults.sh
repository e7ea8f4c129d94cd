#!/bin/bash
# run_faults.sh - faulty programs, and some that only look faulty, under the simulated GPU: what is
# told of them is compared word by word.
#
#     tests/sim/run_faults.sh BUILD [PROGRAM[:CASE]...]
#
# A program of faults/ says in its head comment, for each of its cases:
#
#      * case NAME [VARIABLE=VALUE ...]    it is run as PROGRAM NAME, with these in the environment
#      *   told: TEXT                      a finding, as on stderr, less "sim: " and line breaks;
#      *         MORE OF IT                addresses are 0x...; several of them in their order;
#      *                                   none: nothing may be on stderr
#      *   says: TEXT                      all of stdout, less its end: cudaSuccess unless said
#      *   status: N                       of the program; 0 unless said
#
# @WORD in a text is PROGRAM.cu:LINE of the line that ends with // @WORD; @@WORD is the LINE alone.
# No line on stderr may be longer than 80 columns. BUILD holds the library.
. "$(dirname "$0")/prelude.sh"
begin faults "simulated faults" "${1:?the build folder}"
shift
need_nvcc

compile()
{
    cd "$here/faults" || return # so that assert() gives the bare name
    [ "$2" -nt "$1" ] && [ "$2" -nt "$here/faults/faults.h" ] ||
        "$nvcc" -O3 -lineinfo --no-compress -cudart shared -std=c++17 -w \
            -gencode 'arch=compute_80,code=[sm_80,compute_80]' -o "$2" "$(basename "$1")"
}

# wanted SOURCE CASE: what must be told, a finding a line.
wanted()
{
    awk -v wanted="$2" -v name="$(basename "$1")" '
        FNR == NR {
            if (match($0, /\/\/ @[a-z_0-9]+$/))
                line[substr($0, RSTART + 4)] = FNR
            next
        }
        function flush() {
            if (text == "")
                return
            while (match(text, /@@?[a-z_0-9]+/)) {
                word = substr(text, RSTART, RLENGTH)
                at = line[substr(word, 2 + (word ~ /^@@/))]
                text = substr(text, 1, RSTART - 1) (word ~ /^@@/ ? at : name ":" at) \
                       substr(text, RSTART + RLENGTH)
            }
            print text
            text = ""
        }
        / \*\// { exit }
        $2 == "case" { flush(); inside = $3 == wanted; next }
        !inside { next }
        $2 == "told:" { flush(); sub(/^ \* *told: /, ""); text = $0; more = 1; next }
        $2 == "says:" || $2 == "status:" { more = 0; next }
        more { sub(/^ \* +/, " "); text = text $0 }
        END { flush() }' "$1" "$1"
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

# told ERR: what was told, a finding a line.
told()
{
    awk '/^sim: / { if (text) print text; text = substr($0, 6); next }
         { sub(/^ +/, ""); text = text " " $0 }
         END { if (text) print text }' "$1" | sed -E 's/0x[0-9a-f]{9,}/0x.../g'
}

# judge SOURCE PROGRAM CASE SETTINGS...: prints what is wrong.
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
    diff <(wanted "$source" "$case") <(told "$program.err") | grep '^[<>]'
    awk 'length > 80 { print "too long: " $0 }' "$program.err"
}

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
finish
