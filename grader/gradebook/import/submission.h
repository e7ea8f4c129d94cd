/* submission.h - what was handed in: by whom, when, and the files in it. All of it is hostile. */
#ifndef GRADEBOOK_IMPORT_SUBMISSION_H
#define GRADEBOOK_IMPORT_SUBMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of one hand-in. Nothing of it is ever written to disk under a name of its own. */
enum {
    HANDIN_FILES = 5000,
    HANDIN_REMARKS = 60, /* told; more are counted */
    HANDIN_PATH = 1024,
    HANDIN_DEPTH = 24,               /* folders in each other */
    HANDIN_KERNEL_BYTES = 256 << 10, /* as much as a build takes (grader/build/build.h) */
    HANDIN_ARCHIVE_BYTES = 64 << 20,
    HANDIN_BYTES = 256 << 20,     /* unpacked, all together */
    HANDIN_TEXT_BYTES = 16 << 20, /* what is kept of it: kernels and predictions */
    HANDINS_PER_STUDENT = 64,     /* folders and archives; more are refused */
};

typedef struct HandedFile {
    char *path; /* below the hand-in, clean: path_clean */
    size_t bytes;
    uint64_t hash;   /* 0: not looked into */
    char *text;      /* the whole, 0-terminated, if it may be a kernel or predictions; else NULL */
    int64_t changed; /* seconds since 1970; 0: unknown */
} HandedFile;

/* Something to be told about a hand-in, though it is none of the grading's business. */
typedef struct Remark {
    const char *kind; /* refused, changed, extra, ambiguous, suspicious, note */
    char *entry;      /* the file in question; "" for all of it */
    char *sentence;
} Remark;

typedef struct Submission {
    char student[200];  /* name as the layout gives it */
    char number[64];    /* the learning system's number for it, or "" */
    char email[200];    /* by the learning system, or "": tells people of one name apart */
    char source[600];   /* where it lay: below the folder or archive that was given */
    const char *layout; /* a row of lms.c */
    bool late;          /* by a mark of the learning system */
    int64_t sent;       /* seconds since 1970; 0: unknown */
    bool timed;         /* the learning system says so; else it is a file's time */
    int64_t order;      /* among those of equal `sent` */
    bool refused;       /* nothing of it counts; a remark says why */
    HandedFile *files;
    int count, room;
    size_t bytes, text_bytes;
    Remark remarks[HANDIN_REMARKS];
    int remark_count; /* may exceed HANDIN_REMARKS: so many there were */
} Submission;

typedef struct Class {
    Submission **list;
    int count, room;
    Remark remarks[HANDIN_REMARKS]; /* about what belongs to nobody */
    int remark_count;
} Class;

/* The hand-in that lay at `source`; made if there is none yet. */
Submission *class_handin(Class *class, const char *source);
Submission *class_copy(Class *class, const Submission *handin); /* for a group's other members */
Submission *class_add(Class *class);                            /* one more, empty */
void class_free(Class *class);

/* Adds a file; `bytes` NULL: only its size is known; `changed` 0: nor its time. Beyond a limit the
 * whole hand-in is refused. */
void submission_file(Submission *handin, const char *path, const char *bytes, size_t size,
                     uint64_t hash, int64_t changed);

/* Nothing of it counts or is kept, and why. */
void submission_refuse(Submission *handin, const char *entry, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void remark(Remark *remarks, int *count, const char *kind, const char *entry, const char *format,
            ...) __attribute__((format(printf, 5, 6)));
#define REMARK(of, kind, entry, ...)                                                               \
    remark((of)->remarks, &(of)->remark_count, kind, entry, __VA_ARGS__)

/* Cleans a path from an archive or a folder: backslashes become slashes, "./" and double slashes
 * are removed, bytes that are not UTF-8 are read as Latin-1, and control characters become their
 * Unicode pictures. Returns NULL if the path may be used; else what is wrong with it. */
const char *path_clean(const char *path, char clean[HANDIN_PATH]);

/* Text that may be shown: control characters and what is not UTF-8 become '?'. */
char *show(char *text);

bool path_is_junk(const char *path); /* .git/, __MACOSX/, .DS_Store: passed over without a word */
bool path_is_archive(const char *path); /* by its name */
bool path_is_wanted(const char *path);  /* may be a kernel or predictions, by its name */

#endif
