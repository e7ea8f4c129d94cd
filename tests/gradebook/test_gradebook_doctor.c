/* test_gradebook_doctor.c - what the doctor concludes from nvidia-smi's output. The tests contain
 * hand-written output in nvidia-smi's CSV format. */
#include "gradebook/doctor.h"
#include "base/util.h"
#include "golden.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static GpuState gpus[GPUS];
static DoctorReport report;

#define FIT "0, GPU-1, Default, 0, 4, NVIDIA H200"

/* ---- Parsing ---- */

static const struct {
    const char *csv;
    int count;
    const char *name; /* of the last GPU */
} outputs[] = {
    { FIT "\n", 1, "NVIDIA H200" },
    { FIT, 1, "NVIDIA H200" },
    { "Warning: something\n" FIT
      "\r\n\n3, GPU-2, a, b\n1, GPU-3, [N/A], N/A, [Not Supported], A, \"b\"",
      2, "A, \"b\"" },
    { "No devices were found\n", 0, NULL },
    { "", 0, NULL },
    { "-1, GPU-1, Default, 0, 4, x", 0, NULL },
    { ", GPU-1, Default, 0, 4, x", 0, NULL },
};

static void csv_of_gpus(void)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        CU_ASSERT_EQUAL_FATAL(gpus_parse(outputs[i].csv, gpus), outputs[i].count);
        if (outputs[i].count)
            CU_ASSERT_STRING_EQUAL(gpus[outputs[i].count - 1].name, outputs[i].name);
    }
}

static void values(void)
{
    gpus_parse(FIT "\n1, GPU-3, [N/A], N/A, [Not Supported], A", gpus);
    CU_ASSERT_STRING_EQUAL(gpus[0].index, "0");
    CU_ASSERT_STRING_EQUAL(gpus[0].uuid, "GPU-1");
    CU_ASSERT_STRING_EQUAL(gpus[0].mode, "Default");
    CU_ASSERT_EQUAL(gpus[0].use_percent, 0);
    CU_ASSERT_EQUAL(gpus[0].memory_mib, 4);
    CU_ASSERT_STRING_EQUAL(gpus[1].mode, "");
    CU_ASSERT_TRUE(gpus[1].use_percent < 0);
    CU_ASSERT_TRUE(gpus[1].memory_mib < 0);
}

static void more_gpus_than_fit(void)
{
    char *csv = xcalloc(1, 40000);

    for (int i = 0; i < 100; i++)
        append(csv, 40000, "%d%s\n", i, FIT + 1);
    CU_ASSERT_EQUAL(gpus_parse(csv, gpus), GPUS);
    free(csv);
}

static void processes(void)
{
    gpus_parse(FIT "\n", gpus);
    gpus_parse_processes("GPU-2, 7, other\nGPU-1, 4711, /usr/bin/python3\nGPU-1, 12, x\n"
                         "GPU-1\n, ,\nNo running processes found\n",
                         gpus, 1);
    CU_ASSERT_EQUAL(gpus[0].processes, 2);
    CU_ASSERT_STRING_EQUAL(gpus[0].process, "4711 /usr/bin/python3");
}

static void cuda_version(void)
{
    char version[16];

    driver_cuda_version("| NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: 13.0 |",
                        version);
    CU_ASSERT_STRING_EQUAL(version, "13.0");
    driver_cuda_version("| NVIDIA-SMI has failed", version);
    CU_ASSERT_STRING_EQUAL(version, "");
    driver_cuda_version("CUDA Version: ", version);
    CU_ASSERT_STRING_EQUAL(version, "");
}

/* ---- Conclusions ---- */

static const struct {
    const char *gpu;
    Health health;
} checks[] = {
    { FIT, HEALTH_OK },
    { "0, GPU-1, Default, 97, 4, H200", HEALTH_FAIL },
    { "0, GPU-1, Default, [N/A], 4, H200", HEALTH_OK },
    { "0, GPU-1, Default, 0, 40000, H200", HEALTH_WARN },
    { "0, GPU-1, Exclusive_Process, 0, 4, H200", HEALTH_FAIL },
    { "0, GPU-1, Prohibited, 0, 4, H200", HEALTH_FAIL },
    { "0, GPU-1, [N/A], 0, 4, H200", HEALTH_OK },
    { "0, GPU-1, [GPU requires reset], 0, 4, H200", HEALTH_FAIL },
    { "0, GPU-1, [Unknown Error], 0, 4, H200", HEALTH_FAIL },
    { "0, [N/A], [N/A], [N/A], [N/A], [N/A]", HEALTH_OK },
};

static void one_gpu(void)
{
    char all[8000] = "";

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        CU_ASSERT_EQUAL_FATAL(gpus_parse(checks[i].gpu, gpus), 1);
        report = (DoctorReport){ 0 };
        gpu_check(&gpus[0], &report);
        CU_ASSERT_EQUAL(report.worst, checks[i].health);
        APPEND(all, "%s", report.text);
    }
    golden_gradebook("doctor: GPUs", all);
}

static void a_process_on_it(void)
{
    gpus_parse(FIT "\n", gpus);
    gpus_parse_processes("GPU-1, 4711, a\033[31mb\n", gpus, 1);
    report = (DoctorReport){ 0 };
    gpu_check(&gpus[0], &report);
    CU_ASSERT_EQUAL(report.worst, HEALTH_FAIL);
    golden_gradebook("doctor: a process on the GPU", report.text);
}

static void driver_and_toolkit(void)
{
    static const struct {
        const char *driver, *toolkit;
        Health health;
        int rows;
    } pairs[] = {
        { "13.0", "13.0.88", HEALTH_OK, 1 },  { "12.8", "13.0.88", HEALTH_FAIL, 1 },
        { "13.0", "13.1.2", HEALTH_WARN, 1 }, { "13.1", "12.4.131", HEALTH_OK, 1 },
        { "", "13.0", HEALTH_OK, 0 },         { "13.0", "", HEALTH_OK, 0 },
    };
    char all[2000] = "";

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        report = (DoctorReport){ 0 };
        driver_check(pairs[i].driver, pairs[i].toolkit, &report);
        CU_ASSERT_EQUAL(report.rows, pairs[i].rows);
        CU_ASSERT_EQUAL(report.worst, pairs[i].health);
        APPEND(all, "%s", report.text);
    }
    golden_gradebook("doctor: driver and toolkit", all);
}

static CU_TestInfo tests[] = {
    { "CSV of GPUs", csv_of_gpus },
    { "values", values },
    { "more GPUs than fit", more_gpus_than_fit },
    { "processes", processes },
    { "the driver's CUDA version", cuda_version },
    { "one GPU", one_gpu },
    { "a process on the GPU", a_process_on_it },
    { "driver and toolkit", driver_and_toolkit },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_gradebook_doctor = { "gradebook doctor", .pTests = tests };
