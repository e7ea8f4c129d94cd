#!/bin/bash
# course_kit.sh BUILD OUT [COURSE] [LAB...] - the students' tree as an archive: make course-kit.
#
# The tree is assembled from a list: the workbook as students need it, the labs with their starters,
# stand-ins for solutions/ (warpbook pack), and the public part of the course file. A file that is not
# listed is not included. The same tree and toolkit give the same archive, byte for byte.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1 out=$2 course=${3:-}
shift $(($# < 3 ? $# : 3))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/warpbook
mkdir "$tree"

WARPBOOK_BUILD=$build "$build/warpbook" labs "$@" > "$work/labs"
# shellcheck disable=SC2046
WARPBOOK_BUILD=$build "$build/warpbook" pack $(cut -d' ' -f1 "$work/labs") --seal "$tree" ${course:+--course "$course"}

# Whole files and folders, then single files of a lab.
for item in Makefile README.md AGENTS.md LICENSE CHANGELOG.md .gitignore common docs/drawing* docs/integrity.md docs/learning.md docs/lines.md docs/measured/*.check.txt docs/measured/*.sweep.txt docs/measuring.md docs/simulator*.md docs/terminal.svg; do
    [ -e "$item" ] || continue
    mkdir -p "$tree/$(dirname "$item")"
    cp -R "$item" "$tree/$item"
done
find grader -type f ! -path 'grader/gradebook/*' ! -path 'grader/kits/*' ! -name course_kit.sh \
    \( -name '*.[ch]' -o -name '*.cu' -o -name '*.sh' -o -name '*.mk' -o -name '*.def' -o -name '*.map' -o -path 'grader/sim/devices/*.txt' -o -path 'grader/learner/*/page.*'  \) \
    -print0 | tar --null -T - -cf - | tar -C "$tree" -xf -
while read -r lab _; do
    mkdir -p "$tree/labs/$lab"
    for name in README.md kernel.h lab.c; do
        cp "labs/$lab/$name" "$tree/labs/$lab/$name"
    done
    [ ! -f "labs/$lab/launch.cpp" ] || cp "labs/$lab/launch.cpp" "$tree/labs/$lab/launch.cpp"
    # The kernel and predictions in this tree may be filled in; students get them empty.
    cp "solutions/$lab/0_starter.cu" "$tree/labs/$lab/kernel.cu"
    [ ! -f "labs/$lab/predictions.txt" ] ||
        sed 's/^\([A-Za-z0-9_]*:\).*/\1/' "labs/$lab/predictions.txt" > "$tree/labs/$lab/predictions.txt"
done < "$work/labs"

# The course file's sections of labs that are not included would be mistakes there.
if [ -n "$course" ]; then
    awk 'FILENAME == ARGV[1] { included["[" $1 "]"]; next }
        /^\[/ { shown = /^\[(course|all)\]/ || $0 in included }
        shown' "$work/labs" "$tree/course.ini" > "$work/course.ini"
    cp "$work/course.ini" "$tree/course.ini"
fi

find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f -exec chmod 644 {} +
find "$tree" -name '*.sh' -exec chmod 755 {} +
mkdir -p "$(dirname "$out")"
tar -C "$work" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@${SOURCE_DATE_EPOCH:-1767225600}" -cf - warpbook | gzip -n -9 > "$out.new"
mv "$out.new" "$out"
echo "$out: $(wc -l < "$work/labs") labs, $(($(wc -c < "$out") / 1024)) KiB. Students unpack it and type make grade."
