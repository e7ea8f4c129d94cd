/* reason.c - why a profiler may not count, and who can change it. */
#include "learner/profile/profile.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *part; /* of ncu's output */
    ProfileRefusal refusal;
} signs[] = {
    { "ERR_NVGPUCTRPERM", PROFILE_NO_PERMISSION },
    { "profiling permission", PROFILE_NO_PERMISSION },
    { "is not supported on this device", PROFILE_TOO_OLD },
    { "driver is not compatible", PROFILE_TOO_OLD },
    { "Cuda driver is not compatible", PROFILE_TOO_OLD },
    { "Unsupported GPU", PROFILE_TOO_OLD },
    { "Driver resource was unavailable", PROFILE_BUSY },
    { "LibraryNotLoaded", PROFILE_NO_GPU },
};

ProfileRefusal profile_refusal(const char *said, int status, const ProfilePlace *place)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!strstr(said, signs[i].part))
            continue;
        if (signs[i].refusal != PROFILE_NO_PERMISSION)
            return signs[i].refusal;
        return place->wsl         ? PROFILE_IN_WSL
               : place->container ? PROFILE_IN_CONTAINER
                                  : PROFILE_NO_PERMISSION;
    }
    return status ? PROFILE_FAILED : PROFILE_FINE;
}

ProfilePlace profile_place(void)
{
    size_t bytes;
    char *version = read_file("/proc/version", 4096, &bytes);
    const ProfilePlace place = {
        .container = file_exists("/.dockerenv") || file_exists("/run/.containerenv") ||
                     getenv("container") || getenv("KUBERNETES_SERVICE_HOST"),
        .wsl = version && (strstr(version, "microsoft") || strstr(version, "Microsoft")),
    };

    free(version);
    return place;
}

static const char *const texts[] = {
    [PROFILE_NO_GPU] = "No counters: there is no usable NVIDIA GPU.\n",
    [PROFILE_NO_NCU] = "No counters: Nsight Compute (ncu) was not found.\n"
                       "It is part of the CUDA Toolkit; some systems package it separately\n"
                       "(Debian, Ubuntu: nsight-compute-*, from NVIDIA's repository).\n",
    [PROFILE_NO_PERMISSION] =
        "No counters: this user may not read them (ERR_NVGPUCTRPERM).\n"
        "An administrator of this machine can allow it for every user:\n"
        "    echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' |\n"
        "        sudo tee /etc/modprobe.d/nvidia-profiling.conf\n"
        "Then rebuild the initial ramdisk (Debian, Ubuntu: sudo update-initramfs -u;\n"
        "Fedora, RHEL: sudo dracut -f) and restart.\n",
    [PROFILE_IN_CONTAINER] =
        "No counters: this container may not read them (ERR_NVGPUCTRPERM).\n"
        "Start it with the capability: docker run --cap-add=SYS_ADMIN ... (podman: the\n"
        "same; Kubernetes: securityContext.capabilities.add: [SYS_ADMIN]), or have the\n"
        "host's administrator set, for every user and container, the module option\n"
        "    options nvidia NVreg_RestrictProfilingToAdminUsers=0\n",
    [PROFILE_IN_WSL] = "No counters: Windows does not let WSL read them (ERR_NVGPUCTRPERM).\n"
                       "In Windows, as administrator: NVIDIA Control Panel, Desktop, Enable\n"
                       "Developer Settings; then Developer, Manage GPU Performance Counters,\n"
                       "Allow access to the GPU performance counters to all users; then\n"
                       "wsl --shutdown.\n",
    [PROFILE_TOO_OLD] = "No counters: this ncu and this GPU or driver do not fit each other.\n"
                        "Install the ncu of the newest CUDA Toolkit that the driver supports.\n",
    [PROFILE_BUSY] = "No counters: another program is using them (ncu: driver resource\n"
                     "unavailable). Monitors such as DCGM do; an administrator can pause it:\n"
                     "    dcgmi profile --pause\n",
    [PROFILE_FAILED] = "No counters: ncu or the kernel failed.\n",
};

/* ncu's own lines, which begin with ==. */
static void quote(const char *said, FILE *to)
{
    char line[300];
    int left = 6;

    for (const char *at = said, *end = said + strlen(said);
         left && next_line(&at, end, line, sizeof line);)
        if (strstr(line, "ERROR") || !strncmp(line, "profiled:", 9)) {
            fprintf(to, "    %.76s\n", line);
            left--;
        }
}

void profile_explain(ProfileRefusal refusal, const char *said, FILE *to)
{
    fputs(texts[refusal], to);
    if (refusal == PROFILE_FAILED || refusal == PROFILE_TOO_OLD)
        quote(said, to);
}
