/* assemble.c - runs ptxas on the PTX of a program, and keeps what it made. */
#include "sim/machine/assemble.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PATH_ROOM = 1200,
    PTX_MOST = 64 << 20,
    CUBIN_MOST = 256 << 20,
    WAIT_MS = 60000,
    POLL_MS = 2
};

/* Where one cubin is made: under a name of this process first, so that no other process reads half
 * of it. */
typedef struct Place {
    char ptx[PATH_ROOM], made[PATH_ROOM], kept[PATH_ROOM];
} Place;

/* The PTX, the architecture, and which ptxas it is. */
static uint64_t key_of(const FatbinEntry *ptx, int arch, const char *ptxas)
{
    struct stat about = { 0 };
    uint64_t key = hash_bytes(0, ptx->bytes, ptx->size);

    stat(ptxas, &about);
    key = hash_bytes(key, &arch, sizeof arch);
    key = hash_bytes(key, &about.st_size, sizeof about.st_size);
    return hash_bytes(key, &about.st_mtim, sizeof about.st_mtim);
}

static void place_at(Place *place, const char *folder, uint64_t key)
{
    const long process = (long) getpid();

    put(place->ptx, sizeof place->ptx, "%s/%016llx.%ld.ptx", folder, (unsigned long long) key,
        process);
    put(place->made, sizeof place->made, "%s/%016llx.%ld.cubin", folder, (unsigned long long) key,
        process);
    put(place->kept, sizeof place->kept, "%s/%016llx.cubin", folder, (unsigned long long) key);
}

static bool write_ptx(const char *path, const FatbinEntry *ptx)
{
    /* An entry of a fat binary may end with zeros, which ptxas does not accept. */
    const size_t size = strnlen(ptx->bytes, ptx->size);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool whole = fd >= 0 && write(fd, ptx->bytes, size) == (ssize_t) size;

    return fd >= 0 && !close(fd) && whole;
}

/* Not the simulated runtime again, and nothing else that was meant for the program. */
static char **environment_of_ptxas(void)
{
    static char *few[8];
    static const char *const names[] = { "PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH" };
    static char text[4][4096];
    int count = 0;

    for (int i = 0; i < 4; i++) {
        const char *value = getenv(names[i]);
        if (value && strlen(value) + strlen(names[i]) + 2 < sizeof text[i]) {
            put(text[i], sizeof text[i], "%s=%s", names[i], value);
            few[count++] = text[i];
        }
    }
    few[count] = NULL;
    return few;
}

/* The program may wait for all its children, and so for this one: then it is gone, too. */
static bool has_ended(pid_t pid)
{
    const struct timespec pause = { 0, POLL_MS * 1000000l };

    for (int waited_ms = 0; waited_ms < WAIT_MS; waited_ms += POLL_MS) {
        const pid_t ended = waitpid(pid, NULL, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return true;
        nanosleep(&pause, NULL);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return false;
}

static bool run_ptxas(const Place *place, int arch, const char *ptxas)
{
    char target[32];
    char *const argv[] = { (char *) ptxas,      target, "-O3",
                           "-lineinfo",         "-o",   (char *) place->made,
                           (char *) place->ptx, NULL };
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    bool fine;

    put(target, sizeof target, "-arch=sm_%d", arch);
    if (posix_spawn_file_actions_init(&quiet))
        return false;
    fine = !posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0) &&
           !posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0) &&
           !posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0) &&
           !posix_spawn(&pid, ptxas, &quiet, NULL, argv, environment_of_ptxas());
    posix_spawn_file_actions_destroy(&quiet);
    return fine && has_ended(pid);
}

static bool add_cubin(Fatbin *fatbin, const char *path, int arch)
{
    size_t size;
    char *bytes = read_file(path, CUBIN_MOST, &size);

    if (!bytes)
        return false;
    fatbin->entries[fatbin->count++] =
        (FatbinEntry){ .kind = FATBIN_ELF, .arch = arch, .bytes = bytes, .size = size };
    return true;
}

static bool make_cubin(const Place *place, const FatbinEntry *ptx, int arch, const char *ptxas)
{
    const bool made = write_ptx(place->ptx, ptx) && run_ptxas(place, arch, ptxas) &&
                      !rename(place->made, place->kept);

    unlink(place->ptx);
    unlink(place->made);
    return made;
}

/* The folder of what is kept, or a temporary one. */
static bool find_folder(const char *cache, char *folder, size_t size)
{
    const char *parent = getenv("TMPDIR");

    put(folder, size, "%s", cache);
    if (*cache)
        return !mkdir(cache, 0700) || errno == EEXIST;
    put(folder, size, "%s/ptxas.XXXXXX", parent && *parent ? parent : "/tmp");
    return mkdtemp(folder) != NULL;
}

bool assemble(Fatbin *fatbin, const FatbinEntry *ptx, int arch, const char *ptxas,
              const char *cache)
{
    char folder[PATH_ROOM / 2];
    Place place;
    bool added;

    if (fatbin->count == FATBIN_ENTRIES || ptx->size > PTX_MOST || access(ptxas, X_OK) ||
        strlen(cache) >= sizeof folder || !find_folder(cache, folder, sizeof folder))
        return false;
    place_at(&place, folder, key_of(ptx, arch, ptxas));
    added = add_cubin(fatbin, place.kept, arch) ||
            (make_cubin(&place, ptx, arch, ptxas) && add_cubin(fatbin, place.kept, arch));
    if (!*cache) {
        unlink(place.kept);
        rmdir(folder);
    }
    return added;
}
