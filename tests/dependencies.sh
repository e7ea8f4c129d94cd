#!/bin/bash
# dependencies.sh - dependencies point one way: a module includes only headers of modules before it.
set -euo pipefail
cd "$(dirname "$0")/.."

order="lab fill util draws confine options contents wrap stats device limiter shape calc registry verdict marks course_values course course_terms diagnosis message remedy compare pattern child program sandbox conversation commands serve one_gpu guest_wire share sim_calls share_cuda share_sim caller guest guest_link runner_device runner_reason runner_hello finding memory query runner_limits sim_serve runner_sim runner
       tokens audit audit_files complaint toolchain cache compile build_job attempt recipe build learn hint predictions worker outputs seal session speed side grade correct mechanism judging modelled interference known judge judge_modelled report report_lines figures coursework explain prove elf_reader sim_list sim_run calc_text calc_ask calculators calc_access calc_occupancy calc_bounds
       calc_overlap calc_main command_line
       handin sink walk unpack lms intake parcel stop quarantine suspicion harvest roster schema store terms enlist enrol reading words cell sealed queue takeover pace fence cgroup stations marking_options slots feeding ending marking slurm_round slurm_result slurm_ask slurm_make slurm_take slurm slurm_task health doctor_gpu doctor_machine doctor sheet overview roll csv json markup chart advice likeness similarity formats files page_labs page_pairs export_csv export_alike export_json export_results export_feedback export_html export settings main"

rank() {
    local n=0 module
    for module in $order; do
        n=$((n + 1))
        [ "$module" = "$1" ] && echo $n && return
    done
    echo "dependencies: $1 has no place in the order of tests/dependencies.sh" >&2
    exit 1
}

bad=0
for file in grader/*.[ch] grader/*.cu grader/gradebook/*.[ch] labs/*/lab.c; do
    module=$(basename "${file%.*}")
    case $file in labs/*) own=0 ;; *) own=$(rank "$module") ;; esac
    for header in $(sed -n 's/^ *# *include *"\(.*\)\.h"$/\1/p' "$file"); do
        header=$(basename "$header")
        [ "$header" = "$module" ] && continue
        if [ "$own" = 0 ]; then
            case $header in kernel | lab | fill) ;; *) echo "$file includes $header.h" && bad=1 ;; esac
        elif [ "$(rank "$header")" -ge "$own" ]; then
            echo "$file includes $header.h, which stands above it"
            bad=1
        fi
    done
done
[ $bad = 0 ] && echo "dependencies point one way"
exit $bad
