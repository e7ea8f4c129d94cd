/* capture.h - what a function prints, for tests. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Capture {
    FILE *file;
    int kept, stream_fd;
    FILE *stream;
    char text[16384];
} Capture;

/* From now on what is printed to stdout or stderr is kept. */
static inline void capture_begin(Capture *capture, FILE *stream)
{
    fflush(stream);
    capture->stream = stream;
    capture->stream_fd = fileno(stream);
    capture->kept = dup(capture->stream_fd);
    capture->file = tmpfile();
    if (!capture->file || capture->kept < 0 || dup2(fileno(capture->file), capture->stream_fd) < 0)
        abort();
}

static inline const char *capture_end(Capture *capture)
{
    size_t used;

    fflush(capture->stream);
    dup2(capture->kept, capture->stream_fd);
    close(capture->kept);
    rewind(capture->file);
    used = fread(capture->text, 1, sizeof capture->text - 1, capture->file);
    capture->text[used] = 0;
    fclose(capture->file);
    return capture->text;
}

static inline bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* True if no line is wider. */
static inline bool fits(size_t columns, const char *text)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strcspn(text, "\n") > columns)
            return false;
    return true;
}

#endif
