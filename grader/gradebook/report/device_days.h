/* device_days.h - how steadily each device measured on each day, from the stored gradings. */
#ifndef GRADEBOOK_REPORT_DEVICE_DAYS_H
#define GRADEBOOK_REPORT_DEVICE_DAYS_H

#include "gradebook/store/store.h"
#include "base/markup.h"

/* A device on one day (UTC). Shares are relative: 0.01 is 1 %. */
typedef struct DeviceDay {
    char device[64], gpu[120], day[16];
    int gradings;               /* that were judged */
    int noisy;                  /* attempts that were too noisy or disturbed to be judged */
    int disturbed;              /* gradings in which nearly every sample was disturbed */
    int measured;               /* timed cases */
    double aa_median, aa_worst; /* the reference compared with itself; < 0: unknown */
    double drift_median;        /* of the reference's time, compared with its first time on this
                                   GPU at the same size */
    double drift_worst;         /* the largest change, up or down */
} DeviceDay;

/* Returns an array sorted by device and day, which the caller frees. */
DeviceDay *device_days(Store *store, int *count);

/* True if speeds of this day should be looked into: the limits are those of grading. */
bool device_day_is_odd(const DeviceDay *day);

void device_days_text(Store *store, FILE *to);
void device_days_page(Store *store, Page *page); /* a section of the class page */

#endif
