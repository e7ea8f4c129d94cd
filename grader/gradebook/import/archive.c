/* archive.c - unpacks zips and tars in memory, with libarchive: nothing is ever written to disk.
 *
 * Archives are not trusted. Only files with clean paths are taken; links, devices and paths that
 * lead outside are refused individually. An archive that exceeds a limit or is damaged is refused
 * as a whole. In libarchive, only the formats listed here are enabled, and no program is started to
 * unpack anything.
 */
#include "gradebook/import/source.h"
#include "base/util.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const UnpackLimits archive_class = { .entries = 500000,
                                     .entry_bytes = SUBMISSION_BYTES,
                                     .bytes = (size_t) 64 << 30,
                                     .ratio = 2000,
                                     .bytes_free = (size_t) 1 << 30 };
const UnpackLimits archive_student = { .entries = SUBMISSION_FILES,
                                       .entry_bytes = SUBMISSION_BYTES,
                                       .bytes = SUBMISSION_BYTES,
                                       .ratio = 200,
                                       .bytes_free = 4 << 20 };

typedef struct Unpacking {
    struct archive *archive;
    const UnpackLimits *limits;
    const Visitor *visitor;
    size_t entries, bytes;
    char *entry; /* SUBMISSION_PATH */
    char *why;
    size_t why_size;
} Unpacking;

/* A libarchive built without a compression library would start an external program instead: filters
 * that would do so are not enabled. */
static const struct {
    const char *(*library)(void);
    int (*support)(struct archive *);
} filters[] = {
    { archive_zlib_version, archive_read_support_filter_gzip },
    { archive_bzlib_version, archive_read_support_filter_bzip2 },
    { archive_liblzma_version, archive_read_support_filter_xz },
    { archive_libzstd_version, archive_read_support_filter_zstd },
};

static struct archive *reader(void)
{
    struct archive *archive = archive_read_new();

    if (!archive)
        die("out of host memory");
    archive_read_support_format_zip(archive);
    archive_read_support_format_tar(archive);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (filters[i].library())
            filters[i].support(archive);
    return archive;
}

static bool refuse_all(Unpacking *u, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse_all(Unpacking *u, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(u->why, u->why_size, format, arguments);
    va_end(arguments);
    show(u->why);
    return false;
}

static bool damaged(Unpacking *u)
{
    const char *error = archive_error_string(u->archive);

    return refuse_all(u, "the archive is damaged or in an unknown format (known: zip, tar): %s",
                      error ? error : "unknown reason");
}

/* Why an entry may not be unpacked; NULL for a file or folder. */
static const char *wrong_kind(struct archive_entry *entry)
{
    if (archive_entry_hardlink(entry))
        return "it is a hard link";
    if (archive_entry_is_encrypted(entry))
        return "it is encrypted";
    switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
    case AE_IFDIR:
        return NULL;
    case AE_IFLNK:
        return "it is a symbolic link";
    case AE_IFCHR:
    case AE_IFBLK:
        return "it is a device";
    case AE_IFIFO:
        return "it is a pipe";
    case AE_IFSOCK:
        return "it is a socket";
    default:
        return "it is neither a file nor a folder";
    }
}

static const char *name_of(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname_utf8(entry);

    return name ? name : archive_entry_pathname(entry);
}

/* ---- One entry ---- */

/* Returns false if the archive exceeds a limit. A very high compression ratio indicates a zip
 * bomb. */
static bool within_limits(Unpacking *u)
{
    la_int64_t packed = archive_filter_bytes(u->archive, -1);

    if (u->bytes > u->limits->bytes)
        return refuse_all(u, "the archive unpacks to more than %zu MiB", u->limits->bytes >> 20);
    if (u->bytes > u->limits->bytes_free && packed > 0 &&
        u->bytes / u->limits->ratio > (size_t) packed)
        return refuse_all(u, "the archive unpacks to more than %zu times its size",
                          u->limits->ratio);
    return true;
}

/* Passes a file to the visitor. If it is too large, only this file is refused, not the class's
 * archive. */
static void hand_over(Unpacking *u, const char *path, const VisitedFile *file)
{
    char why[80];

    if (file->size > u->limits->entry_bytes)
        u->visitor->refuse(
            u->visitor->context, path,
            PUT(why, "it unpacks to more than %zu MiB", u->limits->entry_bytes >> 20));
    else
        u->visitor->file(u->visitor->context, path, file);
}

