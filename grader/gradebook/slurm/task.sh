# task.sh - a task of gradebook's Slurm array. Grades the kernels of its line in `tasks`.
#
# job.c prepends lines that set batch, name, root, program, WARPBOOK_BUILD and options.

cd "$batch" || exit 3
exec >> "printed/$SLURM_ARRAY_TASK_ID.txt" 2>&1
[ -e job ] || { echo "$SLURM_ARRAY_JOB_ID" > "job.$SLURM_ARRAY_TASK_ID" && mv "job.$SLURM_ARRAY_TASK_ID" job; }

read -r lab kernels < <(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" tasks)

cd "$root" && [ -x "$program" ] || {
    echo "$(uname -n): the workbook is missing; it must be in a folder that all nodes see: $root"
    exit 3
}

# This task's gradebook is on a local disk. Only its logs, which are the results, go to the batch's folder.
[ -d "${TMPDIR:-/tmp}" ] || unset TMPDIR
find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'warpbook-slurm-*' -type d -user "$(id -u)" -mmin +1 \
    -exec flock --nonblock '{}/gradebook.lock' rm -rf '{}' \; # left behind by a killed task
out=$(mktemp -d "${TMPDIR:-/tmp}/warpbook-slurm-XXXXXX") || exit 3

# Once slurmstepd, our parent, is gone, Slurm may give this GPU to another job.
(
    trap '' TERM
    while read -r _ _ _ parent _ < "/proc/$$/stat" && [ "$parent" = "$PPID" ]; do sleep 0.5; done
    kill -TERM 0
    sleep 5
    kill -KILL 0
) &
watcher=$!

jobs=${SLURM_CPUS_ON_NODE:-1}
trap : TERM # gradebook is signalled, too; once it has exited, remove the folder
"$program" grade "$batch/kernels" --kernels "$kernels" --labs "$lab" --course "$batch/course.ini" --out "$out" \
    --logs "$batch/$name" --jobs "$((jobs < 64 ? jobs : 64))" "${options[@]}"
status=$?
{ kill -KILL "$watcher" && wait "$watcher"; } 2> /dev/null # otherwise bash would report the kill
rm -rf "$out"
exit $status
