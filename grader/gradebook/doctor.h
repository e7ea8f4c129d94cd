/* doctor.h - gradebook doctor: can this machine grade? Reads and prints; changes nothing. */
#ifndef DOCTOR_H
#define DOCTOR_H

#include "gradebook/run/scheduler_options.h"

typedef enum Health {
    HEALTH_OK,
    HEALTH_WARN, /* it can grade, but less reliably or more slowly than possible */
    HEALTH_FAIL, /* it cannot grade, or its results cannot be trusted */
} Health;

/* Returns 0 if the machine is fit, 1 with warnings, 3 if it cannot grade or its results cannot be
 * trusted. `out` may be NULL. */
int doctor(const GradingOptions *options, const char *out, bool trusting);

/* ---- Exposed for tests ---- */

enum { GPUS = 64 };

typedef struct GpuState {
    char index[8], uuid[80], mode[40], name[80];
    double use_percent, memory_mib; /* < 0: not available */
    int processes;
    char process[160]; /* name of the first process */
} GpuState;

typedef struct DoctorReport { /* the printed rows and the worst health among them */
    int rows;
    Health worst;
    char text[64 << 10];
} DoctorReport;

/* Parses a CSV of nvidia-smi, "index, uuid, compute_mode, utilization, used MiB, name", one line
 * per GPU; skips other lines. Returns the number of GPUs. */
int gpus_parse(const char *csv, GpuState gpus[GPUS]);

/* The same for processes: "gpu_uuid, pid, name". */
void gpus_parse_processes(const char *csv, GpuState gpus[GPUS], int count);

/* The rows about one GPU. */
void gpu_check(const GpuState *gpu, DoctorReport *report);

/* The driver's CUDA version ("12.4") from the header that nvidia-smi prints; "" if absent. */
void driver_cuda_version(const char *head, char version[16]);

/* Can a driver of one CUDA version run what a toolkit of another builds? */
void driver_check(const char *driver, const char *toolkit, DoctorReport *report);

#endif
