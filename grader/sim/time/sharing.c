/* sharing.c - places and speeds of kernels that run at the same time; the rules are in sharing.h.
 *
 * Places are assigned anew each time: which block is where does not matter, only how many blocks of
 * which kernels share an SM.
 */
#include "sim/time/sharing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct SharedSm {
    int blocks; /* of all kernels */
    double taken[SM_PARTS], load[UNITS_OF_SM];
} SharedSm;

struct Sharing {
    int sms, kernels; /* for which there is room */
    SharedSm *sm;
    int *blocks; /* [kernel * sms + sm] */
    double load[SHARED_UNITS];
};

Sharing *sharing_open(int sms)
{
    Sharing *sharing = calloc(1, sizeof *sharing);

    if (!sharing)
        return NULL;
    sharing->sms = sms;
    sharing->sm = calloc((size_t) sms, sizeof *sharing->sm);
    if (sharing->sm)
        return sharing;
    free(sharing);
    return NULL;
}

void sharing_close(Sharing *sharing)
{
    if (!sharing)
        return;
    free(sharing->sm);
    free(sharing->blocks);
    free(sharing);
}

static bool make_room(Sharing *sharing, int kernels)
{
    const size_t bytes = (size_t) kernels * (size_t) sharing->sms * sizeof *sharing->blocks;
    void *more = kernels > sharing->kernels ? realloc(sharing->blocks, bytes) : sharing->blocks;

    if (!more)
        return false;
    sharing->blocks = more;
    sharing->kernels = kernels > sharing->kernels ? kernels : sharing->kernels;
    memset(sharing->blocks, 0, bytes);
    memset(sharing->sm, 0, (size_t) sharing->sms * sizeof *sharing->sm);
    memset(sharing->load, 0, sizeof sharing->load);
    return true;
}

/* ---- Tails ---- */

static double tail_part(const KernelTail *tail, double done)
{
    return done < tail->begins || tail->begins >= 1
               ? -1
               : (done - tail->begins) / (1 - tail->begins) * TAIL_PARTS;
}

/* The number of blocks that a kernel has left to run at the same time. */
static int blocks_at(const KernelUse *use, double done)
{
    enum { LITTLE = 1000000 }; /* ends of parts are not reached exactly */
    const double part = tail_part(&use->tail, done);
    const int i = (int) (part + 1.0 / LITTLE);
    const double places = part < 0 ? 1 : use->tail.places[i < TAIL_PARTS ? i : TAIL_PARTS - 1];
    const int blocks = (int) ceil(places * use->blocks - 1.0 / LITTLE);

    return blocks > 1 ? blocks : 1;
}

double sharing_next_release(const KernelUse *use, double done)
{
    const double begins = use->tail.begins, part = tail_part(&use->tail, done);

    if (part < 0)
        return begins < 1 ? begins : 1;
    return fmin(1, begins + (floor(part + 1e-6) + 1) / TAIL_PARTS * (1 - begins));
}

/* ---- Waves ---- */

/* Times are rounded, so waves do not end exactly; and the last blocks begin one after the other. */
static const double NEARLY = 1e-4, LAST_BLOCKS = 0.05; /* in waves */

bool sharing_has_blocks(const KernelUse *use, double done)
{
    return use->waves > 1 && (done - use->tail.begins) * use->waves <= LAST_BLOCKS;
}

double sharing_next_wave(const KernelUse *use, double done)
{
    const double next = use->waves > 1 ? (floor(done * use->waves + NEARLY) + 1) / use->waves : 1;

    return sharing_has_blocks(use, next) ? next : 1;
}

bool sharing_wave_ends(const KernelUse *use, double done)
{
    const double waves = done * use->waves;

    return round(waves) >= 1 && fabs(waves - round(waves)) < NEARLY;
}

/* ---- Places ---- */

static bool fits(const SharedSm *sm, const KernelUse *use)
{
    for (int i = 0; i < SM_PARTS; i++)
        if (sm->taken[i] + use->part[i] > 1 + 1e-9)
            return false;
    return true;
}

static void place(SharedSm *sm, const KernelUse *use)
{
    sm->blocks++;
    for (int i = 0; i < SM_PARTS; i++)
        sm->taken[i] += use->part[i];
}

static int least_blocks(const Sharing *sharing, const KernelUse *use)
{
    int least = -1;

    for (int i = 0; i < sharing->sms; i++)
        if (fits(&sharing->sm[i], use) && (least < 0 || sharing->sm[i].blocks < least))
            least = sharing->sm[i].blocks;
    return least;
}

