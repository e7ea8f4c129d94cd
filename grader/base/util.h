/* util.h - small helpers that every other file may use. */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#define WARPBOOK_VERSION "0.1.0"

extern const char
    *program_name; /* what die() begins with: "warpbook", unless main says otherwise */

/* For faults of the grader or of the machine: prints the message and exits with status 3. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Formats text into a buffer, truncating text that is too long. Returns the buffer. */
char *put(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
char *append(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define PUT(array, ...)    put(array, sizeof(array), __VA_ARGS__)
#define APPEND(array, ...) append(array, sizeof(array), __VA_ARGS__)

/* True if `name` is one of the words of a list; a * at the end of a word matches any ending. */
bool is_in(const char *list, const char *name);

/* Allocates, or dies. The caller frees. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size); /* zeroed */
void *xrealloc(void *old, size_t count, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t most);
char *xvasprintf(const char *format, va_list values);

/* Opens a stream that writes to memory. Once it is closed, *text holds what was written; the caller
 * frees it. */
FILE *text_open(char **text, size_t *bytes);
void text_close(FILE *stream);

/* Describes how a process ended, from waitpid's status: "was killed by signal 11 (Segmentation
 * fault)". Returns the buffer. */
char *end_in_words(int status, char *text, size_t size);

double now_s(void); /* monotonic */
void sleep_s(double seconds);

/* Secret random bits from the kernel. */
uint64_t secret(void);

/* The next number of a sequence that is determined by its seed; `state` is the position in it. For
 * choices that must be repeatable, never for secrets. */
uint64_t next_random(uint64_t *state);

/* FNV-1a over bytes; start with HASH_START. Tells texts apart, but does not withstand an
 * attacker. */
#define HASH_START 14695981039346656037ull
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* Reads a whole regular file of at most `limit` bytes and appends a 0. Returns NULL with errno set
 * on failure (EFBIG: larger, EINVAL: not a regular file). *size may be NULL. The caller frees. */
char *read_file(const char *path, size_t limit, size_t *size);

/* Writes a file under a temporary name, then renames it, so that readers see the old or the new
 * file and never a partial one. Returns false with errno set on failure. */
bool write_file(const char *path, const void *bytes, size_t size);

/* Writes all bytes to a descriptor, in as many calls as necessary. Returns false with errno set on
 * failure. */
bool write_all(int fd, const void *bytes, size_t size);

bool file_exists(const char *path);
bool make_folders(const char *path); /* like mkdir -p; on failure false, with errno set */
/* $WARPBOOK_BUILD, or the folder of this program. On failure, returns false and sets errno. */
bool find_build_folder(char *folder, size_t size);
void remove_tree(const char *path); /* like rm -rf; does not follow links */

const char *temporary_folder(void); /* $TMPDIR, or /tmp */

/* Opens the file whose lock means that a grading is using this GPU (its UUID). Returns the
 * descriptor, or -1 with errno set; `path` receives the file's path. */
int open_gpu_lock(const char *gpu, char *path, size_t size);

/* Finds the value of `key` in a line of key:value fields separated by blanks; the field `name`
 * extends to the end of the line. Returns false if it is missing, not a number, or too long. */
bool field(const char *line, const char *key, char *value, size_t size);
bool field_double(const char *line, const char *key, double *value);

/* Copies the line at *at without its end ("\n" or "\r\n") and moves *at to the next line. Returns
 * false at `end`. A line that does not fit or contains a 0 is returned as an empty line. */
bool next_line(const char **at, const char *end, char *line, size_t size);

#endif
