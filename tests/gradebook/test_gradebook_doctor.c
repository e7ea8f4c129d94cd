/* test_gradebook_doctor.c - what the doctor makes of nvidia-smi's answers and of the machine. The
 * answers are made by hand in the form that nvidia-smi's CSV has. */
#include "gradebook/doctor_gpu.h"
#include "gradebook/doctor_machine.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static GpuFacts gpus[GPUS];
static HealthReport all;

static bool every[GPU_FIELDS];

static int parse(const char *csv)
{
    memset(every, true, sizeof every);
    memset(gpus, 0, sizeof gpus);
    return gpus_parse(csv, every, gpus);
}

/* A fit GPU: fields as in GpuField. */
#define FIT                                                                                        \
    "0, GPU-1, 580.65.06, 9.0, Enabled, Default, Disabled, Enabled, 0, 34, 1980, 1980, 1980, "     \
    "1980, 0x0000000000000001, 0, 143771, 4, NVIDIA H200"

static const HealthRow *row_of(const char *what)
{
    for (int i = 0; i < all.count; i++)
        if (!strcmp(all.list[i].what, what))
            return &all.list[i];
    return NULL;
}

/* ---- ParsedResult ---- */

static void one_gpu(void)
{
    CU_ASSERT_EQUAL(parse(FIT "\n"), 1);
    CU_ASSERT_STRING_EQUAL(gpus[0].value[GPU_UUID], "GPU-1");
    CU_ASSERT_STRING_EQUAL(gpus[0].value[GPU_CAPABILITY], "9.0");
    CU_ASSERT_STRING_EQUAL(gpus[0].value[GPU_REASONS], "0x0000000000000001");
    CU_ASSERT_STRING_EQUAL(gpus[0].value[GPU_NAME], "NVIDIA H200");
}

static void several_gpus_and_other_lines(void)
{
    CU_ASSERT_EQUAL(
        parse("Warning: something\n" FIT "\r\n\n3, GPU-2, a, b, c\n"
              "1, GPU-3, 1, [N/A], [Not Supported], Default, [N/A], N/A, [N/A], 40, "
              "300, [N/A], [N/A], [N/A], [N/A], [N/A], 8192, 100, Card, a \"good\" one"),
        2);
    CU_ASSERT_STRING_EQUAL(gpus[0].value[GPU_NAME], "NVIDIA H200");
    CU_ASSERT_STRING_EQUAL(gpus[1].value[GPU_INDEX], "1");
    CU_ASSERT_STRING_EQUAL(gpus[1].value[GPU_PERSISTENCE], "");
    CU_ASSERT_STRING_EQUAL(gpus[1].value[GPU_ECC], "");
    CU_ASSERT_STRING_EQUAL(gpus[1].value[GPU_NAME], "Card, a \"good\" one");
}

static void fields_left_out(void)
{
    bool asked[GPU_FIELDS] = { [GPU_INDEX] = true, [GPU_UUID] = true, [GPU_USE] = true };

    memset(gpus, 0, sizeof gpus);
    CU_ASSERT_EQUAL(gpus_parse("0, GPU-1, 7\n1, GPU-2, 100\n", asked, gpus), 2);
    CU_ASSERT_STRING_EQUAL(gpus[1].value[GPU_USE], "100");
    CU_ASSERT_STRING_EQUAL(gpus[1].value[GPU_NAME], "");
}

static void more_gpus_than_fit(void)
{
    char *csv = xcalloc(1, 40000);

    for (int i = 0; i < 100; i++)
        append(csv, 40000, "%d%s\n", i, FIT + 1);
    CU_ASSERT_EQUAL(parse(csv), GPUS);
    free(csv);
    CU_ASSERT_EQUAL(parse(""), 0);
    CU_ASSERT_EQUAL(parse("No devices were found\n"), 0);
}

static void processes(void)
{
    parse(FIT "\n");
    gpus_processes("GPU-2, 7, other, 10\nGPU-1, 4711, /usr/bin/python3, 512\nGPU-1, 12, x, [N/A]\n"
                   "GPU-1\n, ,\nNo running processes found\n",
                   gpus, 1);
    CU_ASSERT_EQUAL(gpus[0].processes, 2);
    CU_ASSERT_STRING_EQUAL(gpus[0].process, "4711 /usr/bin/python3");
}

