/* health.h - what gradebook doctor found, a row a thing that it looked at. */
#ifndef HEALTH_H
#define HEALTH_H

typedef enum Health {
    HEALTH_OK,
    HEALTH_WARN, /* it grades, but worse or slower than it could, or not for sure */
    HEALTH_FAIL, /* it does not grade, or what it says is not to be trusted */
} Health;

typedef struct HealthRow {
    Health health;
    char what[40];    /* "GPU 0: idle" */
    char found[300];  /* "2 processes: 4711 python3" */
    char advice[600]; /* what it means and what to do; "" where all is well */
} HealthRow;

enum { HEALTH_ROWS = 400 };

typedef struct HealthReport {
    HealthRow list[HEALTH_ROWS];
    int count;
} HealthReport;

/* Adds a row, found by printf's rules; its advice is "" until it is given one. */
HealthRow *health_row(HealthReport *all, Health health, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void health_advise(HealthRow *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

Health health_worst(const HealthReport *all);
void health_print(const HealthReport *all); /* on standard output, in 80 columns */

#endif