/* Places up to `wanted` blocks, each on an SM with the fewest; returns their number. */
static int place_blocks(Sharing *sharing, const KernelUse *use, int *blocks, int wanted)
{
    int placed = 0, least;

    while (placed < wanted && (least = least_blocks(sharing, use)) >= 0)
        for (int i = 0; i < sharing->sms && placed < wanted; i++)
            if (sharing->sm[i].blocks == least && fits(&sharing->sm[i], use)) {
                place(&sharing->sm[i], use);
                blocks[i]++;
                placed++;
            }
    return placed;
}

/* ---- Loads ---- */

/* How busy one block keeps a unit of its SM. */
static double block_load(const Sharing *sharing, const KernelUse *use, int unit)
{
    return use->busy[unit] * sharing->sms / use->blocks;
}

/* `wanted`: of all blocks that it has left. A few blocks may still occupy the whole link. */
static void add_load(Sharing *sharing, const KernelUse *use, const int *blocks, int placed,
                     int wanted)
{
    for (int i = 0; i < sharing->sms; i++)
        for (int unit = 0; unit < UNITS_OF_SM; unit++)
            sharing->sm[i].load[unit] += blocks[i] * block_load(sharing, use, unit);
    for (int unit = UNITS_OF_SM; unit < UNIT_LINK; unit++)
        sharing->load[unit] += use->busy[unit] * placed / use->blocks;
    sharing->load[UNIT_LINK] += use->busy[UNIT_LINK] * placed / wanted;
}

/* How much slower the kernel's blocks on this SM are than without the other kernels. */
static double slower_on(const Sharing *sharing, const KernelUse *use, int sm, int blocks)
{
    double all = 1, own = 1;

    for (int unit = 0; unit < UNITS_OF_SM; unit++)
        if (use->busy[unit] > 0) {
            all = fmax(all, sharing->sm[sm].load[unit]);
            own = fmax(own, blocks * block_load(sharing, use, unit));
        }
    return all / own;
}

static double slower_on_sms(const Sharing *sharing, const KernelUse *use, const int *blocks,
                            int placed)
{
    double most = 1, sum = 0;

    for (int i = 0; i < sharing->sms; i++) {
        const double slower = blocks[i] ? slower_on(sharing, use, i, blocks[i]) : 1;
        most = fmax(most, slower);
        sum += slower * blocks[i];
    }
    return use->waves > 1 ? sum / placed : most;
}

static double slower_on_gpu(const Sharing *sharing, const KernelUse *use)
{
    double slower = 1;

    for (int unit = UNITS_OF_SM; unit < SHARED_UNITS; unit++)
        if (use->busy[unit] > 0)
            slower = fmax(slower, sharing->load[unit]);
    return slower;
}

/* ---- Speeds ---- */

static void set_speed(const Sharing *sharing, Sharer *kernel, const int *blocks)
{
    const KernelUse *use = kernel->use;
    int placed = 0;

    for (int i = 0; i < sharing->sms; i++)
        placed += blocks[i];
    kernel->speed = 0;
    if (placed)
        kernel->speed =
            (double) placed / blocks_at(use, kernel->done) /
            fmax(slower_on_sms(sharing, use, blocks, placed), slower_on_gpu(sharing, use));
}

/* Returns the number of kernels up to the first one that lacks places. */
static int place_kernels(Sharing *sharing, const Sharer *kernels, int count)
{
    for (int k = 0; k < count; k++) {
        const KernelUse *use = kernels[k].use;
        const int wanted = blocks_at(use, kernels[k].done);
        int *blocks = &sharing->blocks[k * sharing->sms];
        const int placed = place_blocks(sharing, use, blocks, wanted);
        add_load(sharing, use, blocks, placed, wanted);
        if (placed < wanted)
            return k + 1;
    }
    return count;
}

/* A kernel that has all SMs shares only the link. Returns the load of the link. */
static double set_speed_alone(Sharer *kernel, bool copies)
{
    const double load = kernel->use->busy[UNIT_LINK] + copies;

    kernel->speed = kernel->use->busy[UNIT_LINK] > 0 && load > 1 ? 1 / load : 1;
    return load;
}

double sharing_set_speeds(Sharing *sharing, Sharer *kernels, int count, bool copies)
{
    double load = copies;
    int placed;

    for (int k = 0; k < count; k++)
        kernels[k].speed = k == 0;
    if (count == 1) {
        load = set_speed_alone(kernels, copies);
    } else if (count > 1 && sharing && make_room(sharing, count)) {
        sharing->load[UNIT_LINK] = copies;
        placed = place_kernels(sharing, kernels, count);
        for (int k = 0; k < placed; k++)
            set_speed(sharing, &kernels[k], &sharing->blocks[k * sharing->sms]);
        load = sharing->load[UNIT_LINK];
    }
    return load > 1 ? 1 / load : 1;
}
