/* util.c - small helpers that every other file may use. */
#include "base/util.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <float.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *program_name = "warpbook";

void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(3);
}

char *put(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(buffer, size, format, arguments);
    va_end(arguments);
    return buffer;
}

char *append(char *buffer, size_t size, const char *format, ...)
{
    size_t used = strnlen(buffer, size);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(buffer + used, size - used, format, arguments);
    va_end(arguments);
    return buffer;
}

bool is_in(const char *list, const char *name)
{
    while (*list) {
        size_t length = strcspn(list, " ");
        bool any_end = length && list[length - 1] == '*';
        if (!strncmp(list, name, length - any_end) && (any_end || !name[length]))
            return true;
        list += length + (list[length] == ' ');
    }
    return false;
}

void *xmalloc(size_t size)
{
    void *memory = malloc(size ? size : 1);

    if (!memory)
        die("out of host memory: %zu bytes requested", size);
    return memory;
}

void *xcalloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);

    if (!memory)
        die("out of memory (%zu times %zu bytes)", count, size);
    return memory;
}

void *xrealloc(void *old, size_t count, size_t size)
{
    void *memory = reallocarray(old, count ? count : 1, size ? size : 1);

    if (!memory)
        die("out of memory (%zu times %zu bytes)", count, size);
    return memory;
}

char *xstrdup(const char *text)
{
    return xstrndup(text, SIZE_MAX);
}

char *xstrndup(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    char *copy = xmalloc(length + 1);

    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *xvasprintf(const char *format, va_list values)
{
    char *text;

    if (vasprintf(&text, format, values) < 0)
        die("out of memory for a text");
    return text;
}

FILE *text_open(char **text, size_t *bytes)
{
    FILE *stream = open_memstream(text, bytes);

    if (!stream)
        die("out of memory for a text");
    return stream;
}

void text_close(FILE *stream)
{
    if (fclose(stream))
        die("out of memory for a text");
}

char *end_in_words(int status, char *text, size_t size)
{
    static const struct {
        int number;
        const char *name, *words;
    } deaths[] = {
        { SIGFPE, "SIGFPE", "host code divided an integer by 0" },
        { SIGSEGV, "SIGSEGV", "host code used an invalid pointer" },
        { SIGABRT, "SIGABRT", "host code called abort(), as CUDA_CHECK does" },
    };

    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        return put(text, size, "made a system call that labs must not make");
    for (size_t i = 0; WIFSIGNALED(status) && i < sizeof deaths / sizeof *deaths; i++)
        if (WTERMSIG(status) == deaths[i].number)
            return put(text, size, "was killed by signal %d (%s): %s", deaths[i].number,
                       deaths[i].name, deaths[i].words);
    if (WIFSIGNALED(status))
        return put(text, size, "was killed by signal %d (%s)", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    return put(text, size, "exited with status %d", WEXITSTATUS(status));
}

double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

void sleep_s(double seconds)
{
    struct timespec t = { (time_t) seconds, (long) ((seconds - (double) (time_t) seconds) * 1e9) };

    nanosleep(&t, NULL);
}

uint64_t secret(void)
{
    uint64_t bits;

    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        die("cannot get random bits from the operating system: %s", strerror(errno));
    return bits;
}

/* splitmix64 (S. Vigna, 2015; public domain algorithm). */
uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;

    while (size--)
        hash = (hash ^ *byte++) * 1099511628211ull;
    return hash;
}

char *read_file(const char *path, size_t limit, size_t *size)
{
    /* O_NONBLOCK: if a FIFO replaced the file, open() must not wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    char *text;
    size_t used = 0;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &about) || !S_ISREG(about.st_mode) || (size_t) about.st_size > limit) {
        int why = S_ISREG(about.st_mode) ? EFBIG : EINVAL;
        close(fd);
        errno = why;
        return NULL;
    }
    text = xmalloc((size_t) about.st_size + 1);
    while (used < (size_t) about.st_size) {
        ssize_t got = read(fd, text + used, (size_t) about.st_size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t) got;
    }
    close(fd);
    text[used] = 0;
    if (size)
        *size = used;
    return text;
}

bool write_all(int fd, const void *from, size_t size)
{
    const char *bytes = from;

    while (size) {
        ssize_t put = write(fd, bytes, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        size -= (size_t) put;
    }
    return true;
}

bool write_file(const char *path, const void *bytes, size_t size)
{
    char temporary[4096];
    bool written;
    int fd, why;

    PUT(temporary, "%s.new-%d", path, (int) getpid());
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    written = write_all(fd, bytes, size) && !fsync(fd);
    why = errno;
    if (!close(fd) && written && !rename(temporary, path))
        return true;
    if (written)
        why = errno;
    unlink(temporary);
    errno = why;
    return false;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool make_folders(const char *path)
{
    char part[4096];
    struct stat about;

    if (!*path || strlen(path) >= sizeof part) {
        errno = *path ? ENAMETOOLONG : ENOENT;
        return false;
    }
    PUT(part, "%s", path);
    for (char *slash = part + 1;; slash++) {
        char kept = *slash;
        if (kept && kept != '/')
            continue;
        *slash = 0;
        if (mkdir(part, 0755) && errno != EEXIST)
            return false;
        *slash = kept;
        if (kept)
            continue;
        if (stat(path, &about))
            return false;
        errno = ENOTDIR;
        return S_ISDIR(about.st_mode);
    }
}

bool find_build_folder(char *folder, size_t size)
{
    const char *named = getenv("WARPBOOK_BUILD");
    char path[PATH_MAX];
    ssize_t length;

    *folder = 0;
    if (named && *named) {
        if (!realpath(named, path))
            return false;
        put(folder, size, "%s", path);
        return true;
    }
    length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return false;
    path[length] = 0;
    *strrchr(path, '/') = 0;
    put(folder, size, "%s", path);
    return true;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void) about, (void) kind, (void) at;
    remove(path);
    return 0; /* continue: as much as possible is removed */
}

void remove_tree(const char *path)
{
    nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && *folder ? folder : "/tmp";
}

int open_gpu_lock(const char *gpu, char *path, size_t size)
{
    char name[80];
    int fd;

    PUT(name, "%s", gpu);
    for (char *slash = name; (slash = strchr(slash, '/'));)
        *slash = '_';
    put(path, size, "%s/warpbook-%s.lock", temporary_folder(), name);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) /* another user's file, which can only be opened for reading */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd;
}

bool field(const char *line, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);

    for (const char *at = line; (at = strstr(at, key)); at += length) {
        size_t used;
        if ((at > line && at[-1] != ' ') || at[length] != ':')
            continue;
        at += length + 1;
        used = strcmp(key, "name") ? strcspn(at, " \n") : strcspn(at, "\n");
        if (used >= size)
            return false;
        memcpy(value, at, used);
        value[used] = 0;
        return true;
    }
    return false;
}

bool field_double(const char *line, const char *key, double *value)
{
    char text[64];

    return field(line, key, text, sizeof text) && parse_number(text, -DBL_MAX, DBL_MAX, value);
}

bool next_line(const char **at, const char *end, char *line, size_t size)
{
    const char *stop = memchr(*at, '\n', (size_t) (end - *at));
    size_t length = (size_t) ((stop ? stop : end) - *at);

    if (*at == end)
        return false;
    line[0] = 0;
    if (length < size && !memchr(*at, 0, length)) {
        memcpy(line, *at, length);
        line[length] = 0;
        if (length && line[length - 1] == '\r')
            line[length - 1] = 0;
    }
    *at = stop ? stop + 1 : end;
    return true;
}
