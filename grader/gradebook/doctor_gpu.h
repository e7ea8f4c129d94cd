/* doctor_gpu.h - are the GPUs fit to grade on? By nvidia-smi's query interface, which changes
 * nothing. */
#ifndef DOCTOR_GPU_H
#define DOCTOR_GPU_H

#include <stdbool.h>
#include "gradebook/health.h"

/* What is queried of each GPU: a row of doctor_gpu.c's table. */
typedef enum GpuField {
    GPU_INDEX,
    GPU_UUID,
    GPU_DRIVER,
    GPU_CAPABILITY,
    GPU_PERSISTENCE,
    GPU_COMPUTE_MODE,
    GPU_MIG,
    GPU_ECC,
    GPU_ECC_ERRORS,
    GPU_TEMPERATURE,
    GPU_CLOCK,
    GPU_CLOCK_MOST,
    GPU_CLOCK_SET,
    GPU_CLOCK_DEFAULT,
    GPU_REASONS, /* why clocks are reduced: bits */
    GPU_USE,     /* percent */
    GPU_MEMORY,  /* MiB */
    GPU_MEMORY_USED,
    GPU_NAME, /* last, since only it may contain a comma */
    GPU_FIELDS
} GpuField;

enum { GPUS = 64 };

typedef struct GpuFacts {
    char value[GPU_FIELDS][100]; /* "": unknown, unsupported or not queried */
    int processes;
    char process[160]; /* the first of them */
} GpuFacts;

/* Parses what nvidia-smi prints for the fields in `asked`: CSV without header and units, one line
 * per GPU. Skips other lines. Returns the number of GPUs. */
int gpus_parse(const char *csv, const bool asked[GPU_FIELDS], GpuFacts gpus[GPUS]);

/* The same for processes: "uuid, pid, name, MiB". */
void gpus_processes(const char *csv, GpuFacts gpus[GPUS], int count);

/* The rows about one GPU. */
void gpu_diagnose(const GpuFacts *gpu, HealthReport *all);

/* The driver's CUDA version ("12.4") from the header that nvidia-smi prints; "" if absent.
 */
void gpu_cuda_version(const char *head, char version[16]);

/* Checks that a driver of one CUDA version runs what a toolkit of another builds. */
void driver_diagnose(const char *driver, const char *toolkit, HealthReport *all);

/* All checks for the requested devices ("0", "1"; count 0: the first GPU, if any). `toolkit`:
 * nvcc's version, "" without one. */
void gpus_diagnose(const char *const devices[], int count, const char *toolkit, HealthReport *all);

#endif
