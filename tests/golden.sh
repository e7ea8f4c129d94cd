# golden.sh - for test scripts, to be sourced: texts compared with a golden file, as tests/golden.h does in C.

golden() { # FILE SECTION: compares standard input with the section; WARPBOOK_GOLDEN=write stores it
    local file=$1 head="== $2" text
    text=$(cat)
    if [ "${WARPBOOK_GOLDEN:-}" = write ]; then
        [ -e "$file" ] || : > "$file"
        grep -qxF -- "$head" "$file" || echo "$head" >> "$file"
        TEXT=$text awk -v head="$head" '/^== / { inside = 0 }
            !inside
            $0 == head { inside = 1; print ENVIRON["TEXT"] }' "$file" > "$file.new" && mv "$file.new" "$file"
    fi
    diff <(awk -v head="$head" '/^== / { inside = $0 == head; next } inside' "$file") - <<< "$text" && return
    echo "$2 differs from $file (< is stored): WARPBOOK_GOLDEN=write stores it"
    return 1
}
