/* calc.c - the formulas of calc.h. */
#include "calc/calc.h"

#include "sim/exec/shape.h"

#include <math.h>
#include <stdint.h>

/* ---- The cost of one access of a warp ---- */

static bool is_element(long n)
{
    return n >= -CALC_ELEMENTS && n <= CALC_ELEMENTS;
}

static bool is_access(const WarpAccess *a)
{
    bool sized = a->bytes >= 1 && a->bytes <= 16 && !(a->bytes & (a->bytes - 1));

    return sized && a->lanes >= 1 && a->lanes <= CALC_LANES && a->width >= 1 &&
           a->width <= CALC_LANES && a->offset >= 0 && is_element(a->offset) &&
           is_element(a->stride) && is_element(a->pitch);
}

long calc_element(const WarpAccess *a, int lane)
{
    if (!is_access(a) || lane < 0 || lane >= CALC_LANES)
        return 0;
    return a->offset + lane % a->width * a->stride + lane / a->width * a->pitch;
}

/* The counts do not depend on the step, so an empty one is used. */
static const Shape *shape_of_access(const WarpAccess *a, Space space, uint64_t address[LANES])
{
    static const Step any;
    const uint64_t start = 1ull << 44; /* beyond any negative stride, and a multiple of 256 */

    for (int i = 0; i < LANES; i++)
        address[i] = start + (uint64_t) a->bytes * (uint64_t) calc_element(a, i);
    return shape_of(&any, space, a->store ? ACCESS_STORE : ACCESS_LOAD,
                    a->lanes == LANES ? UINT32_MAX : (1u << a->lanes) - 1, a->bytes, address);
}

static int count_lines(const uint64_t address[LANES], int lanes)
{
    int lines = 0;

    for (int i = 0; i < lanes; i++) {
        bool seen = false;
        for (int before = 0; before < i; before++)
            seen |= address[before] / CALC_LINE_BYTES == address[i] / CALC_LINE_BYTES;
        lines += !seen;
    }
    return lines;
}

SectorCount calc_sectors(const WarpAccess *access)
{
    SectorCount count = { 0 };
    uint64_t address[LANES];
    const Shape *shape;

    if (!is_access(access))
        return count;
    shape = shape_of_access(access, SPACE_GLOBAL, address);
    count.sectors = shape->sectors;
    count.wanted_bytes = __builtin_popcount(shape_leaders(shape)) * access->bytes;
    count.least = (count.wanted_bytes + CALC_SECTOR_BYTES - 1) / CALC_SECTOR_BYTES;
    count.moved_bytes = count.sectors * CALC_SECTOR_BYTES;
    count.efficiency = (double) count.wanted_bytes / count.moved_bytes;
    count.lines = count_lines(address, access->lanes);
    count.lines_efficiency = (double) count.wanted_bytes / (count.lines * CALC_LINE_BYTES);
    return count;
}

BankCount calc_banks(const WarpAccess *access)
{
    BankCount count = { 0 };
    uint64_t address[LANES];
    const Shape *shape;

    if (!is_access(access))
        return count;
    shape = shape_of_access(access, SPACE_SHARED, address);
    count.wavefronts = shape->wavefronts;
    count.least = shape->ideal;
    count.degree = (double) count.wavefronts / count.least;
    return count;
}

/* ---- Blocks over SMs ---- */

static long ceil_div(long a, long b)
{
    return a / b + (a % b != 0);
}

Waves calc_waves(long blocks, long sms, long resident)
{
    Waves w = { 0 };

    if (blocks < 1 || blocks > 1000000000000000 || sms < 1 || sms > 1000000 || resident < 1 ||
        resident > 1024)
        return w;
    w.wave = sms * resident;
    w.full = blocks / w.wave;
    w.tail = blocks % w.wave;
    w.waves = ceil_div(blocks, w.wave);
    w.efficiency = (double) blocks / (double) (w.waves * w.wave);
    w.sm_most = ceil_div(blocks, sms);
    w.sm_efficiency = (double) blocks / (double) (w.sm_most * sms);
    return w;
}

/* ---- Little's law, roofline ---- */

static bool positive(double x)
{
    return x > 0 && isfinite(x);
}

double calc_little(double latency, double throughput)
{
    return positive(latency) && positive(throughput) ? latency * throughput : NAN;
}

double calc_little_rate(double in_flight, double latency)
{
    return positive(in_flight) && positive(latency) ? in_flight / latency : NAN;
}

double calc_ridge(double peak, double bandwidth)
{
    return positive(peak) && positive(bandwidth) ? peak / bandwidth : NAN;
}

double calc_roofline(double peak, double bandwidth, double intensity)
{
    if (!positive(peak) || !positive(bandwidth) || !(intensity >= 0) || !isfinite(intensity))
        return NAN;
    return fmin(peak, intensity * bandwidth);
}

/* ---- Amdahl, Gustafson ---- */

double calc_amdahl(double share, double n)
{
    if (!(share >= 0 && share <= 1) || !(n > 0))
        return NAN;
    return 1 / ((1 - share) + share / n);
}

double calc_gustafson(double share, double n)
{
    if (!(share >= 0 && share <= 1) || !(n >= 1) || !isfinite(n))
        return NAN;
    return n + (1 - share) * (1 - n);
}

/* ---- Copies and kernel in chunks ---- */

static bool is_pipeline(const Pipeline *p)
{
    double sum = 0;

    for (int s = 0; s < CALC_STAGES; s++) {
        if (!(p->stage[s] >= 0))
            return false;
        sum += p->stage[s];
    }
    return positive(sum) && p->each >= 0 && isfinite(p->each) && p->chunks >= 1 &&
           p->chunks <= CALC_CHUNKS && p->buffers >= 1;
}

/* A stage begins when its engine has finished the previous chunk and the chunk has finished its
 * previous stage. The first stage begins when a buffer is free. A stage that takes no time is
 * skipped. */
static void run_chunk(const Pipeline *p, Overlap *o, int chunk)
{
    double ready = chunk >= p->buffers ? o->end[CALC_STAGES - 1][chunk - p->buffers] : 0;

    for (int s = 0; s < CALC_STAGES; s++) {
        double takes = p->stage[s] > 0 ? p->stage[s] / p->chunks + p->each : 0;
        double engine = chunk && takes > 0 ? o->end[s][chunk - 1] : 0;
        o->begin[s][chunk] = fmax(ready, engine);
        ready = o->end[s][chunk] = o->begin[s][chunk] + takes;
    }
}

bool calc_overlap(const Pipeline *p, Overlap *o)
{
    *o = (Overlap){ 0 };
    if (!is_pipeline(p))
        return false;
    for (int s = 0; s < CALC_STAGES; s++) {
        o->sum += p->stage[s];
        o->longest = fmax(o->longest, p->stage[s]);
    }
    for (int chunk = 0; chunk < p->chunks; chunk++)
        run_chunk(p, o, chunk);
    o->finish = o->end[CALC_STAGES - 1][p->chunks - 1];
    o->speedup = o->sum / o->finish;
    o->share = calc_overlap_share(o->sum, o->longest, o->finish);
    return true;
}

double calc_overlap_share(double sum, double longest, double finish)
{
    if (!positive(sum) || !positive(longest) || !positive(finish) || longest >= sum)
        return NAN;
    return (sum - finish) / (sum - longest);
}
