/* devices.h - the devices that grade: identity, locks and health. */
#ifndef GRADEBOOK_RUN_DEVICES_H
#define GRADEBOOK_RUN_DEVICES_H

#include "gradebook/import/extract.h"
#include "gradebook/store/parsed_result.h"
#include "base/child.h"

enum { GPU_CASES = 16 };

/* The reference's first time on a device, for one case of a lab. */
typedef struct FirstTime {
    char dim[80];
    double reference_ms;
} FirstTime;

typedef struct Device {
    const char *name; /* "0", "sim"; NULL: warpbook's choice */
    char label[64];   /* for messages */
    char uuid[80], cc[16];
    char *head; /* warpbook's output before the first lab; "" before the first grading */
    bool simulated;
    bool proved, proving; /* that it can grade the workbook's starter */
    bool out;             /* taken out of service */
    int errors, slow_row; /* consecutive */
    bool prepared[LABS], preparing[LABS];
    char *sealed[LABS]; /* for prepared labs: the folder that students' kernels see instead of
                           solutions/ (gradebook/run/stubs.h) */
    FirstTime first_time[LABS][GPU_CASES];
    int lock_fd;
    bool reported; /* the wait for this device was reported */
    Child keeper;  /* device_keep_awake */
} Device;

void device_open(Device *gpu, const char *name);
void device_close(Device *gpu);

/* Sets the device's names and head from the output of its first grading. */
void device_identify(Device *gpu, const ParsedResult *result, const char *printed);

/* Keeps a process without student code on a real GPU, so that the driver need not initialise the
 * GPU for each grading. If the process cannot start, gradings only take longer. It runs until
 * device_release or device_close. */
void device_keep_awake(Device *gpu, const char *build);
void device_release(Device *gpu);

/* Takes the lock that warpbook takes for a single grading, here for all gradings, without waiting.
 * If it returns false, errno EWOULDBLOCK means that another process holds the lock; any other errno
 * is an error. */
bool device_lock(Device *gpu);

/* Returns true, with a sentence in `why`, if the reference compared with itself varied too much to
 * judge any speed. That is measured before the student's process starts. */
bool device_noisy(const ParsedResult *result, char *why, size_t size);

/* Returns true, with a sentence in `why`, if too many samples were disturbed to judge any speed. A
 * kernel can cause that, so it is graded again, and the last attempt counts. */
bool device_disturbed(const ParsedResult *result, char *why, size_t size);

/* Returns true, with a sentence in `why`, if the reference was slower than at first in three
 * gradings in a row, because the GPU is hot or another program uses it. */
bool device_drifts(Device *gpu, int lab, const ParsedResult *result, char *why, size_t size);

#endif
