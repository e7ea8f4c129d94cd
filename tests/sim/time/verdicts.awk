# verdicts.awk - `FILE GPU SIMULATED TOLD` a line: where the two verdicts differ, and how many agree. What races is
# unsafe in the simulator and may be anything on a GPU. TOLD is how the file's first line says that what races, or
# misuses memory, ends there instead (`stray`, `crash_or_stray`), or `-`: what it tells of is shown, and no fault.
# Exit status 1: the others do not all agree.
function is_told(verdict, told,   n, i, one)
{
    n = split(told, one, "_or_")
    for (i = 1; i <= n; i++)
        if (one[i] == verdict) return 1
    return 0
}
{
    gpu = NF > 1 ? $2 : "-"
    simulated = NF > 2 ? $3 : "-"
    if (gpu != "-" && (gpu == simulated || simulated == "unsafe")) { agree++; next }
    if (gpu != "-" && NF > 3 && is_told(simulated, $4)) {
        excepted++
        printf("%s: %s on the GPU, %s simulated, as its first line says\n", $1, gpu, simulated)
        next
    }
    differ++
    printf("%s: %s on the GPU, %s simulated\n", $1, gpu == "-" ? "none" : gpu, simulated == "-" ? "none" : simulated)
}
END {
    all = agree + differ
    printf("verdicts: %d of %d agree, asked all", agree, all)
    if (excepted) printf("; %d more race or misuse memory and end as told", excepted)
    printf("\n")
    exit differ || !all
}
