/* doctor.c - gradebook doctor: is this machine fit to grade? */
#include "gradebook/doctor.h"
#include "gradebook/doctor_gpu.h"
#include "gradebook/doctor_machine.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool simulates(const char *device)
{
    return !strncmp(device, "sim", 3);
}

int doctor(const MarkingOptions *options, const char *out, bool trusting)
{
    static const int statuses[] = { [HEALTH_OK] = 0, [HEALTH_WARN] = 1, [HEALTH_FAIL] = 3 };
    static const char *const verdicts[] = {
        [HEALTH_OK] = "This machine is fit to grade.",
        [HEALTH_WARN] =
            "This machine can grade, with limitations; see the rows that begin with warn.",
        [HEALTH_FAIL] = "This machine is not fit to grade; see the rows that begin with fail.",
    };
    HealthReport *all = xcalloc(1, sizeof *all);
    Checkup checkup = { .out = out, .trusting = trusting };
    const char *gpus[DEVICES];
    Health worst;

    for (int i = 0; i < options->device_count; i++)
        if (!simulates(options->devices[i]))
            gpus[checkup.gpus++] = options->devices[i];
    machine_diagnose(&checkup, all);
    if (checkup.gpus || !options->device_count)
        gpus_diagnose(gpus, checkup.gpus, checkup.toolkit, all);
    health_print(all);
    worst = health_worst(all);
    printf("\n%s\n", verdicts[worst]);
    free(all);
    return statuses[worst];
}
