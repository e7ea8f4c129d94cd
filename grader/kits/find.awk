# find.awk - reads paths, one per line, and prints the one that is the kernel of `lab`. Status 1: none is; 2: several
# may be. With only one lab the kernel may lie anywhere; otherwise a folder or its own name must say which lab it is.

BEGIN {
    number = substr(lab, 1, 2) + 0
    name = substr(lab, 4)
    best = 9
}

# 06_transpose, transpose, lab6, Lab 06, "06 transpose"
function is_lab(folder) {
    folder = tolower(folder)
    gsub(/[ .-]+/, "_", folder)
    return folder == lab || folder == name || folder ~ "^(lab_?)?0?" number "$" || folder ~ "^lab_?0?" number "_"
}

function is_other_lab(folder) {
    return tolower(folder) ~ /^(lab[ _-]?)?[0-9]+([ _-]|$)/ && !is_lab(folder)
}

{
    count = split($0, part, "/")
    inside = other = 0
    for (i = 1; i < count; i++)
        if (is_lab(part[i]))
            inside = 1
        else if (is_other_lab(part[i]))
            other = 1
    file = tolower(part[count])
    sub(/\.txt$/, "", file)
    # Copies: "kernel (1).cu", "kernel-1.cu", "kernel - Copy.cu"
    sub(/( ?\([0-9]+\)| ?-[0-9]+| - cop[a-z0-9 ()]*)\.cu$/, ".cu", file)
    rank = 9
    if (other)
        next
    if (part[count] == "kernel.cu")
        rank = inside ? 1 : only == 1 ? 4 : 9
    else if (file == name ".cu" || file == lab ".cu")
        rank = 3
    else if (file == "kernel.cu")
        rank = inside ? 2 : only == 1 ? 5 : 9
    if (rank == 9 || rank * 100 + count > best_at && best_at)
        next
    several = rank * 100 + count == best_at ? several + 1 : 1
    best_at = rank * 100 + count
    found = $0
}

END {
    if (several == 1)
        print found
    exit several == 1 ? 0 : several ? 2 : 1
}
