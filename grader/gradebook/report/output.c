/* output.c - where an export of a single file goes: a file of mode 600, or standard output. */
#include "gradebook/report/output.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_open(Output *output, const char *path, bool force)
{
    struct stat old;
    int fd;

    *output = (Output){ .to = stdout };
    if (!path)
        return true;
    if (!force && !lstat(path, &old)) {
        errno = EEXIST;
        return false;
    }
    PUT(output->path, "%s", path);
    PUT(output->temporary, "%s.XXXXXX", path);
    fd = mkstemp(output->temporary); /* mode 600 */
    output->to = fd < 0 ? NULL : fdopen(fd, "w");
    return output->to != NULL;
}

bool output_close(Output *output, bool keep)
{
    bool written = !fflush(output->to) && !ferror(output->to);
    int error;

    if (!*output->path)
        return written;
    written = written && !fsync(fileno(output->to));
    error = errno;
    if (fclose(output->to) && written) {
        error = errno;
        written = false;
    }
    if (keep && written && !rename(output->temporary, output->path))
        return true;
    error = written ? errno : error;
    unlink(output->temporary);
    errno = error;
    return written && !keep;
}
