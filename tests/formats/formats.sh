#!/bin/bash
# formats.sh BUILD - `warpbook grade --format gcc|github|junit|sarif` with a scripted compiler and GPU: hostile names
# and texts, several labs in one document, each document checked against its schema. Needs neither nvcc nor a GPU.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
schemas=$PWD/tests/formats
. tests/check.sh

export WARPBOOK_NVCC=$PWD/tests/fake_nvcc WARPBOOK_READELF=$PWD/tests/fake_nvcc
export WARPBOOK_RUNNER=$build/fake_runner WARPBOOK_SIM_RUNNER=$build/fake_runner WARPBOOK_FAKE_GPU=none
export WARPBOOK_BUILD=$work/build TMPDIR=$work

# A folder of submissions: a race, errors of the compiler, a wrong result, a pass above a limit.
sub=$work/$'hand,in: 100%\n\x1b[2J<&">]]>\xff'
kernel() { # LAB LINE...: the reference with these lines at its end
    mkdir -p "$sub/$1"
    cp "$(find "solutions/$1" -maxdepth 1 -name '[1-9]*.cu' | sort -V | tail -1)" "$sub/$1/kernel.cu"
    printf '// %s\n' "${@:2}" >> "$sub/$1/kernel.cu"
}
kernel 06_transpose "fake: unsafe"
kernel 07_reduction "nvcc: error <&> \"]]>\" ]](http://x) :: % , "$'\x01\xff'
kernel 01_coalescing "fake: ms 0.8" "fake: sectors 8 24"
kernel 02_bank_conflicts "fake: wrong tail"

grade() { "$build/warpbook" grade 1 2 6 7 --quick --submission "$sub" --format "$1" > "$work/$1"; }
for format in gcc github junit sarif; do
    check "$format: status 0" grade $format
done

# ---- gcc, github: the patterns of their readers ----

# $gcc of VS Code's C/C++ extension, and its notes.
check "gcc: every line has place, level and message" not grep -vaP '^.+:\d+:\d+: (warning|error|note): .+$' "$work/gcc"
check "gcc: the race, and its other access" test "$(grep -acE ':9:1: error: .*race.*\[unsafe/race\]$|:7:1: note: ' "$work/gcc")" = 2
check "gcc: no control characters" not grep -qaP '[\x00-\x09\x0b-\x1f\x7f]' "$work/gcc"
check "github: every line is a command" not grep -vaP '^::(error|warning|notice) file=[^,:]+(,line=\d+)?(,col=\d+)?,title=[^,:]+::.+$' "$work/github"
check "github: the file's name is escaped" grep -qa 'file=.*/hand%2Cin%3A 100%25%0A' "$work/github"

# ---- JUnit ----

if command -v xmllint > /dev/null; then
    check "junit: its schema" xmllint --noout --nonet --schema "$schemas/junit.xsd" "$work/junit"
    number() { xmllint --xpath "number($1)" "$work/junit"; }
    check "junit: one suite per lab" test "$(number 'count(/testsuites/testsuite)')" = 4
    check "junit: one described failure per lab that fails" test "$(number 'count(//failure[text()])')" = 3
    for attribute in tests:testcase failures:testcase/failure skipped:testcase/skipped; do
        check "junit: the number of ${attribute#*:}" test "$(number "sum(//@${attribute%:*})")" = "$(number "count(//${attribute#*:})")"
    done
    check "junit: a wrong document fails" not xmllint --noout --schema "$schemas/junit.xsd" <(sed 's/ message=/ massage=/' "$work/junit")
else
    skip "the schema of JUnit's XML: xmllint is not installed (make setup)"
fi

# ---- SARIF ----

check "sarif: the rules" test "$(jq -r '[.runs[].results[].ruleId] | sort | join(" ")' "$work/sarif")" = \
    "build/compiler slow/sectors_read unsafe/race wrong/tail"
check "sarif: each rule is described" jq -e '.runs[0] | ([.results[].ruleId] | unique) == ([.tool.driver.rules[].id] | unique)' "$work/sarif"
check "sarif: the other access of a race" jq -e '.runs[0].results[] | select(.ruleId == "unsafe/race") |
    .locations[0].physicalLocation.region.startLine == 9 and .relatedLocations[0].physicalLocation.region.startLine == 7' "$work/sarif"
check "sarif: no link in a message" not grep -q '](' "$work/sarif"
unsound() {
    WARPBOOK_BUILD=$work/b2 FAKE_NVCC_BROKEN="#error -- unsupported GNU version! gcc versions later than 15 are not supported!" \
        "$build/warpbook" grade 1 --quick --submission "$sub" --format sarif > "$work/unsound"
}
check "sarif: a broken compiler has status 3" status_is 3 unsound
check "sarif: and is a notification" jq -e '.runs[0] | .results == [] and (.invocations[0] | .executionSuccessful == false and
    .toolExecutionNotifications[0].descriptor.id == "unsound")' "$work/unsound"
if [ ! -e "$schemas/sarif-2.1.0.json" ]; then
    skip "the schema of SARIF: it is not installed (make setup, with npm)"
elif ! python3 -c 'import jsonschema' 2> /dev/null; then
    skip "the schema of SARIF: python3-jsonschema is not installed (make setup)"
else
    check "sarif: its schema" "$schemas/validate.py" "$schemas/sarif-2.1.0.json" "$work/sarif"
    check "sarif: its schema, unsound" "$schemas/validate.py" "$schemas/sarif-2.1.0.json" "$work/unsound"
    jq '.runs[0].results[0].level = "fatal"' "$work/sarif" > "$work/wrong"
    check "sarif: a wrong document fails" not "$schemas/validate.py" "$schemas/sarif-2.1.0.json" "$work/wrong"
fi

check "other commands have no such format" status_is 2 "$build/warpbook" hint 6 --format sarif
check "an unknown format" status_is 2 "$build/warpbook" grade 6 --format xml
finish
