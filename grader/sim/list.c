/* list.c - `warpbook sim --list`: the described devices, with real GPUs sorted by size. */
#include "sim/list.h"
#include "base/util.h"

#include "sim/device/device.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 100 };

static int by_size(const void *a, const void *b)
{
    const Device *one = a, *two = b;

    if (one->fp32_tflops != two->fp32_tflops)
        return one->fp32_tflops < two->fp32_tflops ? -1 : 1;
    return strcmp(one->key, two->key);
}

/* Reads the descriptions; reports the errors of those that cannot be read. */
static int read_all(const char *folder, Device *devices)
{
    char pattern[4200], why[900];
    int count = 0;
    glob_t found;

    PUT(pattern, "%s/*.txt", folder);
    if (glob(pattern, 0, NULL, &found))
        return 0;
    for (size_t i = 0; i < found.gl_pathc && count < MOST_DEVICES; i++)
        if (device_read(folder, found.gl_pathv[i], &devices[count], why, sizeof why))
            count++;
        else
            fprintf(stderr, "warpbook: %s\n", why);
    globfree(&found);
    return count;
}

static void print(Device *device)
{
    char slice[16] = "";

    device_slice(device);
    if (device->slice > 1)
        PUT(slice, "1/%d", device->slice);
    printf("%-16s %-28s %4s %4d.%d %6d %8.0f %8.0f %6.2f\n", device->key, device->name, slice,
           device->cc / 10, device->cc % 10, device->sms, device->sm_mhz, device->memory_gbps,
           device->l2_bytes / (1 << 20));
}

bool sim_list(const char *folder)
{
    static Device devices[MOST_DEVICES];
    int count = read_all(folder, devices);

    if (!count) {
        fprintf(stderr, "warpbook: there are no descriptions in %s: run make first\n", folder);
        return false;
    }
    qsort(devices, (size_t) count, sizeof *devices, by_size);
    printf("%-16s %-28s %4s %6s %6s %8s %8s %6s\n", "--device", "", "part", "cc", "SMs", "MHz",
           "GB/s", "L2 MiB");
    for (int i = 0; i < count; i++)
        print(&devices[i]);
    return true;
}
