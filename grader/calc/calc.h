/* calc.h - the formulas that lessons and predictions use. `warpbook calc` shows them with the
 * working; device_occupancy() of sim/device.h computes how many blocks fit on an SM.
 *
 * Pure functions: no state, and no dependence on the machine. Arguments outside the ranges that are
 * stated here (as NaN and infinities are, unless mentioned) give NaN, or a struct of zeros.
 */
#ifndef CALC_CALC_H
#define CALC_CALC_H

#include <stdbool.h>

/* ---- The cost of one access of a warp ----
 * The same counts as the simulated GPU's (sim/shape.c), which were measured on an H200. Element 0
 * is aligned like an array from cudaMalloc, and is in bank 0. */

enum { CALC_LANES = 32, CALC_SECTOR_BYTES = 32, CALC_LINE_BYTES = 128, CALC_BANKS = 32 };
#define CALC_ELEMENTS 2147483648L /* largest offset, stride and pitch, with either sign */

/* Lane i touches element offset + i % width * stride + i / width * pitch. */
typedef struct WarpAccess {
    int bytes;   /* per lane: 1, 2, 4, 8, 16 */
    int lanes;   /* number of active lanes, from lane 0: 1 to 32 */
    long offset; /* elements, >= 0 */
    long stride; /* elements from one lane to the next; 0: all access the same one */
    int width;   /* lanes per row, 1 to 32 */
    long pitch;  /* elements from one row to the next */
    bool store;  /* not a load: in shared memory, costs differ for 8 and 16 bytes per lane */
} WarpAccess;

long calc_element(const WarpAccess *access, int lane);

typedef struct SectorCount {
    int sectors, least; /* different 32-byte sectors; the minimum number for the requested bytes */
    int wanted_bytes;   /* different bytes that the lanes request */
    int moved_bytes;    /* sectors x 32 */
    double efficiency;  /* wanted / moved */
    int lines;          /* different pieces of 128 bytes */
    double lines_efficiency; /* wanted / (lines x 128): for GPUs that moved whole lines */
} SectorCount;

SectorCount calc_sectors(const WarpAccess *access);

typedef struct BankCount {
    int wavefronts; /* passes that the access takes */
    int least; /* without conflicts: 1, or for 8 bytes per lane 2, for 16 bytes 4; fewer if inactive
                * lanes or loads of the same address save some */
    double degree; /* wavefronts / least: "n-way" */
} BankCount;

/* There are 32 banks of 4 bytes. Different words in one bank take a wavefront each; lanes that load
 * the same word share it. With 4 bytes per lane, the degree is the largest number of different
 * words in one bank. */
BankCount calc_banks(const WarpAccess *access);

/* ---- Blocks over SMs ---- */

/* `resident`: blocks that an SM holds at once. */
typedef struct Waves {
    long wave;            /* blocks: SMs x resident */
    long full, tail;      /* whole waves, and blocks after them */
    long waves;           /* full, plus one if there is a tail */
    double efficiency;    /* blocks / (waves x wave): if a block's time does not depend on its
                             neighbours */
    long sm_most;         /* blocks of the SM that gets the most */
    double sm_efficiency; /* blocks / (SMs x sm_most): if blocks on an SM share its speed */
} Waves;

/* 1 <= blocks <= 10^15, 1 <= sms <= 10^6, 1 <= resident <= 1024. The profiler's "est. speedup" of
 * a tail is 1 / waves: the gain if a whole wave vanished, not the cost of the tail. */
Waves calc_waves(long blocks, long sms, long resident);

/* ---- Little's law ---- */

/* In flight = latency x throughput, both > 0: ns x GB/s = bytes, cycles x operations per cycle =
 * operations. */
double calc_little(double latency, double throughput);

/* The throughput that this amount in flight gives: in_flight / latency. */
double calc_little_rate(double in_flight, double latency);

/* ---- Roofline (Williams, Waterman, Patterson, 2009) ---- */

/* The intensity (FLOP per byte) above which arithmetic limits a kernel: peak / bandwidth, with the
 * same prefix (GFLOP/s and GB/s). Both > 0. */
double calc_ridge(double peak, double bandwidth);

/* The attainable rate at an intensity (FLOP per byte, >= 0), in the unit of `peak`: min(peak,
 * intensity x bandwidth). */
double calc_roofline(double peak, double bandwidth, double intensity);

/* ---- Amdahl (1967), Gustafson (1988) ---- */

/* The overall speed-up if `share` of the time, 0 to 1, becomes `n` > 0 times as fast. n may be
 * INFINITY, and so may the result. */
double calc_amdahl(double share, double n);

/* The speed-up if the work grows with n >= 1 processors so that the time stays the same: n + (1 -
 * share) (1 - n). */
double calc_gustafson(double share, double n);

/* ---- Copies and kernel in chunks ---- */

enum { CALC_CHUNKS = 4096, CALC_STAGES = 3 };

/* Each chunk is copied up, computed and copied down in turn. Each stage has its own engine, and a
 * chunk occupies a buffer from its first stage to the end of its last. Assumes two copy engines and
 * pinned memory. */
typedef struct Pipeline {
    double stage[CALC_STAGES]; /* up, kernel, down: total time over all chunks, >= 0, any unit */
    int chunks;                /* 1 to CALC_CHUNKS, of equal size */
    int buffers;               /* 1 or more */
    double each;               /* extra time of every operation, >= 0, same unit */
} Pipeline;

typedef struct Overlap {
    double sum, longest; /* of the stages: their sum, and the longest, which is the bound */
    double finish;       /* when the last chunk ends */
    double speedup;      /* sum / finish */
    double share;        /* (sum - finish) / (sum - longest); NaN if only one stage takes time */
    double begin[CALC_STAGES][CALC_CHUNKS], end[CALC_STAGES][CALC_CHUNKS];
} Overlap;

/* Returns false, with zeros, if an argument is out of range or no stage takes time. With enough
 * buffers and `each` 0, finish = longest + (sum - longest) / chunks. For two stages that is tE +
 * tT/n of the Best Practices Guide. */
bool calc_overlap(const Pipeline *pipeline, Overlap *overlap);

/* The share of overlap for a measured finish: 0 if nothing overlaps, 1 at the bound. NaN unless 0 <
 * longest < sum and finish > 0. */
double calc_overlap_share(double sum, double longest, double finish);

#endif
