# whatif.awk - rows of the table of what-if bounds, for whatif.sh.
#
#     awk -f whatif.awk grader/sim/base/cause.h MEASURED MODELLED STEPS
#
# MEASURED: LAB, KERNEL/CASE, ratio; MODELLED: LAB, KERNEL/CASE, CAUSES, ms, limit (tabs between fields); STEPS: lines
# of steps.txt. Exit status 1: a figure is missing, or a bound does not hold as expected.
function words_of(keys,   n, i, part, text) {
    n = split(keys, part, ",")
    for (i = 1; i <= n; i++) text = text (i > 1 ? " and " : "") word[part[i]]
    return text
}
BEGIN { FS = "\t" }
FILENAME ~ /cause\.h$/ { if (split($0, part, "\"") > 4 && /X\(CAUSE_/) word[part[2]] = part[4]; next }
FILENAME ~ /measured$/ { ratio[$1 "/" $2] = $3; next }
FILENAME ~ /modelled$/ { ms[$1 "/" $2, $3] = $4; split($2, part, "/"); key = $1 "/" part[1]
                         if ($3 == "none") name_of[key, ++count[key]] = part[2]; next }
{
    split($0, f, "|")
    lab = f[1]; from = f[2]; to = f[3]; causes = f[4]
    step = "`" from "` to `" to "`"
    if (causes == "-") { printf "| %s | %s | none | | | | %s |\n", lab, step, f[6]; next }
    n = count[lab "/" from]; exceeded = 0
    if (!n) { print "whatif: no times of " lab "/" from > "/dev/stderr"; bad = 1 }
    for (i = 1; i <= n; i++) {
        name = name_of[lab "/" from, i]; a = lab "/" from "/" name; b = lab "/" to "/" name
        if (!(a in ratio) || !(b in ratio) || !ms[b, "none"] || !ms[a, causes]) {
            print "whatif: " a " or " b " is missing" > "/dev/stderr"; bad = 1; continue
        }
        measured = ratio[b] / ratio[a]; modelled = ms[a, "none"] / ms[b, "none"]
        bound = ms[a, "none"] / ms[a, causes]; if (bound < 1) bound = 1
        least = measured < modelled ? measured : modelled
        holds = least <= bound * 1.005
        printf "| %s, %s | %s | %s | %.2f | %.2f | %.2f | %s |\n", lab, name, step, words_of(causes), measured,
               modelled, bound, holds ? (measured > bound * 1.005 ? "yes, within the error" : "yes") : "**no**: " f[6]
        rows++
        held += holds
        exceeded += !holds
    }
    if ((f[5] == "exceeds") != (exceeded > 0)) {
        print "whatif: " lab ", " from " to " to ": expected that it " f[5] > "/dev/stderr"; bad = 1
    }
}
END { printf "whatif: %d of %d bounds hold\n", held, rows; exit bad }
