/* work.c - compares the work of blocks that were not played with that of those that were. */
#include "sim/exec/repeats.h"
#include "sim/time/model.h"

#include <math.h>

static void add_counts(WorkDone *done, const Count *counts, const Code *code)
{
    for (int i = 0; counts && code && i < code->step_count; i++) {
        done->of[REQUESTS] += (double) counts[i].requests;
        done->of[SECTORS_MOVED] += (double) counts[i].sectors;
        done->of[WAVEFRONTS] += (double) counts[i].wavefronts;
    }
}

WorkDone work_done(const Launch *launch)
{
    WorkDone done = { { [INSTRUCTIONS] = (double) launch->executed } };

    repeats_end_all();
    add_counts(&done, launch->counts, launch->kernel);
    for (int i = 0; launch->call_counts && i < launch->module->function_count; i++)
        add_counts(&done, launch->call_counts[i], launch->codes[i]);
    return done;
}

/* The ratio of the work per remaining block to the work per played block, for instructions or for
 * the kind of work with the highest ratio. Without it, a kernel could do its light part first. */
double work_ratio(const WorkDone *played, double blocks, const WorkDone *rest, double others)
{
    static const double alike = 1.1, none = 100;
    double most = rest->of[INSTRUCTIONS] / others / (played->of[INSTRUCTIONS] / blocks);

    for (int i = 0; i < WORK_KINDS; i++) {
        const double times = rest->of[i] / others / (fmax(played->of[i], 1) / blocks);
        if (times > alike * most && times < none)
            most = times;
    }
    return most;
}

/* The time of a kind of work that no played block did is unknown. This is a lower bound: the time
 * that memory needs for the sectors, and the SMs for requests and wavefronts. */
double work_least_cycles(const Gpu *gpu, const WorkDone *done)
{
    const Memory *memory = &gpu->memory;
    const double sector_cycles =
        fmax(memory->l2_cycles / memory->pass_sectors, memory->read_cycles / memory->atom_sectors);

    return fmax(done->of[SECTORS_MOVED] * sector_cycles,
                (done->of[WAVEFRONTS] + done->of[REQUESTS]) / gpu->device.sms);
}

/* Whether the other blocks do a kind of work of which the played blocks did hardly any. */
bool work_is_new(const WorkDone *played, double blocks, const WorkDone *rest, double others)
{
    for (int i = 0; i < WORK_KINDS; i++)
        if (rest->of[i] / others > 10 * (fmax(played->of[i], 1) / blocks))
            return true;
    return false;
}
