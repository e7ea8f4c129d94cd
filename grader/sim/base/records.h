/* records.h - samples of what kernels did on the simulated GPU, from which pictures are drawn.
 *
 * The recorder (sim/record/record.h) fills a Records; the runner copies it whole to the grader,
 * which calls records_check() before it reads anything. All tables have a fixed capacity, so the
 * size is bounded whatever a kernel does; the `lost_...` members count rows that did not fit. This
 * file does not depend on how pictures look.
 */
#ifndef SIM_BASE_RECORDS_H
#define SIM_BASE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RECORD_LANES = 32,
    RECORD_NAME = 40,
    RECORD_BANKS = 32,
    RECORD_LINE_BYTES = 128,
    RECORD_SECTOR_BYTES = 32,
    RECORD_WORD_BYTES = 4,
    MOST_LAUNCHES = 64,
    MOST_ARRAYS = 32,
    MOST_SHARED_WORDS = 1 << 16,
    MOST_VARIABLES = 64,
    MOST_ACCESSES = 2048,
    MOST_LANE_STEPS = 8192,
    LANE_STEPS_PER_LAUNCH = 2048,
    MOST_BLOCK_SPANS = 16384,
    MOST_BLOCK_TILES = 16384,
    MOST_SPANS = 512,
    MOST_WRITES = 65536,
    MOST_TURNS = 2048,
    TURNS_PER_LINE = 8,
    MAP_CELLS = 512,
    MAP_LEVELS = 2,
    MOST_RECORDED_FINDINGS = 8,
    RECORD_TEXT = 400,
};

/* Selects what is recorded. -1: any; accesses are then taken from the first warp with the most
 * passes, and lanes and writes from block 0 and warp 0. */
typedef struct RecordFilter {
    int64_t block;
    int warp;
} RecordFilter;

/* The simulated device. */
typedef struct RecordedDevice {
    char name[RECORD_NAME];
    int sms;
    double sm_mhz, fp32_tflops, memory_gbps;
} RecordedDevice;

/* A part of an array: which thread touched it first, and how many of its bytes moved. A request
 * moves whole sectors of 32 bytes; lanes use some of their bytes. */
typedef struct MapCell {
    int64_t block; /* of the first access */
    int launch;
    uint8_t warp, lane, kinds; /* kinds: 1 << RecordKind of all accesses; 0: never touched */
    uint64_t moved, used;      /* bytes, over all requests; `used` counts each lane */
} MapCell;

/* An array that kernels accessed. Offsets are relative to the 128-byte boundary `start` bytes
 * before its first element. The map has the whole array in at most MAP_CELLS cells, and its
 * beginning word by word. The cells of a matrix are tiles: cell_rows rows high, and `across` of
 * them side by side; those of any other array are consecutive parts of it. Requests with several
 * arrays are not in maps. */
typedef struct RecordedArray {
    char name[RECORD_NAME]; /* "in"; "": lanes accessed several arrays in one request */
    uint64_t bytes;
    int start;
    uint64_t row_bytes; /* of a matrix; 0: no matrix */
    uint64_t cell_rows; /* cells[0] are tiles; 0: they are consecutive */
    int across;
    uint64_t cell_bytes[MAP_LEVELS];
    MapCell cells[MAP_LEVELS][MAP_CELLS];
} RecordedArray;

/* A kernel launch. */
typedef struct RecordedLaunch {
    char kernel[RECORD_NAME];
    int grid[3], block[3];
    int64_t resident;         /* blocks that the GPU holds at once; 0: unknown */
    int64_t played;           /* blocks whose time was modelled */
    int shared_bytes;         /* per block */
    double cycles;            /* modelled; 0: time was not modelled */
    uint64_t executed, lanes; /* warp instructions; sum of their active lanes */
    int64_t typical_block;    /* the warp whose active lanes are the median */
    int typical_warp;
    uint8_t touched[MOST_SHARED_WORDS / 8]; /* words of shared memory that any warp accessed */
} RecordedLaunch;

/* A variable in shared memory. */
typedef struct SharedVariable {
    int launch, offset, bytes;
    char name[RECORD_NAME];
} SharedVariable;

