/* coursework.c - applies a course file to `make grade`, and packs its public part for students. */
#include "coursework.h"
#include "learner/report.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char beside[] = "course.ini"; /* at the top of the tree */

bool coursework_take(const char *path, Coursework *work)
{
    char *text = NULL, *mistakes = NULL;
    bool fine = true;

    *work = (Coursework){ .named = path, .fresh = secret() };
    course_default(&work->course);
    if (path || file_exists(beside))
        fine = course_load(path ? path : beside, &work->course, &text, &mistakes);
    if (!fine)
        fprintf(stderr, "warpbook: the course file has mistakes; nothing was graded:\n%s",
                mistakes);
    free(text);
    free(mistakes);
    return fine;
}

uint64_t coursework_seed(const Coursework *work, const LabEntry *entry)
{
    const CourseLab *lab = &work->course.lab[entry - all_labs];

    if (work->named && lab->seed)
        return lab->seed;
    return lab->practice_seed ? lab->practice_seed : work->fresh;
}

/* ---- The device that counts ---- */

/* "sim:h200" gives h200; "RTX 4090" gives rtx4090 if there is a description of that name. */
static bool find_simulated(const char *device, char *name, size_t size)
{
    char path[PATH];
    size_t used = 0;

    if (!strncmp(device, "sim:", 4)) {
        put(name, size, "%s", device + 4);
        return true;
    }
    for (; *device && used + 1 < size; device++)
        if (isalnum((unsigned char) *device) || *device == '-')
            name[used++] = (char) tolower((unsigned char) *device);
    name[used] = 0;
    return file_exists(PUT(path, "grader/sim/devices/%s.txt", name));
}

void coursework_counting(const Coursework *work, const Session *session, const Result *results,
                         int count, bool quick)
{
    static Session other;
    static Result result;
    const char *device = work->course.device;
    char name[80], asked[96];

    if (work->named || course_device_counts(&work->course, session->gpu.name,
                                            *session->simulated ? session->device : NULL))
        return;
    printf("\nIn this course, only results from %s count. ", device);
    if (!find_simulated(device, name, sizeof name)) {
        printf("That GPU has no simulated counterpart.\n");
        return;
    }
    printf("Results on its simulated counterpart:\n");
    fflush(stdout);
    other = (Session){ .quick = quick, .live = session->live };
    if (!session_open(&other, PUT(asked, "sim:%s", name))) {
        printf("    nothing: %s\n", other.problem);
        return;
    }
    other.course = work->course;
    for (int i = 0; i < count; i++) {
        other.seed = results[i].seed;
        other.replayed = session->replayed;
        grade(&other, results[i].entry, results[i].source, results[i].source, &result);
        report_short(&result);
    }
    session_close(&other);
}

/* ---- For students ---- */

bool coursework_pack(const char *path, const char *folder)
{
    static Course course;
    char target[PATH], *text = NULL, *mistakes = NULL, *seen = NULL;
    bool fine;

    if (!path)
        return true;
    fine = course_load(path, &course, &text, &mistakes);
    if (fine) {
        seen = course_public(text);
        fine = make_folders(folder) &&
               write_file(PUT(target, "%s/%s", folder, beside), seen, strlen(seen));
        if (!fine)
            fprintf(stderr, "warpbook: cannot write %s: %s\n", target, strerror(errno));
    } else {
        fprintf(stderr, "warpbook: the course file has mistakes; nothing was packed:\n%s",
                mistakes);
    }
    free(text);
    free(mistakes);
    free(seen);
    return fine;
}
