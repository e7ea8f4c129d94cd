/* report_totals.h - what report.c keeps, for those that write it. */
#ifndef SIM_REPORT_TOTALS_H
#define SIM_REPORT_TOTALS_H

#include "report.h"
#include "timing.h"

#include <stdio.h>

/* How an instruction uses memory; COPY: cp.async, which reads global and writes shared memory. */
typedef enum MemoryKind { KIND_LOAD, KIND_STORE, KIND_ATOMIC, KIND_COPY, KINDS } MemoryKind;

typedef struct Traffic {
    uint64_t requests;
    uint64_t passes; /* sectors of global memory, wavefronts of shared */
    uint64_t asked;  /* bytes of global memory, wavefronts without conflicts of shared */
} Traffic;

/* Of one line, or of a kernel. */
typedef struct Totals {
    uint64_t executed, lanes, divergent, ffma_lanes, loop_loads, loop_ideal;
    uint64_t issued, issued_lanes; /* of the machine, estimated: issue.h */
    uint64_t classes[CLASSES];     /* warp instructions */
    Traffic global[KINDS], shared[KINDS];
} Totals;

typedef struct Line {
    int file; /* of report_files; 0: unknown, and the line is the PTX's */
    int line;
    Totals totals;
} Line;

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
    Line *lines; /* by file and line */
    int line_count, line_room;
    ArrayCount *arrays; /* by number */
    int array_count, array_room;
} Kernel;

typedef struct Report {
    Kernel **kernels; /* in the order of their first launches */
    int kernel_count, kernel_room;
    char **files; /* files[0]: NULL */
    int file_count, file_room;
    Device device;
    bool has_device;
    bool incomplete; /* there was no memory for all of it */
    int process;     /* which the counts are of */
    int signal;      /* that ended the program; 0: none */
} Report;

/* What a line costs: its instructions, and the passes through memory that they took. */
uint64_t totals_cost(const Totals *totals);

extern const char *const class_words[CLASSES]; /* "move" */
extern const char *const kind_words[KINDS];    /* "load" */

/* n / d, and a tenth-power part, as decimal digits, whatever language the program has set. */
typedef struct Decimal {
    char text[48];
} Decimal;

Decimal quotient(uint64_t n, uint64_t d, int decimals); /* 0 if d is */
Decimal decimal(double value); /* of at most 3 decimals, as few as needed */

/* What was added up until now. Not while another thread launches. */
const Report *report_so_far(void);

/* report_json.c, report_table.c */
void report_write_json(const Report *report, FILE *out);
void report_write_table(const Report *report, FILE *out);

#endif
