/* totals.h - the data of the report, for the files that write it. */
#ifndef SIM_REPORT_TOTALS_H
#define SIM_REPORT_TOTALS_H

#include "sim/report/report.h"
#include "sim/time/timing.h"

#include <stdio.h>

/* How an instruction uses memory; COPY: cp.async, which reads global and writes shared memory. */
typedef enum MemoryKind { KIND_LOAD, KIND_STORE, KIND_ATOMIC, KIND_COPY, KINDS } MemoryKind;

typedef struct Traffic {
    uint64_t requests;
    uint64_t passes; /* sectors of global memory, wavefronts of shared */
    uint64_t asked;  /* bytes of global memory, wavefronts without conflicts of shared */
} Traffic;

/* Sums of one line or kernel. */
typedef struct Totals {
    uint64_t executed, lanes, divergent, ffma_lanes, loop_loads, loop_ideal;
    uint64_t flops;                /* single precision, of all lanes */
    uint64_t issued, issued_lanes; /* of the machine, estimated: issue.h */
    uint64_t classes[CLASSES];     /* warp instructions */
    Traffic global[KINDS], shared[KINDS];
} Totals;

typedef struct LineTotals {
    int file; /* of report_files; 0: unknown, and the line is the PTX's */
    int line;
    Totals totals;
    Spent spent; /* ns */
} LineTotals;

typedef struct Kernel {
    char *name;
    int grid[3], block[3];
    size_t dynamic_shared_bytes;
    bool cooperative, has_resources, has_occupancy;
    uint64_t launches, failed, timed; /* timed: launches whose time was modelled */
    TimingResult time;                /* their sum */
    KernelResources resources;
    Occupancy occupancy;
    Totals totals;
    LineTotals *lines; /* by file and line */
    int line_count, line_room;
    ArrayCount *arrays; /* by number */
    int array_count, array_room;
} Kernel;

typedef struct Report {
    Kernel **kernels; /* in the order of their first launches */
    int kernel_count, kernel_room;
    char **files; /* files[0]: NULL */
    int file_count, file_room;
    Timeline *timeline; /* NULL: time was not modelled */
    Device device;
    bool has_device;
    bool incomplete; /* out of memory: the counts are incomplete */
    int process;     /* which the counts are of */
    int signal;      /* that ended the program; 0: none */
} Report;

/* The cost of a line: its instructions, and the passes through memory that they took. */
uint64_t totals_cost(const Totals *totals);

extern const char *const class_words[CLASSES]; /* "move" */
extern const char *const kind_words[KINDS];    /* "load" */

/* n / d in decimal digits, in any locale. */
typedef struct Decimal {
    char text[48];
} Decimal;

Decimal quotient(uint64_t n, uint64_t d, int decimals); /* 0 if d is */
Decimal decimal(double value); /* of at most 3 decimals, as few as needed */

/* The sums so far. Must not be called while another thread launches. */
const Report *report_so_far(void);

/* report.c: makes room for one more element of `size` bytes (false: out of memory); returns the
 * number of a file (0: no name, or out of memory); records that memory was short. */
bool report_grow(void *array, int count, int *room, size_t size);
int report_file(const char *name);
void report_lacks_memory(void);

/* sim/report/add.c */
void kernel_add(Kernel *kernel, const Launch *launch, const KernelResources *resources,
                const Occupancy *occupancy);

/* sim/report/limits.c: what limits a kernel, over its launches; a program so far, with its copies.
 * False: time was not modelled. */
bool kernel_limits(const Kernel *kernel, const Device *device, Limits *limits);
bool report_limits(const Report *report, Limits *limits);
/* Rows of the table; an object of the JSON report. */
void limits_write_rows(const Limits *limits, const Device *device, FILE *out);
void limits_write_json(const Limits *limits, const Device *device, FILE *out);

/* sim/report/json.c, sim/report/table.c */
void report_write_json(const Report *report, FILE *out);
void report_write_table(const Report *report, FILE *out);
void put_row(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* sim/report/timeline.c */
extern const char *const row_words[ROWS]; /* "H2D" */
void timeline_write_chart(const Timeline *timeline, FILE *out);
/* Attributes each moment to one row: of those busy then, the one with the longest total busy time;
 * [ROW_MARK]: none was busy. The sum is the time from the first start to the last end. */
void timeline_shares(const Timeline *timeline, int64_t ps[ROWS]);
int64_t timeline_transfer_ps(const Timeline *timeline); /* of copies up, or down: the longer */

#endif
