/* health.h - what gradebook doctor found, one row per check. */
#ifndef HEALTH_H
#define HEALTH_H

typedef enum Health {
    HEALTH_OK,
    HEALTH_WARN, /* it can grade, but worse or slower than possible, or not certainly */
    HEALTH_FAIL, /* it cannot grade, or its results cannot be trusted */
} Health;

typedef struct HealthRow {
    Health health;
    char what[40];    /* "GPU 0: idle" */
    char found[300];  /* "2 processes: 4711 python3" */
    char advice[600]; /* what it means and what to do; "" if nothing to do */
} HealthRow;

enum { HEALTH_ROWS = 400 };

typedef struct HealthReport {
    HealthRow list[HEALTH_ROWS];
    int count;
} HealthReport;

/* Adds a row; `format` fills its `found`. Its advice is "" until health_advise sets it. */
HealthRow *health_row(HealthReport *all, Health health, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void health_advise(HealthRow *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

Health health_worst(const HealthReport *all);
void health_print(const HealthReport *all); /* on standard output, in 80 columns */

#endif
