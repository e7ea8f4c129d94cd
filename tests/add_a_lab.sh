#!/bin/bash
# add_a_lab.sh - follows CONTRIBUTING.md: adds a lab to a copy of the workbook, edits no file, grades it.
#
# With WARPBOOK_NVCC, WARPBOOK_READELF and WARPBOOK_RUNNER set (by workbook.sh) the scripted tools are used;
# without them, on a machine with a GPU, the real ones.
set -euo pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL B CFLAGS # a make above us, and what it was told

copy=$(mktemp -d)
trap 'rm -rf "$copy" "$copy".*' EXIT
tar -c --exclude=./build --exclude=./.git --exclude=./.warpbook . | tar -x -C "$copy"
cd "$copy"
find . -type f -exec md5sum {} + | sort > "$copy.before"

mkdir -p labs/50_scale solutions/50_scale/wrong
cat > labs/50_scale/kernel.h << 'END'
#include "lab.h"

/* Write 2 * in[i] to out[i] for n elements. Device pointers. */
LAB_API void scale(float *out, const float *in, int n);
END
cat > labs/50_scale/lab.c << 'END'
/* lab.c - scale: the smallest lab there can be. */
#include "kernel.h"

static void size(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    dim[0] = (long) ((double) gpu->l2_bytes * scale);
}

static const Case cases[] = {
    { "one", { 1 } },
    { "prime", { 10007 } },
    { "stream", { 0 }, TIMED, 0.75, size },
    { 0 },
};

static void shape(const Case *c, Arrays *a)
{
    a->in[0] = a->out[0] = (Array){ F32, 1, (size_t) c->dim[0], { FILL_UNIFORM } };
}

static void truth(const Case *c, const Inputs *in, int out, size_t first, size_t count, void *want,
                  double *error)
{
    (void) c;
    (void) out;
    (void) error;
    for (size_t i = 0; i < count; i++)
        ((float *) want)[i] = 2 * input_f32(in, 0, first + i);
}

static void call(void (*kernel)(void), const Case *c, const Arrays *a)
{
    AS(scale, kernel)(a->out[0].data, a->in[0].data, (int) c->dim[0]);
}

static Work work(const Case *c)
{
    return (Work){ .bytes = 8.0 * (double) c->dim[0], .flops = (double) c->dim[0] };
}

const Lab lab_scale = {
    .title = "Scale a vector",
    .function = "scale",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .call = call,
    .work = work,
    .hints = { "Which elements does a thread do?", "Neighbours to neighbours.", "i += step" },
};
END
rung() { # FIRST_LINE TODO LOOP BODY
    cat << END
// $1
#include "cudalab.cuh"
#include "kernel.h"

__global__ void scale_kernel(float *out, const float *in, int n)
{
$2    int threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = $3) {
$4    }
}

LAB_API void scale(float *out, const float *in, int n)
{
    scale_kernel<<<1024, 256>>>(out, in, n);
    CUDA_CHECK(cudaGetLastError());
}
END
}
slow='thread * ceil_div(n, threads); i < n && i < (thread + 1) * ceil_div(n, threads); i++'
fast='thread; i < n; i += threads'
body=$'        out[i] = 2 * in[i];\n'
todo=$'    // TODO: write twice the input.\n'
{ rung "Each thread does a chunk." "$todo" "$slow" ""; echo "// fake: wrong unwritten"; } > solutions/50_scale/0_starter.cu
cp solutions/50_scale/0_starter.cu labs/50_scale/kernel.cu
{ rung "rung: 1, expect: slow - chunks" "" "$slow" "$body"; echo "// fake: ms 20"; } > solutions/50_scale/1_chunks.cu
{ rung "rung: 2, expect: pass - grid stride" "" "$fast" "$body"; } > solutions/50_scale/2_grid_stride.cu
{ rung "expect: wrong - forgets the last element" "" "${fast/n;/n - 1;}" "$body"; echo "// fake: wrong tail"; } \
    > solutions/50_scale/wrong/last_lost.cu
echo "# Scale" > labs/50_scale/README.md

make -s build/warpbook
[ -n "${WARPBOOK_RUNNER:-}" ] || make -s programs
if [ -n "${WARPBOOK_RUNNER:-}" ]; then
    make -s build/fake_runner
    export WARPBOOK_RUNNER=$copy/build/fake_runner
fi
build/warpbook labs | grep -q "50_scale *Scale a vector"

expect() { # VERDICT FILE
    got=$(build/warpbook grade scale --submission "$2" --quick --format lines | sed -n 's/^verdict://p')
    [ "$got" = "$1" ] && return
    echo "add_a_lab: $2 got '$got', expected $1" >&2
    build/warpbook grade scale --submission "$2" --quick --format lines >&2 || true
    exit 1
}
expect unchanged labs/50_scale/kernel.cu
expect slow solutions/50_scale/1_chunks.cu
expect pass solutions/50_scale/2_grid_stride.cu
expect wrong solutions/50_scale/wrong/last_lost.cu

# Its lab.c has no sweep, and sweep says so.
build/warpbook sweep scale 2> "$copy.sweep" && status=0 || status=$?
if [ "$status" != 1 ] || ! grep -q "lab scale has no sweep" "$copy.sweep"; then
    echo "add_a_lab: sweep ended with $status:" >&2
    cat "$copy.sweep" >&2
    exit 1
fi

# Measured figures in the form of docs/measured. On a noisy host some figures may be missing.
for attempt in 1 2 3; do
    build/warpbook check scale --timed-only --figures "$copy.figures" > "$copy.checked" || [ $? = 1 ]
    grep -Eq '^2_grid_stride/stream/ratio [0-9]+\.[0-9]+$' "$copy.figures" && break
done
if [ "$(sed -n '1,6s/:.*//p' "$copy.figures" | xargs)" != "device driver CUDA date command" ] ||
    grep -q wrong/ "$copy.checked" || [ "$(sort "$copy.figures" | uniq -d)" ]; then
    echo "add_a_lab: check --timed-only --figures, attempt $attempt:" >&2
    cat "$copy.checked" "$copy.figures" >&2
    exit 1
fi

# No existing file has changed, and a removed lab leaves nothing behind.
md5sum --quiet -c "$copy.before" || { echo "add_a_lab: a file had to be edited" >&2; exit 1; }

# A kernel that never ends gets its verdict, and the next lab is still graded.
{ cat solutions/06_transpose/wrong/loops_forever.cu; echo "// fake: hang at go"; } \
    > labs/06_transpose/kernel.cu
said=$(build/warpbook grade transpose scale --quick --format lines | sed -n 's/^verdict://p' | xargs)
[ "$said" = "timeout unchanged" ] || { echo "add_a_lab: two labs got '$said'" >&2; exit 1; }

rm -rf "$copy".* labs/50_scale solutions/50_scale
make -s build/warpbook
if build/warpbook labs | grep -q scale; then
    echo "add_a_lab: the lab is still listed after its folder is gone" >&2
    exit 1
fi
echo "a lab was added, graded, survived its neighbour, and was removed without editing a file"
