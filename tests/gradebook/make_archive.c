/* make_archive.c - makes archives for tests, honest and hostile, from a recipe, so that the tree
 * needs no binary files.
 *
 *   make_archive zip|tar.gz|tar FILE < recipe
 *
 * Lines of a recipe:
 *   date SECONDS          the modification time of all following entries
 *   file NAME FROM        a file with the contents of FROM
 *   text NAME WORDS       a file with these words
 *   zeros NAME BYTES      a file with this many zero bytes
 *   many NAME COUNT       this many empty files NAME0, NAME1, ...
 *   link NAME TARGET, hardlink NAME TARGET, device NAME, fifo NAME, folder NAME
 */
#include "base/util.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct archive *archive;
static time_t changed;

static void write_entry(const char *name, unsigned kind, const char *target, bool hard,
                        const char *bytes, size_t size, size_t times)
{
    struct archive_entry *entry = archive_entry_new();

    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, kind);
    archive_entry_set_perm(entry, kind == AE_IFDIR ? 0755 : 0644);
    archive_entry_set_size(entry, kind == AE_IFREG ? (la_int64_t) (size * times) : 0);
    archive_entry_set_mtime(entry, changed, 0);
    if (target && hard)
        archive_entry_set_hardlink(entry, target);
    else if (target)
        archive_entry_set_symlink(entry, target);
    if (kind == AE_IFCHR)
        archive_entry_set_rdev(entry, 0x103);
    if (archive_write_header(archive, entry) != ARCHIVE_OK)
        die("%s: %s", name, archive_error_string(archive));
    for (size_t i = 0; i < times && size; i++)
        archive_write_data(archive, bytes, size);
    archive_entry_free(entry);
}

static void write_from(const char *name, const char *path)
{
    size_t size;
    char *bytes = read_file(path, (size_t) 1 << 30, &size);

    if (!bytes)
        die("%s: %s", path, strerror(errno));
    write_entry(name, AE_IFREG, NULL, false, bytes, size, 1);
    free(bytes);
}

static void write_zeros(const char *name, size_t bytes)
{
    enum { PIECE = 1 << 16 };
    static const char zeros[PIECE];

    if (bytes % PIECE)
        die("the size of zeros must be a multiple of %d", PIECE);
    write_entry(name, AE_IFREG, NULL, false, zeros, PIECE, bytes / PIECE);
}

static void write_many(const char *name, long count)
{
    char each[600];

    for (long i = 0; i < count; i++)
        write_entry(PUT(each, "%s%ld", name, i), AE_IFREG, NULL, false, "", 0, 1);
}

static void obey(char *line)
{
    char *rest = line, *verb = strsep(&rest, " "), *name = strsep(&rest, " ");
    const char *more = rest ? rest : "";

    if (!name)
        die("this line of the recipe has no name: %s", verb);
    if (!strcmp(verb, "date"))
        changed = (time_t) strtoll(name, NULL, 10);
    else if (!strcmp(verb, "file"))
        write_from(name, more);
    else if (!strcmp(verb, "text"))
        write_entry(name, AE_IFREG, NULL, false, more, strlen(more), 1);
    else if (!strcmp(verb, "zeros"))
        write_zeros(name, strtoull(more, NULL, 10));
    else if (!strcmp(verb, "many"))
        write_many(name, strtol(more, NULL, 10));
    else if (!strcmp(verb, "link"))
        write_entry(name, AE_IFLNK, more, false, "", 0, 0);
    else if (!strcmp(verb, "hardlink"))
        write_entry(name, AE_IFREG, more, true, "", 0, 0);
    else if (!strcmp(verb, "device"))
        write_entry(name, AE_IFCHR, NULL, false, "", 0, 0);
    else if (!strcmp(verb, "fifo"))
        write_entry(name, AE_IFIFO, NULL, false, "", 0, 0);
    else if (!strcmp(verb, "folder"))
        write_entry(name, AE_IFDIR, NULL, false, "", 0, 0);
    else
        die("unknown line in the recipe: %s", verb);
}

int main(int count, char **words)
{
    char line[2048];

    setlocale(LC_CTYPE, "C.UTF-8");
    if (count != 3)
        die("make_archive zip|tar.gz|tar FILE < recipe");
    archive = archive_write_new();
    if (!strcmp(words[1], "zip"))
        archive_write_set_format_zip(archive);
    else
        archive_write_set_format_pax_restricted(archive);
    if (!strcmp(words[1], "tar.gz"))
        archive_write_add_filter_gzip(archive);
    if (archive_write_open_filename(archive, words[2]) != ARCHIVE_OK)
        die("%s: %s", words[2], archive_error_string(archive));
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (*line)
            obey(line);
    }
    if (archive_write_close(archive) != ARCHIVE_OK)
        die("%s: %s", words[2], archive_error_string(archive));
    archive_write_free(archive);
    return 0;
}
