/* submission.h - submissions: their student, time and files. Nothing in them is trusted. */
#ifndef GRADEBOOK_IMPORT_SUBMISSION_H
#define GRADEBOOK_IMPORT_SUBMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of one submission. Nothing in it is ever written to disk under its own name. */
enum {
    SUBMISSION_FILES = 5000,
    SUBMISSION_REMARKS = 60, /* kept; more are only counted */
    SUBMISSION_PATH = 1024,
    SUBMISSION_DEPTH = 24,    /* nested folders */
    KERNEL_BYTES = 256 << 10, /* the limit of a build (grader/build/build.h) */
    ARCHIVE_BYTES = 64 << 20,
    SUBMISSION_BYTES = 256 << 20,     /* unpacked, in total */
    SUBMISSION_TEXT_BYTES = 16 << 20, /* kept in memory: kernels, predictions, quizzes */
    SUBMISSIONS_PER_STUDENT = 64,     /* folders and archives; more are refused */
};

typedef struct SubmittedFile {
    char *path; /* inside the submission, cleaned by path_clean */
    size_t bytes;
    uint64_t hash;   /* 0: not read */
    char *text;      /* the whole text, 0-terminated, if path_is_wanted; else NULL */
    int64_t changed; /* seconds since 1970; 0: unknown */
    int64_t order;   /* the learning system's number for the file; 0: none. A later file has a
                        larger number */
} SubmittedFile;

/* A message about a submission that does not affect its grading. */
typedef struct Remark {
    const char *kind; /* refused, changed, extra, matched, ambiguous, suspicious, note */
    char *entry;      /* the file; "" for the whole submission */
    char *sentence;
} Remark;

typedef struct Submission {
    char student[200]; /* name as the layout gives it */
    char number[64];   /* the learning system's number for the student, or "" */
    char email[200];  /* from the learning system, or "": distinguishes people with the same name */
    char source[600]; /* its path in the given folder or archive */
    char export[200]; /* the export it is in, if the folder holds several; or "" */
    const char *layout; /* a row of lms.c */
    bool late;          /* marked late by the learning system */
    int64_t sent;       /* seconds since 1970; 0: unknown */
    bool dated;         /* `sent` is the time of a kernel, so its neighbours' times do not matter */
    bool timed;         /* `sent` is from the learning system; else a file's time */
    int64_t order;      /* order of submissions with the same `sent` */
    bool refused;       /* nothing in it counts; a remark says why */
    SubmittedFile *files;
    int count, capacity;
    size_t bytes, text_bytes;
    Remark remarks[SUBMISSION_REMARKS];
    int remark_count; /* may exceed SUBMISSION_REMARKS, the number kept */
} Submission;

typedef struct Class {
    Submission **list;
    int count, capacity;
    Remark remarks[SUBMISSION_REMARKS]; /* about files without an owner */
    int remark_count;
} Class;

/* The submission at `source`; added if missing. */
Submission *class_submission(Class *class, const char *source);
Submission *class_copy(Class *class,
                       const Submission *submission); /* for a group's other members */
Submission *class_add(Class *class);                  /* adds an empty submission */
void class_move(Class *class, Class *from);           /* moves all submissions and remarks */
void class_free(Class *class);

/* Adds a file. `bytes` NULL: only its size is known; `changed` 0: its time is unknown. If a limit
 * is exceeded, the whole submission is refused. */
void submission_file(Submission *submission, const char *path, const char *bytes, size_t size,
                     uint64_t hash, int64_t changed);

/* Refuses the submission: nothing counts or is kept. */
void submission_refuse(Submission *submission, const char *entry, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void remark(Remark *remarks, int *count, const char *kind, const char *entry, const char *format,
            ...) __attribute__((format(printf, 5, 6)));
#define REMARK(of, kind, entry, ...)                                                               \
    remark((of)->remarks, &(of)->remark_count, kind, entry, __VA_ARGS__)

/* Cleans a path from an archive or a folder: backslashes become slashes, "./" and double slashes
 * are removed, and it is made printable by show_apart. Returns NULL if the path is valid; else the
 * error. */
const char *path_clean(const char *path, char clean[SUBMISSION_PATH]);

/* Copies a text and makes it printable, so that different texts stay different: bytes that are not
 * UTF-8 are read as Latin-1, control characters become their Unicode pictures, and other hidden
 * characters their codes: {202e}. A letter and its combining mark become one letter. Returns false
 * if the result is longer than `size`. */
bool show_apart(const char *from, char *text, size_t size);

/* Makes a text printable: control characters and invalid UTF-8 become '?'. */
char *show(char *text);

bool path_is_junk(const char *path);    /* .git/, __MACOSX/, .DS_Store: skipped silently */
bool path_is_archive(const char *path); /* by its name */
/* "RAR" for an archive of a kind that cannot be read; else NULL. */
const char *path_foreign_archive(const char *path);
bool path_is_wanted(const char *path); /* may be a kernel, predictions or a quiz */

#endif
