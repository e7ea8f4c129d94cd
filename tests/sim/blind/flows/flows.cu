// flows.cu - measures sections of programs in which several pieces of work overlap or memory
// moves.
//
//     flows [REPEATS [NAME...]]   prints a line `NAME MICROSECONDS us` per section, the median of
//                                 REPEATS runs (default 7) after a warm-up
//     flows --list                prints the names
//
// Exit status 1: a result differs from the host's, a call failed, or a name is unknown.
#include "batches.cuh"
#include "branches.cuh"
#include "lanes.cuh"
#include "managed.cuh"
#include "mapped.cuh"
#include "mixed.cuh"
#include "overlap.cuh"
#include "paging.cuh"
#include "pinned.cuh"
#include "reach.cuh"
#include "turns.cuh"

#include <cstring>

struct Section {
    const char *name;
    void (*run)(Flow &flow);
};

static const Section sections[] = {
#define SECTION(family, name) { #name, name },
#include "sections.def"
};

static const Section *find_section(const char *name)
{
    for (const Section &s : sections)
        if (!strcmp(s.name, name))
            return &s;
    fprintf(stderr, "flows: no section named %s (see --list)\n", name);
    exit(1);
}

// False: a result is wrong. The first run warms up.
static bool measure(Flow &flow, const Section &section, int repeats)
{
    std::vector<double> us;

    for (int i = 0; i <= repeats; i++) {
        flow.clear();
        section.run(flow);
        if (i)
            us.push_back(flow.us);
        if (flow.wrong || !flow.checked) {
            fprintf(stderr, "flows: %s: %zu of %zu values differ from the host's\n", section.name,
                    flow.wrong, flow.checked);
            return false;
        }
    }
    std::sort(us.begin(), us.end());
    printf("%-24s %11.3f us\n", section.name, us[us.size() / 2]);
    fflush(stdout);
    return true;
}

static void list()
{
    for (const Section &s : sections)
        printf("%s\n", s.name);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--list")) {
        list();
        return 0;
    }
    const int repeats = argc > 1 ? std::max(1, atoi(argv[1])) : 7;
    std::vector<Section> wanted(sections, sections + sizeof sections / sizeof *sections);
    bool right = true;

    if (argc > 2)
        wanted.clear();
    for (int i = 2; i < argc; i++)
        wanted.push_back(*find_section(argv[i]));

    Flow flow;
    for (const Section &s : wanted)
        right &= measure(flow, s, repeats);
    return right ? 0 : 1;
}
