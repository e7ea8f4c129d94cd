/* progress.c - gradings done, their rate, and the time left. */
#include "gradebook/run/progress.h"
#include "base/util.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { QUIET_S = 30 }; /* between two lines without a terminal */

void progress_begin(Progress *pace, int all)
{
    *pace = (Progress){ .all = all, .began_s = now_s(), .live = isatty(2) };
    pace->shown_s = pace->began_s;
}

void progress_count(Progress *pace, int lab, double seconds)
{
    pace->done++;
    pace->seconds[lab] += seconds;
    pace->counted[lab]++;
}

void progress_fault(Progress *pace, bool given_up)
{
    pace->faults++;
    pace->given_up += given_up;
}

double progress_left(const Progress *pace, const int open[LABS], int workers)
{
    double all_s = 0, left_s = 0, one_by_one_s = 0;
    int all = 0;

    for (int lab = 0; lab < LABS; lab++) {
        all_s += pace->seconds[lab];
        all += pace->counted[lab];
    }
    if (!all || workers < 1)
        return -1;
    /* A lab without gradings so far is assumed to take the others' average. */
    for (int lab = 0; all_labs[lab].folder; lab++) {
        int counted = pace->counted[lab];
        double lab_s = open[lab] * (counted ? pace->seconds[lab] / counted : all_s / all);
        left_s += lab_s;
        if (pace->one_host && all_labs[lab].lab->streams)
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

static void clear(Progress *pace)
{
    if (pace->line_shown)
        fputs("\r\033[K", stderr);
    pace->line_shown = false;
}

void progress_show(Progress *pace, const int open[LABS], int workers)
{
    double now = now_s(), left_s = progress_left(pace, open, workers);
    char left[40], line[200];

    if (now - pace->shown_s < (pace->live ? 0.2 : QUIET_S))
        return;
    pace->shown_s = now;
    PUT(line, "%d of %d graded", pace->done, pace->all);
    if (pace->done)
        APPEND(line, ", %.1f per minute", pace->done * 60 / (now - pace->began_s));
    if (left_s >= 0)
        APPEND(line, ", about %s left", progress_span(left_s, left, sizeof left));
    if (pace->faults)
        APPEND(line, " (%d repeated, %d given up)", pace->faults - pace->given_up, pace->given_up);
    clear(pace);
    fprintf(stderr, "%s%s", line, pace->live ? "" : "\n");
    pace->line_shown = pace->live;
}

void progress_say(Progress *pace, const char *format, ...)
{
    va_list arguments;

    clear(pace);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void progress_end(Progress *pace)
{
    char text[40];

    clear(pace);
    if (pace->done)
        fprintf(stderr, "%d graded in %s.\n", pace->done,
                progress_span(now_s() - pace->began_s, text, sizeof text));
}
