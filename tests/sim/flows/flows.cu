// flows.cu - runs launches of the training set: small kernels with control flow of all kinds, by
// which the counts of machine instructions are tuned.
//
//     flows --list               the launches' names
//     flows [NAME...]            runs these launches, or all; prints `launch NAME CHECKSUM
//     LAUNCHES` flows --profile [NAME...]  for profilers: a warm-up, then between cudaProfilerStart
//     and Stop a
//                                marker whose grid is the line's number, and the launch
#include "calls.cuh"
#include "choices.cuh"
#include "data.cuh"
#include "groups.cuh"
#include "images.cuh"
#include "loops.cuh"
#include "moved.cuh"
#include "numbers.cuh"

#include <cstring>

static const Flow flows[] = { LOOPS, CHOICES, IMAGES, NUMBERS, GROUPS, DATA, CALLS, MOVED };

static bool is_wanted(const char *name, char **wanted, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, wanted[i]))
            return true;
    return count == 0;
}

int main(int argc, char **argv)
{
    const bool listed = argc > 1 && !strcmp(argv[1], "--list"),
               profiled = argc > 1 && !strcmp(argv[1], "--profile");
    int number = 0;

    for (const Flow &flow : flows) {
        if (listed)
            printf("%s\n", flow.name);
        if (listed || !is_wanted(flow.name, argv + 1 + profiled, argc - 1 - profiled))
            continue;
        Run run(profiled ? PROFILED : ONCE, ++number, 0);
        flow.run(run);
        printf("launch %s %08x %d\n", flow.name, run.checksum, run.launches);
    }
    if (!listed && !number)
        fprintf(stderr, "flows: no such launch (see --list)\n");
    return listed || number ? 0 : 1;
}
