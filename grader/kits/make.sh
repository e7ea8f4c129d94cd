#!/bin/bash
# make.sh HOST BUILD OUT COURSE [LAB...] - a kit that grades on the simulated GPU of HOST: make autograder FOR=HOST.
#
# Each kit is the students' tree (course_kit.sh: no text of solutions, no secret seed) with the scripts that grade in
# it. OUT is a .zip. $IMAGE: the name under which you publish the image, for prairielearn and classroom50. $TREE: the
# students' tree, if `make course-kit` has made it already. $KEYRING: where install.sh finds the toolkit.
set -euo pipefail
cd "$(dirname "$0")/../.."

host=$1 build=$2 out=$3 course=$4
shift 4
kits=grader/kits
image=${IMAGE:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kit=$work/kit

case $host in
gradescope | prairielearn | classroom50 | repository | colab | image) ;;
*) echo "FOR=$host: must be gradescope, prairielearn, classroom50, repository, colab or image" >&2 && exit 2 ;;
esac
if [ "$host" = prairielearn ] && [ -z "$image" ]; then
    echo "FOR=prairielearn needs IMAGE=NAME, the image that you publish (FOR=image makes its recipe)" >&2 && exit 2
fi
if [ -n "${KEYRING:-}" ] && [[ ! $KEYRING =~ ^https://[A-Za-z0-9./_~-]+\.deb$ ]]; then
    echo "KEYRING=$KEYRING: must be the https address of a .deb package" >&2 && exit 2
fi
command -v zip > /dev/null || { echo "zip is not installed (make setup)" >&2 && exit 3; }

# ---- What all kits have ----

mkdir "$kit"
tree=${TREE:-$work/tree.tar.gz}
[ -n "${TREE:-}" ] || grader/course_kit.sh "$build" "$tree" "$course" "$@" > /dev/null
tar -xzf "$tree" -C "$kit"
ls "$kit/warpbook/labs" > "$kit/labs"
. grader/build/toolkit.sh
"${nvcc:-false}" --version 2> /dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p' > "$kit/toolkit"
[ -s "$kit/toolkit" ] || echo 13.0 > "$kit/toolkit"
cp $kits/{grade.sh,find.awk,results.awk,install.sh,prepare.sh} "$kit/"
[ -z "${KEYRING:-}" ] || sed -i "s|^keyring=[^ ]*|keyring=$KEYRING|" "$kit/install.sh"
case $host in
colab) ;; # has a toolkit
*) [ -n "${KEYRING:-}" ] || echo "note: where the CUDA Toolkit is not installed this kit needs KEYRING=ADDRESS (docs/kits.md)" >&2 ;;
esac
device=$(sed -n 's/^device *= *//p' "$kit/warpbook/course.ini" 2> /dev/null || true)
case $device in
'' | sim:*) ;;
*) echo "warning: the course counts results from $device; $host has no GPU, so its results are estimates" >&2 ;;
esac
# With a public seed, a kernel could know the inputs that it is graded with.
grading_only() { sed -i '/^practice_seed/d' "$kit/warpbook/course.ini" 2> /dev/null || true; }

# ---- Each host ----

for_gradescope() {
    grading_only
    cp $kits/gradescope/* "$kit/"
}

for_image() {
    grading_only
    cp $kits/{Containerfile,parts.sh} $kits/prairielearn/run.sh "$kit/"
}

for_classroom50() {
    grading_only
    tar -C "$kit" -czf "$work/kit.tar.gz" .
    rm -r "$kit"
    mkdir "$kit"
    mv "$work/kit.tar.gz" "$kit/"
    cp $kits/classroom50/autograder.py "$kit/"
    if [ -n "$image" ]; then
        printf '{ "container": { "image": "%s", "user": "root" } }\n' "$image"
    else
        printf '{ "runs-on": "ubuntu-latest" }\n'
    fi > "$kit/runtime.json"
}

html() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' "$1"; }

for_prairielearn() {
    local lab id question questions=$work/questions
    while read -r lab; do
        question=$questions/questions/warpbook/$lab
        mkdir -p "$question"
        id=$(printf 'warpbook %s' "$lab" | md5sum | sed 's/^\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)\(.\{12\}\).*/\1-\2-4\3-8\4-\5/')
        sed "s|@ID@|$id|; s|@LAB@|$lab|g; s|@IMAGE@|$image|" $kits/prairielearn/info.json > "$question/info.json"
        { sed "s|@LAB@|$lab|g; /@INTERFACE@/,\$d" $kits/prairielearn/question.html
            html "labs/$lab/kernel.h"
            sed '1,/@INTERFACE@/d' $kits/prairielearn/question.html; } > "$question/question.html"
        cp "$kit/warpbook/labs/$lab/kernel.cu" "$question/"
    done < "$kit/labs"
    rm -r "$kit"
    mv "$questions" "$kit"
}

# The students' tree with a workflow and a container for Codespaces in it.
for_repository() {
    local labs
    labs=$(paste -sd' ' "$kit/labs")
    mv "$kit/warpbook" "$work/repository"
    mkdir -p "$work/repository"/{.github/workflows,.devcontainer,.warpbook-kit}
    cp "$kit"/{install.sh,toolkit} "$work/repository/.warpbook-kit/"
    rm -r "$kit"
    mv "$work/repository" "$kit"
    case $device in sim:*) ;; *) device=sim ;; esac
    sed "s|@LABS@|$labs|; s|@DEVICE@|$device|" $kits/repository/grade.yml > "$kit/.github/workflows/grade.yml"
    cp $kits/repository/devcontainer.json "$kit/.devcontainer/"
}

# The notebook, and the students' tree with install.sh in it, to be published where students can fetch it.
for_colab() {
    local kernels
    mapfile -t kernels < <(sed "s|.*|$kit/warpbook/labs/&/kernel.cu|" "$kit/labs")
    case $device in sim:*) ;; *) device= ;; esac
    awk -v device="$device" -f $kits/colab/notebook.awk "$kit/toolkit" "$kit/labs" "${kernels[@]}" > "$work/warpbook.ipynb"
    mkdir "$kit/warpbook/.warpbook-kit"
    cp "$kit/install.sh" "$kit/warpbook/.warpbook-kit/"
    tar -C "$kit" -czf "$work/warpbook-kit.tar.gz" warpbook
    rm -r "$kit"
    mkdir "$kit"
    mv "$work/warpbook.ipynb" "$work/warpbook-kit.tar.gz" "$kit/"
}

"for_$host"
find "$kit" -exec touch -d "@${SOURCE_DATE_EPOCH:-1767225600}" {} +
mkdir -p "$(dirname "$out")"
rm -f "$out.new"
(cd "$kit" && find . -type f | sort | zip -q -X -@ - ) > "$out.new"
mv "$out.new" "$out"
echo "$out: $(find "$kit" -type f | wc -l) files, $(($(wc -c < "$out") / 1024)) KiB. What to do with it: docs/kits.md"
