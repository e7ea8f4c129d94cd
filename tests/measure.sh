#!/bin/bash
# measure.sh BUILD - make profile and make sweep as programs, with a scripted compiler, GPU and ncu.
set -uo pipefail
cd "$(dirname "$0")/.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
warpbook=$build/warpbook
. tests/check.sh

export WARPBOOK_NVCC=$PWD/tests/fake_nvcc WARPBOOK_READELF=$PWD/tests/fake_nvcc
export WARPBOOK_RUNNER=$build/fake_runner WARPBOOK_SIM_RUNNER=$build/fake_runner WARPBOOK_BUILD=$work/build TMPDIR=$work
export WARPBOOK_PATIENCE=3
kernel=solutions/06_transpose/5_padded.cu
mkdir -p "$work/build"

# ---- Profile ----

# ncu ANSWER: a program that answers like ncu: the second call, with --import, prints the table.
ncu() {
    cat > "$work/ncu" << END
#!/bin/bash
printf '%s\n' "\$*" >> "$work/ncu.calls"
if [[ "\$*" == *--import* ]]; then
    echo '"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum","l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"'
    echo '"","","","","ns","sector","request"'
    echo '"0","transpose_kernel(float *)","(256, 1, 1)","(8, 1, 1)","12,500","4,096","1,024"'
    exit 0
fi
$1
END
    chmod +x "$work/ncu"
}
export WARPBOOK_NCU=$work/ncu
profile() { "$warpbook" profile 6 --submission "$kernel" "$@"; }

ncu 'echo done'
check "a profile" says "sectors per request, stores +4\.00" profile
check "its time" says "12\.5 us" profile
check "a metric that ncu did not report" says "sectors per request, loads +-" profile
check "where the raw report is" says "build/profile/transpose\.ncu-rep" profile
check "ncu gets the lab's metrics" grep -q -- "--metrics gpu__time_duration.sum,.*op_st.sum" "$work/ncu.calls"
check "and the driver, the lab and its size" grep -qE "profiled transpose .*\.so [0-9]+ [0-9]+" "$work/ncu.calls"
ncu 'echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"; exit 1'
check "without permission" status_is 3 profile
check "it says who can give it" says "ERR_NVGPUCTRPERM.*(NVreg_RestrictProfilingToAdminUsers|SYS_ADMIN|Control Panel)" profile
check "and what works anyway" says "make explain LAB=transpose" profile
ncu 'echo "profiled: the kernel: an illegal memory access was encountered" >&2; exit 1'
check "a kernel that fails" says "profiled: the kernel: an illegal memory access" profile
check "a kernel that does not build" status_is 1 "$warpbook" profile 6 --submission tests/check.sh
nothing_writable() { rm -rf "$work/build/profile"; : > "$work/build/profile"; profile; local status=$?; rm "$work/build/profile"; return $status; }
check "a folder that cannot be written" status_is 3 nothing_writable
WARPBOOK_NCU=$work/none
check "no ncu" says "Nsight Compute \(ncu\) was not found" profile
check "no GPU" says "no usable NVIDIA GPU" profile --device sim
check "no lab" status_is 2 "$warpbook" profile zzz

# ---- Sweep ----

sweep() { "$warpbook" sweep 6 --submission "$kernel" "$@"; }
picture=$work/build/sweep/transpose.svg

check "a sweep" says "rows, for the same number of elements" sweep
check "its picture" grep -q "</svg>" "$picture"
check "next to the one measured on an H200" grep -q "On the NVIDIA H200" "$picture"
check "its file" sweep --figures "$work/sweep.txt"
check "has a value per line" test "$(grep -c '/yours ' "$work/sweep.txt")" -ge 8
check "no lab" status_is 2 "$warpbook" sweep zzz
check "a kernel that does not build" says "does not build" "$warpbook" sweep 6 --submission tests/check.sh
check "is its own fault" status_is 1 "$warpbook" sweep 6 --submission tests/check.sh
check "no compiler is the machine's" status_is 3 env WARPBOOK_NVCC=/none "$warpbook" sweep 6 --submission "$kernel"
check "a folder that cannot be written" not sweep --figures "$work/none/x.txt"
finish
