/* stubs.c - the folder sealed/DEVICE/LAB-DIGEST, created once, which sandboxes show instead of
 * solutions/.
 *
 * `warpbook grade --seal` creates it in a sandbox that grades the workbook's starter, without
 * student code. A changed lab or another compiler changes the digest: a new folder is then created,
 * and the old one is no longer used.
 */
#include "gradebook/run/stubs.h"
#include "gradebook/import/source.h"
#include "base/util.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static size_t wants_nothing(void *context, const char *path)
{
    (void) context, (void) path;
    return 0;
}

static void refused(void *context, const char *path, const char *sentence)
{
    (void) context, (void) path, (void) sentence;
}

/* Files are visited in any order, so their hashes are summed. */
static void add_file(void *context, const char *path, const VisitedFile *file)
{
    uint64_t hash = hash_bytes(file->hash, path, strlen(path)), *sum = context;

    *sum += hash;
}

uint64_t stub_digest(const Sandbox *sandbox, const char *lab)
{
    char folders[3][PATH_MAX], why[300];
    uint64_t sums[3] = { 0 }, hash;
    struct stat program = { 0 };

    PUT(folders[0], "%s/labs/%s", sandbox->root, lab);
    PUT(folders[1], "%s/solutions/%s", sandbox->root, lab);
    PUT(folders[2], "%s/common", sandbox->root);
    for (int i = 0; i < 3; i++)
        walk(folders[i], &(const Visitor){ &sums[i], wants_nothing, add_file, refused }, why,
             sizeof why);
    hash = hash_bytes(HASH_START, sums, sizeof sums);
    stat(sandbox->warpbook, &program);
    hash = hash_bytes(hash, &program.st_mtim, sizeof program.st_mtim);
    hash = hash_bytes(hash, &program.st_size, sizeof program.st_size);
    return hash_bytes(hash, sandbox->compiler, strlen(sandbox->compiler));
}

/* Sets the paths sealed/GPU-1234 and sealed/GPU-1234/06_transpose-0123456789abcdef. */
static void name(const Sandbox *sandbox, const char *uuid, const char *lab, uint64_t digest,
                 char *device, char *folder)
{
    char plain[80] = "";

    for (size_t i = 0; uuid[i] && i + 1 < sizeof plain; i++)
        plain[i] = strchr("/.", uuid[i]) ? '_' : uuid[i];
    put(device, PATH_MAX, "%s/sealed/%s", sandbox->store, plain);
    put(folder, PATH_MAX, "%s/%s-%016" PRIx64, device, lab, digest);
}

bool stub_find(const Sandbox *sandbox, const char *uuid, const char *lab, uint64_t digest,
               char *folder, size_t size)
{
    char device[PATH_MAX], path[PATH_MAX];

    name(sandbox, uuid, lab, digest, device, path);
    put(folder, size, "%s", path);
    return file_exists(path);
}

bool stub_keep(const Sandbox *sandbox, const char *uuid, const char *lab, uint64_t digest,
               const char *from)
{
    char device[PATH_MAX], path[PATH_MAX];

    name(sandbox, uuid, lab, digest, device, path);
    if (!make_folders(device))
        return false;
    if (rename(from, path) == 0)
        return true;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return false;
    remove_tree(from); /* another device with the same name created the folder first */
    return true;
}
