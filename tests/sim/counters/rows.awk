# rows.awk - converts a profiler's rows (ncu --csv --page raw) to lines of the fixture.
#
#     awk -v columns="COLUMN METRIC ..." -f rows.awk LAUNCHES ROWS.csv
#
# LAUNCHES: the program's stdout, one line "launch LABEL OUTPUT" per launch. A row belongs to the launch
# whose number is the grid's x of the last kernel "marker"; without markers, each row is the next launch.

function fail(why)
{
    print "rows.awk: " why > "/dev/stderr"
    failed = 1
    exit 1
}

# "(300, 17, 1)" -> 300x17x1
function shape(text)
{
    gsub(/[() ]/, "", text)
    gsub(/,/, "x", text)
    return text
}

function read_head(i)
{
    for (i = 1; i <= NF; i++)
        column[$i] = i
    if (!("Kernel Name" in column) || !("Grid Size" in column))
        fail("no column names: " $0)
}

function value_of(metric, value)
{
    if (metric == "-")
        return "-"
    if (!(metric in column))
        fail("the profiler did not report " metric)
    value = $(column[metric])
    gsub(/,/, "", value)
    if (value !~ /^[0-9]+(\.[0-9]+)?$/)
        fail(metric " of " label[number] " is \"" value "\"")
    if (value ~ /\./)
        value = sprintf("%.4f", value)
    return value
}

BEGIN { count = split(columns, word, " ") }

FNR == NR {
    if ($1 == "launch") {
        label[++launches] = $2
        output[launches] = $3
    }
    next
}

FNR == 1 { FS = "\",\"" }
!/^"/ { next }
{
    sub(/\r$/, "")
    sub(/^"/, "")
    sub(/"$/, "")
    $0 = $0
}
!heads++ { read_head(); next }
$1 == "" { next } # units
$(column["Kernel Name"]) == "marker" {
    marked = 1
    number = shape($(column["Grid Size"])) + 0
    next
}
{
    if (!marked)
        number++
    if (!(number in label))
        fail("a row of launch " number ", which the program did not print")
    seen[number] = 1
    line = label[number] " " $(column["Kernel Name"]) " " shape($(column["Grid Size"])) " " \
        shape($(column["Block Size"])) " " output[number]
    for (i = 2; i <= count; i += 2)
        line = line " " value_of(word[i])
    print line
}

END {
    for (i = 1; !failed && i <= launches; i++)
        if (!seen[i] && !(i in told))
            print "# no kernel: " label[i]
    exit failed
}
