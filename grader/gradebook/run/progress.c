/* progress.c - gradings done, their rate, and the time left. */
#include "gradebook/run/progress.h"
#include "base/util.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { QUIET_S = 30 }; /* between two lines, if not printed to a terminal */

void progress_begin(Progress *progress, int all)
{
    *progress = (Progress){ .all = all, .began_s = now_s(), .live = isatty(2) };
    progress->shown_s = progress->began_s;
}

void progress_count(Progress *progress, int lab, double seconds)
{
    progress->done++;
    progress->seconds[lab] += seconds;
    progress->counted[lab]++;
}

void progress_error(Progress *progress, bool given_up)
{
    progress->errors++;
    progress->given_up += given_up;
}

double progress_left(const Progress *progress, const int open[LABS], int workers)
{
    double all_s = 0, left_s = 0, one_by_one_s = 0;
    int all = 0;

    for (int lab = 0; lab < LABS; lab++) {
        all_s += progress->seconds[lab];
        all += progress->counted[lab];
    }
    if (!all || workers < 1)
        return -1;
    /* A lab without gradings so far is assumed to take the average of the other labs. */
    for (int lab = 0; all_labs[lab].folder; lab++) {
        int counted = progress->counted[lab];
        double lab_s = open[lab] * (counted ? progress->seconds[lab] / counted : all_s / all);
        left_s += lab_s;
        if (progress->one_host && all_labs[lab].lab->streams)
            one_by_one_s += lab_s;
    }
    return fmax(left_s / workers, one_by_one_s);
}

char *progress_span(double seconds, char *text, size_t size)
{
    long s = seconds > 0 ? (long) (seconds + 0.5) : 0;

    if (s < 90)
        return put(text, size, "%ld s", s);
    if (s < 5400)
        return put(text, size, "%ld min", (s + 30) / 60);
    return put(text, size, "%ld h %ld min", s / 3600, s % 3600 / 60);
}

static void clear(Progress *progress)
{
    if (progress->line_shown)
        fputs("\r\033[K", stderr);
    progress->line_shown = false;
}

void progress_show(Progress *progress, const int open[LABS], int workers)
{
    double now = now_s(), left_s = progress_left(progress, open, workers);
    char left[40], line[200];

    if (now - progress->shown_s < (progress->live ? 0.2 : QUIET_S))
        return;
    progress->shown_s = now;
    PUT(line, "%d of %d graded", progress->done, progress->all);
    if (progress->done)
        APPEND(line, ", %.1f per minute", progress->done * 60 / (now - progress->began_s));
    if (left_s >= 0)
        APPEND(line, ", about %s left", progress_span(left_s, left, sizeof left));
    if (progress->errors)
        APPEND(line, " (%d repeated, %d given up)", progress->errors - progress->given_up,
               progress->given_up);
    clear(progress);
    fprintf(stderr, "%s%s", line, progress->live ? "" : "\n");
    progress->line_shown = progress->live;
}

void progress_say(Progress *progress, const char *format, ...)
{
    va_list arguments;

    clear(progress);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void progress_end(Progress *progress)
{
    char text[40];

    clear(progress);
    if (progress->done)
        fprintf(stderr, "%d graded in %s.\n", progress->done,
                progress_span(now_s() - progress->began_s, text, sizeof text));
}
