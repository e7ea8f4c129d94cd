/* known.c - other kernels of ours beside the reference: rung 1, and the fastest that we know. */
#include "known.h"
#include "modelled.h"
#include "util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Faster than the fastest that we know by this: a human should look. */
static const double beyond_known = 1.1;

/* The ratio of a kernel of ours to the reference, from a short race; 0 if it can't be had. */
static double ratio_of_ours(Judging *j, const char *source, int i)
{
    Build built;
    Contestant ours = { 0 };
    GpuInfo info;
    Finish finish = { .trouble = UNSOUND };

    session_build(j->session, j->entry, source, NULL, &built);
    if (built.fault != BUILD_OK)
        return 0;
    if (*j->session->simulated)
        return modelled_ratio(j, built.object, i);
    j->doing = j->plan[i].sized.label;
    if (judging_start_ours(j, &ours, built.object, &info) == PASS &&
        side_take_up(&j->reference, &j->plan[i]) == PASS &&
        side_take_up(&ours, &j->plan[i]) == PASS)
        judging_race(j, &ours, 0, 3, &finish);
    side_end(&ours);
    return finish.trouble == PASS && finish.blocks ? finish.ratio.median : 0;
}

double known_floor(Judging *j, int i)
{
    char path[PATH * 2], text[64], *kept;
    uint64_t key = hash_bytes(j->result->hash, j->info.driver, strlen(j->info.driver));
    double floor;
    FileList rungs;
    char *rung;

    list_rungs(j->session, j->entry, &rungs);
    if (!rungs.count)
        return 0;
    if ((rung = read_file(rungs.path[0], 1 << 20, NULL)))
        key = hash_bytes(key, rung, strlen(rung));
    free(rung);
    key = hash_bytes(key, j->session->toolchain.version, strlen(j->session->toolchain.version));
    key = hash_bytes(key, j->plan[i].sized.dim, sizeof j->plan[i].sized.dim);
    if (*j->session->simulated)
        key ^= session_simulator_hash(j->session);
    PUT(path, "%s/%s-%s-%d-%016llx", j->session->floors, j->entry->folder, j->info.uuid, i,
        (unsigned long long) key);
    if ((kept = read_file(path, 63, NULL))) {
        floor = strtod(kept, NULL);
        free(kept);
        if (floor > 0)
            return floor;
    }
    PUT(text, "%.4f\n", ratio_of_ours(j, rungs.path[0], i));
    floor = strtod(text, NULL); /* as it is read the next time */
    if (floor > 0 && make_folders(j->session->floors))
        write_file(path, text, strlen(text));
    return floor;
}

void known_look(Judging *j, int i)
{
    CaseSpeed *s = &j->result->speed[i];
    FileList beyond;
    double fastest = 0;

    list_solutions(j->session, j->entry, "/beyond", &beyond);
    if (beyond.count)
        fastest = ratio_of_ours(j, beyond.path[beyond.count - 1], i);
    if (s->ratio.median > beyond_known * fmax(fastest, 1))
        judging_flag(j, "faster-than-known");
}
