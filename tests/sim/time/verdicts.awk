# verdicts.awk - reads lines `FILE GPU SIMULATED TOLD`, and prints where the two verdicts differ and how many agree. A
# kernel that races is unsafe in the simulator and can have any verdict on a GPU. TOLD is the verdict in the simulator
# that the file's first line announces for a kernel that races or misuses memory (`stray`, `crash_or_stray`), or `-`.
# An announced difference is printed but is not an error. Exit status 1: other verdicts differ.
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