static void cuda_version(void)
{
    char version[16];

    gpu_cuda_version("| NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: 13.0  |",
                     version);
    CU_ASSERT_STRING_EQUAL(version, "13.0");
    gpu_cuda_version("| NVIDIA-SMI has failed", version);
    CU_ASSERT_STRING_EQUAL(version, "");
    gpu_cuda_version("CUDA Version: ", version);
    CU_ASSERT_STRING_EQUAL(version, "");
}

/* ---- Judging: a fit GPU with one thing changed ---- */

static const struct {
    GpuField field;
    const char *value, *row;
    Health health;
    const char *found;
} cases[] = {
    { GPU_NAME, "NVIDIA H200", "GPU 0", HEALTH_OK, "NVIDIA H200" },
    { GPU_CAPABILITY, "7.5", "GPU 0", HEALTH_OK, "" },
    { GPU_CAPABILITY, "7.0", "GPU 0", HEALTH_FAIL, "7.0" },
    { GPU_CAPABILITY, "10.3", "GPU 0", HEALTH_OK, "" },
    { GPU_CAPABILITY, "", "GPU 0", HEALTH_OK, "" },
    { GPU_MEMORY, "1024", "GPU 0", HEALTH_WARN, "1024 MiB" },
    { GPU_USE, "0", "GPU 0: idle", HEALTH_OK, "yes" },
    { GPU_USE, "97", "GPU 0: idle", HEALTH_FAIL, "97 %" },
    { GPU_USE, "", "GPU 0: idle", HEALTH_OK, "no process found" },
    { GPU_MEMORY_USED, "40000", "GPU 0: idle", HEALTH_WARN, "40000 MiB" },
    { GPU_COMPUTE_MODE, "Exclusive_Process", "GPU 0: compute mode", HEALTH_FAIL, "Exclusive" },
    { GPU_COMPUTE_MODE, "Prohibited", "GPU 0: compute mode", HEALTH_FAIL, "Prohibited" },
    { GPU_COMPUTE_MODE, "", "GPU 0: compute mode", HEALTH_OK, NULL },
    { GPU_PERSISTENCE, "Disabled", "GPU 0: persistence", HEALTH_WARN, "off" },
    { GPU_PERSISTENCE, "", "GPU 0: persistence", HEALTH_OK, NULL },
    { GPU_MIG, "Enabled", "GPU 0: MIG", HEALTH_WARN, "on" },
    { GPU_MIG, "Disabled", "GPU 0: MIG", HEALTH_OK, "off" },
    { GPU_ECC_ERRORS, "2", "GPU 0: ECC", HEALTH_FAIL, "2 uncorrected" },
    { GPU_ECC, "Disabled", "GPU 0: ECC", HEALTH_OK, "off" },
    { GPU_REASONS, "0x0000000000000001", "GPU 0: clocks", HEALTH_OK, "idle" },
    { GPU_REASONS, "0x0000000000000040", "GPU 0: clocks", HEALTH_WARN, "heat (hardware)" },
    { GPU_REASONS, "0x0000000000000084", "GPU 0: clocks", HEALTH_WARN, "power cap, power brake" },
    { GPU_REASONS, "", "GPU 0: clocks", HEALTH_OK, "1980 of 1980 MHz" },
    { GPU_CLOCK_SET, "1200", "GPU 0: clocks", HEALTH_WARN, "below the default of 1980" },
    { GPU_TEMPERATURE, "91", "GPU 0: temperature", HEALTH_WARN, "91" },
    { GPU_TEMPERATURE, "garbage", "GPU 0: temperature", HEALTH_OK, NULL },
    { GPU_UUID, "[GPU requires reset]", "GPU 0", HEALTH_FAIL, "requires reset" },
    { GPU_TEMPERATURE, "[Unknown Error]", "GPU 0", HEALTH_FAIL, "Unknown Error" },
};

static void one_thing_changed(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const HealthRow *row;
        parse(FIT "\n");
        PUT(gpus[0].value[cases[i].field], "%s", cases[i].value);
        all.count = 0;
        gpu_diagnose(&gpus[0], &all);
        row = row_of(cases[i].row);
        if (!cases[i].found) {
            CU_ASSERT_PTR_NULL(row);
            continue;
        }
        CU_ASSERT_PTR_NOT_NULL_FATAL(row);
        CU_ASSERT_EQUAL(row->health, cases[i].health);
        CU_ASSERT_PTR_NOT_NULL(strstr(row->found, cases[i].found));
        CU_ASSERT_EQUAL(health_worst(&all), cases[i].health); /* and all else is well */
        CU_ASSERT_EQUAL(row->advice[0] != 0, cases[i].health != HEALTH_OK);
    }
}

