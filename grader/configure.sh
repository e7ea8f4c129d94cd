#!/bin/sh
# configure.sh - what this machine has, as variables for make: build/config.mk. Needs $CC; run by the Makefile.
#
#     NVCC, CUDA     the compiler and the folder of its toolkit; empty: there is none
#     CUDA_LIB       where libcudart lies, CUDART its file's name
#     SM_HERE        the architectures of this machine's GPUs, as in 75 90, that this nvcc can compile for
#     GRADEBOOK      "yes" where the instructor's program can be built: libarchive, SQLite, cJSON, libcsv and libyaml are there
#     PROBED_FOR     what these were found with: the Makefile asks again when that changes
set -u

. grader/build/toolkit.sh

first_folder() {
    for folder; do
        [ -d "$folder" ] && echo "$folder" && return
    done
}
cuda_lib=$(first_folder "$cuda/lib64" "$cuda/targets/x86_64-linux/lib" "$cuda/lib" /usr/lib/x86_64-linux-gnu)
cudart=libcudart.so.13
for file in "$cuda_lib"/libcudart.so.12 "$cuda_lib"/libcudart.so.13; do
    [ -e "$file" ] && cudart=${file##*/} && break
done

sm_here=
if [ -n "$nvcc" ]; then
    known=$("$nvcc" --list-gpu-arch 2> /dev/null)
    for sm in $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | tr -d . | sort -u); do
        case $known in *compute_"$sm"*) sm_here="$sm_here $sm" ;; esac
    done
fi

has_gradebook() {
    [ -d grader/gradebook ] &&
        echo 'int main(void) { return archive_version_number() * sqlite3_libversion_number() == 0 || !cJSON_Version() || !csv_error(0) || !yaml_get_version_string(); }' |
        ${CC:-cc} -include archive.h -include sqlite3.h -include cjson/cJSON.h -include csv.h -include yaml.h -x c -o /dev/null - \
            -larchive -lsqlite3 -lcjson -lcsv -lyaml 2> /dev/null
}
gradebook=
has_gradebook && gradebook=yes

for_make() { # NAME VALUE
    printf '%s := %s\n' "$1" "$(printf %s "$2" | sed 's/\$/$$/g; s/#/\\#/g')"
}
echo "# Made by grader/configure.sh; removed and made again by make whenever it has to be."
for_make NVCC "$nvcc"
for_make CUDA "$cuda"
for_make CUDA_LIB "$cuda_lib"
for_make CUDART "$cudart"
for_make SM_HERE "$sm_here"
for_make GRADEBOOK "$gradebook"
for_make PROBED_FOR "$PROBE"
