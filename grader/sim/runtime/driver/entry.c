/* entry.c - the addresses of calls by name, and the names of results. */
#include "sim/runtime/driver/driver.h"
#include "sim/runtime/program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- Addresses ---- */

static void *find(const char *name, const char *version, const char *thread)
{
    char whole[200];

    snprintf(whole, sizeof whole, "%.150s%s%s", name, version, thread);
    return dlsym(own_library(), whole);
}

/* Programs give the name of the header, and get the newest version of the call: cuMemAlloc is
 * cuMemAlloc_v2. `versions`: how many of the newest ones to skip, in order. */
static void *newest(const char *name, bool per_thread, int skip)
{
    static const char *const versions[] = { "_v4", "_v3", "_v2", "" };
    static const char *const threads[] = { "_ptsz", "_ptds", "" };

    for (size_t v = (size_t) skip; v < sizeof versions / sizeof *versions; v++)
        for (size_t t = per_thread ? 0 : 2; t < sizeof threads / sizeof *threads; t++) {
            void *found = find(name, versions[v], threads[t]);
            if (found)
                return found;
        }
    return NULL;
}

void *entry_find(const char *name, int version, bool per_thread)
{
    if (!own_library())
        return NULL;
    if (!strcmp(name, "cuCtxCreate"))
        return newest(name, false, version >= 12050 ? 0 : version >= 11040 ? 1 : 2);
    if (!strcmp(name, "cuGetProcAddress"))
        return newest(name, false, version >= 12000 ? 0 : 3);
    if (!strcmp(name, "cuMemPrefetchAsync") || !strcmp(name, "cuMemAdvise"))
        return newest(name, per_thread, version >= 12020 ? 0 : 3);
    return newest(name, per_thread, 0);
}

static cudaError_t get_address(const char *name, void **address, int version, cuuint64_t flags,
                               CUdriverProcAddressQueryResult *result)
{
    const bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

    if (!name || !address)
        return cudaErrorInvalidValue;
    *address = entry_find(name, version, per_thread);
    if (result)
        *result = *address ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *address ? cudaSuccess : cudaErrorSymbolNotFound;
}

#undef cuGetProcAddress
API CUresult CUDAAPI cuGetProcAddress(const char *name, void **address, int version,
                                      cuuint64_t flags);
API CUresult CUDAAPI cuGetProcAddress(const char *name, void **address, int version,
                                      cuuint64_t flags)
{
    return driver_result(get_address(name, address, version, flags, NULL));
}

API CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **address, int version,
                                         cuuint64_t flags, CUdriverProcAddressQueryResult *result)
{
    return driver_result(get_address(name, address, version, flags, result));
}

/* ---- The same, asked through the runtime ---- */

static cudaError_t get_entry(const char *name, void **address, int version,
                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *result,
                             bool per_thread)
{
    const bool legacy = flags & cudaEnableLegacyStream;
    const bool own = !legacy && (per_thread || flags & cudaEnablePerThreadDefaultStream);

    if (!name || !address)
        return cudaErrorInvalidValue;
    *address = entry_find(name, version, own);
    if (result)
        *result = *address ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

API cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **address, unsigned version,
                                                 unsigned long long flags,
                                                 enum cudaDriverEntryPointQueryResult *result)
{
    return CALL_ALWAYS(get_entry(name, address, (int) version, flags, result, false));
}

#undef cudaGetDriverEntryPointByVersion
#undef cudaGetDriverEntryPoint
#define ENTRY_POINT(call, per_thread)                                                              \
    API cudaError_t call(const char *name, void **address, unsigned long long flags,               \
                         enum cudaDriverEntryPointQueryResult *result);                            \
    API cudaError_t call(const char *name, void **address, unsigned long long flags,               \
                         enum cudaDriverEntryPointQueryResult *result)                             \
    {                                                                                              \
        return CALL_ALWAYS(get_entry(name, address, CUDA_VERSION, flags, result, per_thread));     \
    }
ENTRY_POINT(cudaGetDriverEntryPoint, false)
ENTRY_POINT(cudaGetDriverEntryPoint_ptsz, true)

API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **address,
                                                      unsigned version, unsigned long long flags,
                                                      enum cudaDriverEntryPointQueryResult *result);
API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **address,
                                                      unsigned version, unsigned long long flags,
                                                      enum cudaDriverEntryPointQueryResult *result)
{
    return CALL_ALWAYS(get_entry(name, address, (int) version, flags, result, true));
}

/* ---- Names of results ---- */

static const char *name_of(CUresult result)
{
    switch ((int) result) {
#define RESULT(code, name)                                                                         \
    case code:                                                                                     \
        return #name;
#include "sim/runtime/driver/results.def"
#undef RESULT
    default:
        return NULL;
    }
}

API CUresult CUDAAPI cuGetErrorName(CUresult result, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = name_of(result);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Most results are errors of the runtime, too, with the same sentence. */
API CUresult CUDAAPI cuGetErrorString(CUresult result, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = name_of(result) ? cudaGetErrorString((cudaError_t) result) : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Tables that only NVIDIA's libraries know ---- */

/* A static runtime in a library asks for such tables first. NVRTC does without them. */
static cudaError_t refuse_table(const char *file)
{
    if (strstr(file, "libnvrtc"))
        return cudaErrorNotSupported;
    if (strstr(file, "/libcu") || strstr(file, "/libnv"))
        rt_finding(FINDING_UNKNOWN_CALL, true, NULL,
                   "%s asks the driver for functions that are not documented, and so not simulated",
                   file);
    else
        rt_finding(FINDING_UNKNOWN_CALL, true, NULL,
                   "%s contains a CUDA runtime that cannot be replaced once the program runs: link "
                   "it with nvcc -cudart shared",
                   file);
    return cudaErrorNotSupported;
}

API CUresult CUDAAPI cuGetExportTable(const void **table, const CUuuid *id)
{
    Dl_info caller;
    (void) table;
    (void) id;

    return driver_result(refuse_table(
        dladdr(__builtin_return_address(0), &caller) && caller.dli_fname ? caller.dli_fname : ""));
}