static void a_process_on_it(void)
{
    parse(FIT "\n");
    gpus_processes("GPU-1, 4711, a\033[31mb, 512\n", gpus, 1);
    all.count = 0;
    gpu_diagnose(&gpus[0], &all);
    CU_ASSERT_EQUAL(row_of("GPU 0: idle")->health, HEALTH_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(row_of("GPU 0: idle")->found, "4711 a?[31mb"));
}

static void nothing_known(void)
{
    memset(gpus, 0, sizeof gpus);
    PUT(gpus[0].value[GPU_INDEX], "0");
    all.count = 0;
    gpu_diagnose(&gpus[0], &all);
    CU_ASSERT_EQUAL(health_worst(&all), HEALTH_OK);
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

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        all.count = 0;
        driver_diagnose(pairs[i].driver, pairs[i].toolkit, &all);
        CU_ASSERT_EQUAL(all.count, pairs[i].rows);
        CU_ASSERT_EQUAL(health_worst(&all), pairs[i].health);
    }
}

/* ---- The machine ---- */

static void kinds_of_disk(void)
{
    CU_ASSERT_STRING_EQUAL(network_disk(0x6969), "NFS");
    CU_ASSERT_STRING_EQUAL(network_disk((int64_t) (int32_t) 0xff534d42), "CIFS");
    CU_ASSERT_PTR_NULL(network_disk(0xef53));
}

static void cgroups(void)
{
    char root[] = "/tmp/warpbook-cgroup-XXXXXX", path[200];

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
    all.count = 0;
    cgroup_diagnose(root, "0::/mine\n", &all); /* nothing is mounted */
    write_file(PUT(path, "%s/cgroup.controllers", root), "cpu memory\n", 11);
    cgroup_diagnose(root, "0::/mine\n", &all); /* no such group */
    make_folders(PUT(path, "%s/mine", root));
    write_file(PUT(path, "%s/mine/cgroup.procs", root), "", 0);
    write_file(PUT(path, "%s/mine/cgroup.controllers", root), "cpu\n", 4);
    cgroup_diagnose(root, "1:cpu:/\n0::/mine\n", &all);
    write_file(PUT(path, "%s/mine/cgroup.controllers", root), "cpu memory\n", 11);
    cgroup_diagnose(root, "1:cpu:/\n0::/mine\n", &all);
    cgroup_diagnose(root, "1:cpu:/\n", &all); /* we are in no group of version 2 */
    cgroup_diagnose(root, "", &all);
    remove_tree(root);
    CU_ASSERT_EQUAL_FATAL(all.count, 6);
    CU_ASSERT_PTR_NOT_NULL(strstr(all.list[0].found, "not mounted"));
    CU_ASSERT_PTR_NOT_NULL(strstr(all.list[1].found, "not delegated"));
    CU_ASSERT_PTR_NOT_NULL(strstr(all.list[2].found, "without memory"));
    CU_ASSERT_EQUAL(all.list[3].health, HEALTH_OK);
    CU_ASSERT_EQUAL(all.list[4].health, HEALTH_WARN);
    CU_ASSERT_EQUAL(all.list[5].health, HEALTH_WARN);
}

static void more_rows_than_fit(void)
{
    all.count = 0;
    for (int i = 0; i < HEALTH_ROWS + 10; i++)
        health_row(&all, i == 3 ? HEALTH_FAIL : HEALTH_OK, "row", "%d", i);
    CU_ASSERT_EQUAL(all.count, HEALTH_ROWS);
    CU_ASSERT_EQUAL(health_worst(&all), HEALTH_FAIL);
}

static CU_TestInfo tests[] = {
    { "one GPU", one_gpu },
    { "several, and lines that are none", several_gpus_and_other_lines },
    { "fields that were left out", fields_left_out },
    { "more GPUs than fit, and none", more_gpus_than_fit },
    { "processes", processes },
    { "the driver's CUDA version", cuda_version },
    { "a fit GPU with one thing changed", one_thing_changed },
    { "a process on it", a_process_on_it },
    { "a GPU of which nothing is known", nothing_known },
    { "driver and toolkit", driver_and_toolkit },
    { "kinds of disk", kinds_of_disk },
    { "cgroups", cgroups },
    { "more rows than fit", more_rows_than_fit },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_gradebook_doctor = { "gradebook: doctor", .pTests = tests };