/* Reads a whole entry; keeps it if it is not larger than requested. */
static bool take_file(Unpacking *u, struct archive_entry *entry, const char *path)
{
    size_t wanted = u->visitor->wants(u->visitor->context, path), capacity = 0;
    VisitedFile file = { .changed = archive_entry_mtime(entry), .hash = HASH_START };
    char *kept = NULL;

    for (;;) {
        const void *block;
        size_t length;
        la_int64_t offset;
        int status = archive_read_data_block(u->archive, &block, &length, &offset);
        if (status == ARCHIVE_EOF)
            break;
        if (status != ARCHIVE_OK) {
            free(kept);
            return damaged(u);
        }
        if (offset < 0 || (size_t) offset != file.size) { /* a sparse file is not a kernel */
            free(kept);
            return refuse_all(u, "it is a sparse file");
        }
        file.size += length;
        u->bytes += length;
        if (!within_limits(u)) {
            free(kept);
            return false;
        }
        file.hash = hash_bytes(file.hash, block, length);
        if (file.size > wanted)
            continue;
        if (file.size >= capacity) {
            capacity = 2 * file.size + 4096;
            kept = xrealloc(kept, capacity, 1);
        }
        memcpy(kept + offset, block, length);
    }
    if (file.size <= wanted && wanted) {
        if (!kept)
            kept = xcalloc(1, 1);
        file.bytes = kept;
    }
    hand_over(u, path, &file);
    free(kept);
    return true;
}

static bool take_entry(Unpacking *u, struct archive_entry *entry)
{
    const char *name = name_of(entry), *fault = wrong_kind(entry), *bad_path;

    bad_path = name ? path_clean(name, u->entry) : "its name is not valid text";
    if (!bad_path && path_is_junk(u->entry))
        return true;
    if (archive_entry_filetype(entry) == AE_IFDIR && !fault)
        return true;
    if (bad_path && name) { /* reported under its original name, if printable */
        put(u->entry, SUBMISSION_PATH, "%s", name);
        show(u->entry);
    }
    if (bad_path || fault) {
        u->visitor->refuse(u->visitor->context, u->entry, bad_path ? bad_path : fault);
        return true;
    }
    return take_file(u, entry, u->entry);
}

/* ---- All entries ---- */

static bool take_all(Unpacking *u)
{
    struct archive_entry *entry;
    int status;

    while ((status = archive_read_next_header(u->archive, &entry)) == ARCHIVE_OK ||
           status == ARCHIVE_WARN) {
        if (++u->entries > u->limits->entries)
            return refuse_all(u, "the archive holds more than %zu files", u->limits->entries);
        if (!take_entry(u, entry))
            return false;
    }
    u->entry[0] = 0;
    return status == ARCHIVE_EOF || damaged(u);
}

static bool unpack(Unpacking *u, bool opened)
{
    bool taken;

    u->entry[0] = 0;
    taken = opened ? take_all(u) : damaged(u);
    archive_read_free(u->archive);
    return taken;
}

bool archive_file(const char *path, const UnpackLimits *limits, const Visitor *visitor,
                  char entry[SUBMISSION_PATH], char *why, size_t size)
{
    Unpacking u = { reader(), limits, visitor, 0, 0, entry, why, size };

    return unpack(&u, archive_read_open_filename(u.archive, path, 1 << 16) == ARCHIVE_OK);
}

bool archive_memory(const char *bytes, size_t count, const UnpackLimits *limits,
                    const Visitor *visitor, char entry[SUBMISSION_PATH], char *why, size_t size)
{
    Unpacking u = { reader(), limits, visitor, 0, 0, entry, why, size };

    return unpack(&u, archive_read_open_memory(u.archive, bytes, count) == ARCHIVE_OK);
}

bool archive_names(const char *path, NameVisitor *seen, void *context, char *why, size_t size)
{
    char clean[SUBMISSION_PATH];
    Unpacking u = { reader(), &archive_class, NULL, 0, 0, clean, why, size };
    struct archive_entry *entry;
    bool ok = archive_read_open_filename(u.archive, path, 1 << 16) == ARCHIVE_OK;
    int status = ARCHIVE_FATAL;

    while (ok && ((status = archive_read_next_header(u.archive, &entry)) == ARCHIVE_OK ||
                  status == ARCHIVE_WARN)) {
        const char *name = name_of(entry);
        if (++u.entries > u.limits->entries || archive_filter_bytes(u.archive, 0) > (64ll << 30))
            ok = refuse_all(&u, "the archive is too large");
        else if (name && !path_clean(name, clean) && !path_is_junk(clean) &&
                 !seen(context, clean, archive_entry_filetype(entry) == AE_IFDIR))
            status = ARCHIVE_EOF, ok = false;
    }
    if (status != ARCHIVE_EOF && status != ARCHIVE_OK)
        ok = damaged(&u);
    else if (status == ARCHIVE_EOF)
        ok = true;
    archive_read_free(u.archive);
    return ok;
}
