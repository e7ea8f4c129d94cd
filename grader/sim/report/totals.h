/* totals.h - the data of the report, shared by the files that write it. */
#ifndef SIM_REPORT_TOTALS_H
#define SIM_REPORT_TOTALS_H

#include "sim/report/report.h"
#include "sim/time/timing.h"

#include <stdio.h>

/* How an instruction uses memory; COPY: cp.async, which reads global and writes shared memory. */
typedef enum MemoryKind { KIND_LOAD, KIND_STORE, KIND_ATOMIC, KIND_COPY, KINDS } MemoryKind;

typedef struct Traffic {
    uint64_t requests;
    uint64_t passes; /* global memory: sectors; shared memory: wavefronts */
    uint64_t asked;  /* global memory: bytes; shared memory: wavefronts without conflicts */
} Traffic;

/* Sums of one line or kernel. */
typedef struct Totals {
    uint64_t executed, lanes, divergent, ffma_lanes, loop_loads, loop_ideal;
    uint64_t flops;                /* single precision, of all lanes */
    uint64_t issued, issued_lanes; /* machine instructions, estimated (issue.h) */
    uint64_t classes[CLASSES];     /* warp instructions */
    Traffic global[KINDS], shared[KINDS];
    Traffic texture[KINDS]; /* through textures and surfaces: an estimate */
} Totals;

typedef struct LineTotals {
    int file; /* index into Report.files; 0: unknown, and the line is a line of the PTX */
    int line;
    Totals totals;
    Spent spent; /* ns */
} LineTotals;

/* What a line does with an array. */
typedef struct LineArray {
    int file, line; /* as in LineTotals */
    ArrayCount count;
} LineArray;

typedef struct Kernel {
    char *name;
    int grid[3], block[3];
    size_t dynamic_shared_bytes;
    bool cooperative, has_resources, has_occupancy;
    uint64_t launches, failed, timed; /* timed: launches whose time was modelled */
    uint64_t counted;  /* launches whose machine instructions were counted from machine code */
    TimingResult time; /* their sum */
    KernelResources resources;
    Occupancy occupancy;
    Totals totals;
    LineTotals *lines; /* by file and line */
    int line_count, line_room;
    ArrayCount *arrays; /* by number, the sums over all lines */
    int array_count, array_room;
    LineArray *line_arrays; /* the same, by line */
    int line_array_count, line_array_room;
} Kernel;

typedef struct Report {
    Kernel **kernels; /* in the order of their first launches */
    int kernel_count, kernel_room;
    char **files; /* files[0]: NULL */
    int file_count, file_room;
    Timeline *timeline; /* NULL: time was not modelled */
    Device device;
    bool has_device;
    bool incomplete; /* some counts are missing, since memory ran out */
    int process;     /* whose counts these are */
    int signal;      /* that killed the program; 0: none */
} Report;

/* The cost of a line: its instructions and their passes through memory. */
uint64_t totals_cost(const Totals *totals);

extern const char *const class_words[CLASSES]; /* "move" */
extern const char *const kind_words[KINDS];    /* "load" */

/* n / d in decimal digits, in any locale. */
typedef struct Decimal {
    char text[48];
} Decimal;

Decimal quotient(uint64_t n, uint64_t d, int decimals); /* 0 if d is 0 */
Decimal decimal(double value); /* of at most 3 decimals, as few as needed */

/* The sums so far. Must not be called while another thread launches. */
const Report *report_so_far(void);

/* report.c. These make room for one more element of `size` bytes (false: out of memory), return the
 * number of a file (0: no name, or out of memory), and record that memory ran out. */
bool report_grow(void *array, int count, int *room, size_t size);
int report_file(const char *name);
void report_lacks_memory(void);

/* sim/report/add.c */
void kernel_add(Kernel *kernel, const Launch *launch, const KernelResources *resources,
                const Occupancy *occupancy);

/* sim/report/limits.c. The limits of all launches of a kernel, and of the program so far, including
 * its copies. Returns false if time was not modelled. */
bool kernel_limits(const Kernel *kernel, const Device *device, Limits *limits);
bool report_limits(const Report *report, Limits *limits);
/* Write rows of the table, and an object of the JSON report. */
void limits_write_rows(const Limits *limits, const Device *device, FILE *out);
void limits_write_json(const Limits *limits, const Device *device, FILE *out);

/* sim/report/json.c, sim/report/table.c */
void report_write_json(const Report *report, FILE *out);
void json_string(FILE *out, const char *text); /* quoted; null for NULL */
void report_write_table(const Report *report, FILE *out);
void put_row(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* sim/report/timeline.c */
extern const char *const row_words[ROWS]; /* "H2D" */
void timeline_write_chart(const Timeline *timeline, FILE *out);
/* Attributes each moment to one row: of the rows busy then, the one with the longest total busy
 * time; [ROW_MARK]: no row was busy. The sum is the time from the first start to the last end. */
void timeline_shares(const Timeline *timeline, int64_t ps[ROWS]);
int64_t timeline_transfer_ps(const Timeline *timeline); /* copies up or down: the longer time */

#endif
