/* doctor_gpu.h - are the GPUs fit to grade on? By nvidia-smi's query interface, which only asks. */
#ifndef DOCTOR_GPU_H
#define DOCTOR_GPU_H

#include <stdbool.h>
#include "gradebook/health.h"

/* What is asked of each GPU: a row of doctor_gpu.c's table. */
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
    GPU_REASONS, /* why clocks are held down: bits */
    GPU_USE,     /* percent */
    GPU_MEMORY,  /* MiB */
    GPU_MEMORY_USED,
    GPU_NAME, /* the last: it alone may hold a comma */
    GPU_FIELDS
} GpuField;

enum { GPUS = 64 };

typedef struct GpuFacts {
    char value[GPU_FIELDS][100]; /* "": not known, not supported, or not asked */
    int processes;
    char process[160]; /* the first of them */
} GpuFacts;

/* What nvidia-smi prints for those fields that `asked` names, one GPU a line, as CSV without head
 * and units. Lines that are none are passed over; the number of GPUs. */
int gpus_parse(const char *csv, const bool asked[GPU_FIELDS], GpuFacts gpus[GPUS]);

/* The same for processes: "uuid, pid, name, MiB". */
void gpus_processes(const char *csv, GpuFacts gpus[GPUS], int count);

/* The rows about one GPU. */
void gpu_diagnose(const GpuFacts *gpu, HealthReport *all);

/* "12.4", the CUDA version of the driver, from the head that nvidia-smi prints; "" if it has none.
 */
void gpu_cuda_version(const char *head, char version[16]);

/* Does a driver of that CUDA version run what a toolkit of this one builds? */
void driver_diagnose(const char *driver, const char *toolkit, HealthReport *all);

/* Everything, for the devices asked for ("0", "1", "sim", ...; count 0: the first GPU if there is
 * one). `toolkit`: nvcc's version, "" if there is none. */
void gpus_diagnose(const char *const devices[], int count, const char *toolkit, HealthReport *all);

#endif
