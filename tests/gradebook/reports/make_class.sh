#!/bin/bash
# make_class.sh STUDENTS LABS FOLDER - creates a class from the labs' rungs, wrong kernels and honest kernels. An
# additional line makes each kernel distinct. LABS is a list such as "06_transpose 07_reduction". Some students' names
# and files try to break out of a report.
set -euo pipefail
cd "$(dirname "$0")/../../.."
students=$1 labs=$2 folder=$3

names=('<img src=x onerror=alert(1)>' "=HYPERLINK(\"x\",\"y\")" '"><svg onload=alert(1)>' "O'Hara & Sons" '-2+3'
    'José Núñez' '＝1+1' 'a;b,c "d"' '{{7*7}}' 'ann_lee' 'ann lee')
name() { # NUMBER
    if [ "$1" -le ${#names[@]} ]; then echo "${names[$1 - 1]}"; else echo "Student $1"; fi
}
for ((i = 1; i <= students; i++)); do name "$i"; done > "$folder.names"
while read -r student; do
    for lab in $labs; do printf '%s\0' "$folder/$student/$lab"; done
done < "$folder.names" | xargs -0 mkdir -p
for lab in $labs; do
    { ls solutions/"$lab"/[1-9]*.cu solutions/"$lab"/{beyond,wrong}/*.cu tests/honest/"$lab"_*.cu 2> /dev/null || true; } |
        awk -v lab="$lab" -v folder="$folder" '
        { while ((getline line < $0) > 0) text[NR] = text[NR] line "\n"; close($0) }
        END {
            while ((getline student < (folder ".names")) > 0) {
                count++
                if ((count + length(lab)) % 17 == 0) continue # submits no kernel for this lab
                path = folder "/" student "/" lab "/kernel.cu"
                own = "#define OWN_" count "\n// </script><script>document.title = 1</script> " count "\n"
                printf "%s%s", text[(count * 7 + length(lab)) % NR + 1], own > path
                close(path)
            }
        }'
done
