/* store_error.h - why a gradebook cannot be opened, read or written, and what to do about it. */
#ifndef GRADEBOOK_STORE_STORE_ERROR_H
#define GRADEBOOK_STORE_STORE_ERROR_H

typedef enum StoreCause {
    STORE_FINE,
    STORE_FULL,        /* the disk, or the user's quota */
    STORE_READ_ONLY,   /* this user may not write there */
    STORE_LOCKED,      /* another program works in it */
    STORE_DAMAGED,     /* a page or the header is invalid */
    STORE_NO_DATABASE, /* the file is not a database, or not a gradebook's */
    STORE_UNREADABLE,  /* this user may not read it, or it is not a file */
    STORE_DISK,        /* the disk failed or is missing */
    STORE_MISSING,     /* no database there */
    STORE_LOST,        /* no database, or an empty one, but logs of results */
    STORE_OLDER,       /* it must be upgraded, and this user may not write there */
    STORE_NEWER,       /* written by a newer version of gradebook */
    STORE_OTHER,
} StoreCause;

/* From SQLite's code and the system's error number. */
StoreCause store_cause(int code, int system_error);

/* What to do, as sentences without the last full stop. No advice deletes or overwrites a file,
 * since results cannot be recreated. `folder` is the gradebook's. */
const char *store_advice(StoreCause cause, const char *folder);

/* Prints errno's message and what to do, then exits. */
void __attribute__((noreturn)) cannot_write(const char *path);

#endif