typedef enum RecordSpace { RECORD_GLOBAL, RECORD_SHARED } RecordSpace;
typedef enum RecordKind { RECORD_LOAD, RECORD_STORE, RECORD_ATOMIC } RecordKind;

/* One access of one warp: the access of this instruction with the most passes. */
typedef struct WarpAccess {
    int launch, step; /* step: index of the instruction in the kernel's PTX */
    int line;         /* in kernel.cu; 0: in another file, or unknown */
    int space, kind;
    int array; /* index; -1 for shared memory */
    int bytes; /* per lane */
    int warp;
    int64_t block;
    uint32_t mask;                  /* active lanes */
    int passes, least;              /* sectors or wavefronts; the minimum for these bytes */
    uint64_t address[RECORD_LANES]; /* offset in the array or in shared memory; 0 if inactive */
    /* The simulator's counters of the instruction, over all warps of the launch. */
    uint64_t requests, all_passes, all_least; /* all_least: global memory: bytes; shared memory:
                                                 wavefronts without conflicts */
} WarpAccess;

/* One instruction of one warp. */
typedef struct LaneStep {
    int launch, step, line;
    uint32_t active;   /* lanes that were at this instruction */
    uint32_t executed; /* active lanes whose guard was true */
} LaneStep;

/* One block on an SM, in modelled cycles since the launch began. */
typedef struct BlockSpan {
    int launch, sm;
    int64_t block;
    uint64_t begin, end;
} BlockSpan;

/* The smallest offset in an array to which a block stored. */
typedef struct BlockTile {
    int launch, array;
    int64_t block;
    uint64_t first;
} BlockTile;

/* One element that a thread of the recorded block stored. */
typedef struct ElementWrite {
    int launch;
    uint8_t array, warp, lane, bytes;
    uint64_t offset;
} ElementWrite;

typedef enum Engine { ENGINE_UP, ENGINE_KERNEL, ENGINE_FILL, ENGINE_DOWN, ENGINES } Engine;

/* A copy, kernel or fill on the modelled timeline. */
typedef struct Span {
    int engine, stream;
    double begin_ns, end_ns, bytes;
    char name[RECORD_NAME];
} Span;

/* A fault that the simulated GPU reports, with the access of its first thread. For a race, `other`
 * is the earlier access. */
typedef struct RecordedThread {
    int line; /* in kernel.cu; 0: unknown */
    bool has_thread;
    int block[3], thread[3];
} RecordedThread;

typedef struct RecordedFinding {
    char word[RECORD_NAME]; /* "race", "out of bounds" */
    char kernel[RECORD_NAME];
    char text[RECORD_TEXT];
    uint64_t count;    /* threads or occurrences */
    uint64_t barriers; /* that the block had passed */
    RecordedThread access, other;
    bool has_other, is_fatal; /* fatal: the kernel ended there */
} RecordedFinding;

typedef struct Records {
    RecordFilter filter;
    RecordedDevice device;
    int array_count, launch_count, variable_count, access_count, lane_step_count, block_span_count,
        block_tile_count, span_count, write_count, turn_count, finding_count;
    /* Rows that did not fit. */
    uint64_t lost_launches, lost_accesses, lost_lane_steps, lost_block_spans, lost_block_tiles,
        lost_spans, lost_writes, lost_turns;
    RecordedArray arrays[MOST_ARRAYS];
    RecordedLaunch launches[MOST_LAUNCHES];
    SharedVariable variables[MOST_VARIABLES];
    WarpAccess accesses[MOST_ACCESSES];
    LaneStep lane_steps[MOST_LANE_STEPS];
    BlockSpan block_spans[MOST_BLOCK_SPANS];
    BlockTile block_tiles[MOST_BLOCK_TILES];
    Span spans[MOST_SPANS];
    ElementWrite writes[MOST_WRITES];
    /* The first accesses of each line, in order of execution, all by the first warp that executes
     * the line. One line has one such list for each kind of access to each array. */
    WarpAccess turns[MOST_TURNS];
    RecordedFinding findings[MOST_RECORDED_FINDINGS];
} Records;

/* True if every count, index, number and text is within its bounds; if not, `why` has the reason.
 * The bytes may come from a process that ran a student's code. */
bool records_check(const Records *records, char *why, size_t size);

#endif
