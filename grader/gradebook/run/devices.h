/* devices.h - the devices that grade: which they are, whose they are, whether they can be
 * believed. */
#ifndef GRADEBOOK_RUN_DEVICES_H
#define GRADEBOOK_RUN_DEVICES_H

#include "gradebook/import/extract.h"
#include "gradebook/store/parsed_result.h"
#include "base/child.h"

enum { GPU_CASES = 16 };

/* How long our reference took on it at first: in one case of a lab, of one size. */
typedef struct Usual {
    char dim[80];
    double reference_ms;
} Usual;

typedef struct Device {
    const char *name; /* "0", "sim"; NULL: warpbook's choice */
    char label[64];   /* as people are told */
    char uuid[80], cc[16];
    char *head; /* what warpbook prints of it, up to the first lab; "" until it is met */
    bool simulated;
    bool proved, proving; /* that it grades our own starter */
    bool out;             /* of service */
    int faults, slow_row; /* in a row */
    bool prepared[LABS], preparing[LABS];
    char *sealed[LABS]; /* of a lab that is prepared: what its cells are shown
                           (gradebook/run/stubs.h) */
    Usual usual[LABS][GPU_CASES];
    int lock_fd;
    bool told;    /* that it is waited for */
    Child keeper; /* device_keep_up */
} Device;

void device_open(Device *gpu, const char *name);
void device_close(Device *gpu);

/* It has graded: its names and its head, from what was printed. */
void device_meet(Device *gpu, const ParsedResult *reading, const char *printed);

/* A process of ours stays up on a real GPU, with no student code in it: while there is one, the
 * driver need not set up for each grading what it takes down after the last process (session_rouse
 * in session.h). If it cannot come up, gradings take longer, no more. Until device_release, or
 * device_close. */
void device_keep_up(Device *gpu, const char *build);
void device_release(Device *gpu);

/* The lock that warpbook takes for a grading on its own: here it is held for all of them. Tries,
 * and does not wait; false with errno EWOULDBLOCK if another has it, else it cannot be had. */
bool device_lock(Device *gpu);

/* True, with a sentence, if our reference beside itself differed too much for any speed to be
 * judged. That was before the student's process began. */
bool device_noisy(const ParsedResult *reading, char *why, size_t size);

/* True, with a sentence, if so many samples were disturbed that no speed was judged. A kernel can
 * bring that about, so it is tried again, and what comes of the last try counts. */
bool device_disturbed(const ParsedResult *reading, char *why, size_t size);

/* True, with a sentence, if our reference has taken longer, three gradings in a row, than it did at
 * first: the GPU gets hot, or is somebody else's, too. */
bool device_drifts(Device *gpu, int lab, const ParsedResult *reading, char *why, size_t size);

#endif
