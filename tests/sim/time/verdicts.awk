# verdicts.awk - `FILE GPU SIMULATED` a line: where the two verdicts differ, and how many agree. What races is
# unsafe in the simulator and may be anything on a GPU. Exit status 1: not all agree.
{
    all++
    if (NF == 3 && ($2 == $3 || $3 == "unsafe")) { agree++; next }
    printf("%s: %s on the GPU, %s simulated\n", $1, NF > 1 ? $2 : "none", NF > 2 ? $3 : "none")
}
END {
    printf("verdicts: %d of %d agree, asked all\n", agree, all)
    exit agree < all || !all
}
