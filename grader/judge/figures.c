/* figures.c - writes a header, then one line per figure. */
#include "judge/figures.h"

#include <time.h>

void figures_head(FILE *file, const Session *session, const char *command)
{
    const GpuInfo *gpu = &session->gpu;
    time_t now = time(NULL);
    char date[32];

    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(file, "device: %s, %d SMs\ndriver: %s\nCUDA: %s (nvcc %s)\ndate: %s\n", gpu->name,
            gpu->gpu.sms, gpu->driver, gpu->runtime, session->toolchain.version, date);
    fprintf(file, "command: %s\n", command);
}

void figures_print(FILE *file, const char *name, const Result *result)
{
    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        const char *label = s->lab_case->label;
        if (!s->measured)
            continue;
        fprintf(file, "%s/%s/ms %.6f\n", name, label, s->student_ms);
        if (s->gbps > 0)
            fprintf(file, "%s/%s/GB/s %.1f\n", name, label, s->gbps);
        if (s->gflops > 0)
            fprintf(file, "%s/%s/GFLOP/s %.1f\n", name, label, s->gflops);
        fprintf(file, "%s/%s/ratio %.5f\n", name, label, s->ratio.median);
        fprintf(file, "%s/%s/ratio from %.5f\n", name, label, s->ratio.lo);
        fprintf(file, "%s/%s/ratio to %.5f\n", name, label, s->ratio.hi);
    }
    fflush(file);
}
