/* confine.c - restricts which files a process may open, using the part of Landlock that this
 * kernel supports. */
#include "base/confine.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif
#endif

#ifdef LANDLOCK_CREATE_RULESET_VERSION
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

enum { REFER_SINCE = 2, TRUNCATE_SINCE = 3 };
static const uint64_t access_refer = 1ull << 13, access_truncate = 1ull << 14;

static const uint64_t reading =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE;
static const uint64_t making =
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM |
    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_CHAR |
    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR;

/* The access rights that apply to a file that is not a folder. */
static const uint64_t of_files =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE;

static bool allow(int rules, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr beneath = { .allowed_access = access };
    struct stat about;
    bool added;

    beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (beneath.parent_fd < 0)
        return true;
    if (!fstat(beneath.parent_fd, &about) && !S_ISDIR(about.st_mode))
        beneath.allowed_access &= of_files | access_truncate;
    added = !syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    close(beneath.parent_fd);
    return added;
}

static bool allow_all(int rules, const char *const *paths, uint64_t access)
{
    for (; paths && *paths; paths++)
        if (!allow(rules, *paths, access))
            return false;
    return true;
}

bool confine(const Confinement *c)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    uint64_t writing =
        LANDLOCK_ACCESS_FS_WRITE_FILE | (version >= TRUNCATE_SINCE ? access_truncate : 0);
    uint64_t renaming = version >= REFER_SINCE ? access_refer : 0;
    struct landlock_ruleset_attr wanted = { .handled_access_fs = writing | making | renaming |
                                                                 (c->reads_all ? 0 : reading) };
    int rules;
    bool done;

    if (version < 1)
        return false;
    rules = (int) syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted.handled_access_fs, 0);
    if (rules < 0)
        return false;
    done = allow_all(rules, c->readable, reading & wanted.handled_access_fs) &&
           allow_all(rules, c->writable, wanted.handled_access_fs) &&
           allow_all(rules, c->scratch, writing | (reading & wanted.handled_access_fs)) &&
           !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return done;
}
#else
bool confine(const Confinement *confinement)
{
    (void) confinement;
    return false;
}
#endif
