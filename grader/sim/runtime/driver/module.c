/* module.c - modules and libraries by the driver's names (library.c), and the linker. */
#include "sim/runtime/driver/driver.h"
#include "sim/runtime/library.h"

#include <stdlib.h>
#include <string.h>

static const JitOptions no_options;

static JitOptions options_of(const CUjit_option *options, void **values, unsigned count)
{
    return (JitOptions){ (const int *) options, values, count };
}

/* ---- Modules ---- */

DRIVER_CALL(cuModuleLoad, (CUmodule * module, const char *path),
            CALL(library_load_file((void **) module, path, no_options)))
DRIVER_CALL(cuModuleLoadData, (CUmodule * module, const void *image),
            CALL(library_load((void **) module, image, no_options)))
DRIVER_CALL(cuModuleLoadDataEx,
            (CUmodule * module, const void *image, unsigned count, CUjit_option *options,
             void **values),
            CALL(library_load((void **) module, image, options_of(options, values, count))))
DRIVER_CALL(cuModuleLoadFatBinary, (CUmodule * module, const void *image),
            CALL(library_load((void **) module, image, no_options)))
DRIVER_CALL(cuModuleUnload, (CUmodule module), CALL(library_unload(module)))

/* Of a module, variables of both kinds are global ones. */
static cudaError_t get_global(CUdeviceptr *address, size_t *bytes, const RtModule *module,
                              const char *name)
{
    void *pointer = NULL;
    cudaError_t error = library_variable(&pointer, bytes, module, name, false);

    if (error == cudaErrorSymbolNotFound)
        error = library_variable(&pointer, bytes, module, name, true);
    if (!error && address)
        *address = (CUdeviceptr) (uintptr_t) pointer;
    return error;
}

static cudaError_t get_loading_mode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return cudaErrorInvalidValue;
    *mode = CU_MODULE_LAZY_LOADING;
    return cudaSuccess;
}

DRIVER_CALL(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name),
            CALL(library_kernel((void **) function, library_of(module), name)))
DRIVER_CALL(cuModuleGetGlobal_v2,
            (CUdeviceptr * address, size_t *bytes, CUmodule module, const char *name),
            CALL(get_global(address, bytes, library_of(module), name)))
DRIVER_CALL(cuModuleGetFunctionCount, (unsigned *count, CUmodule module),
            CALL(library_kernel_count(count, library_of(module))))
DRIVER_CALL(cuModuleEnumerateFunctions, (CUfunction * functions, unsigned room, CUmodule module),
            CALL(library_kernels((void **) functions, room, library_of(module))))
DRIVER_CALL_ANYWHERE(cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode), get_loading_mode(mode))

/* ---- Libraries: modules that belong to no context ---- */

DRIVER_CALL_ANYWHERE(
    cuLibraryLoadData,
    (CUlibrary * library, const void *image, CUjit_option *options, void **values, unsigned count,
     CUlibraryOption *library_options, void **library_values, unsigned library_count),
    ((void) library_options, (void) library_values, (void) library_count,
     CALL(library_load((void **) library, image, options_of(options, values, count)))))
DRIVER_CALL_ANYWHERE(
    cuLibraryLoadFromFile,
    (CUlibrary * library, const char *path, CUjit_option *options, void **values, unsigned count,
     CUlibraryOption *library_options, void **library_values, unsigned library_count),
    ((void) library_options, (void) library_values, (void) library_count,
     CALL(library_load_file((void **) library, path, options_of(options, values, count)))))
DRIVER_CALL_ANYWHERE(cuLibraryUnload, (CUlibrary library), CALL(library_unload(library)))
DRIVER_CALL_ANYWHERE(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char *name),
                     CALL(library_kernel((void **) kernel, library_of(library), name)))
DRIVER_CALL_ANYWHERE(cuLibraryGetKernelCount, (unsigned *count, CUlibrary library),
                     CALL(library_kernel_count(count, library_of(library))))
DRIVER_CALL_ANYWHERE(cuLibraryEnumerateKernels,
                     (CUkernel * kernels, unsigned room, CUlibrary library),
                     CALL(library_kernels((void **) kernels, room, library_of(library))))
DRIVER_CALL(cuLibraryGetGlobal,
            (CUdeviceptr * address, size_t *bytes, CUlibrary library, const char *name),
            CALL(get_global(address, bytes, library_of(library), name)))
DRIVER_CALL_ANYWHERE(cuLibraryGetManaged,
                     (CUdeviceptr * address, size_t *bytes, CUlibrary library, const char *name),
                     CALL(library_variable((void **) address, bytes, library_of(library), name,
                                           true)))

static cudaError_t give(void **to, void *value)
{
    if (!to || !value)
        return to ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    *to = value;
    return cudaSuccess;
}

DRIVER_CALL(cuLibraryGetModule, (CUmodule * module, CUlibrary library),
            CALL(give((void **) module, library_of(library))))
DRIVER_CALL(cuKernelGetFunction, (CUfunction * function, CUkernel kernel),
            CALL(give((void **) function, handle_get(HANDLE_FUNCTION, kernel))))

/* ---- The linker: joins PTX texts, which are linked by name when the result is loaded ---- */

struct CUlinkState_st {
    char *text;
    size_t bytes;
};

static cudaError_t link_create(CUlinkState *state)
{
    CUlinkState made = state ? calloc(1, sizeof *made) : NULL;

    if (!made)
        return state ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    *state = made;
    return handle_set(HANDLE_LINK, made, made) ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t link_text(CUlinkState state, const char *text, size_t bytes)
{
    char *longer;

    bytes = strnlen(text, bytes);
    longer = realloc(state->text, state->bytes + bytes + 2);
    if (!longer)
        return cudaErrorMemoryAllocation;
    state->text = longer;
    memcpy(longer + state->bytes, text, bytes);
    state->bytes += bytes;
    longer[state->bytes++] = '\n';
    longer[state->bytes] = 0;
    return cudaSuccess;
}

static cudaError_t link_add(CUlinkState state, CUjitInputType type, const void *data, size_t bytes)
{
    if (!handle_get(HANDLE_LINK, state) || !data)
        return cudaErrorInvalidValue;
    if (type == CU_JIT_INPUT_PTX)
        return link_text(state, data, bytes);
    rt_finding(FINDING_UNKNOWN_CALL, true, "cuLinkAddData",
               "only PTX can be linked while the program runs; the call returns "
               "CUDA_ERROR_NOT_SUPPORTED");
    return cudaErrorNotSupported;
}

static cudaError_t link_file(CUlinkState state, CUjitInputType type, const char *path)
{
    size_t bytes;
    char *text = path ? read_whole(path, &bytes) : NULL;
    cudaError_t error = text ? link_add(state, type, text, bytes) : cudaErrorFileNotFound;

    free(text);
    return error;
}

static cudaError_t link_complete(CUlinkState state, void **image, size_t *bytes)
{
    if (!handle_get(HANDLE_LINK, state) || !state->text || !image)
        return cudaErrorInvalidValue;
    *image = state->text;
    if (bytes)
        *bytes = state->bytes + 1;
    return cudaSuccess;
}

static cudaError_t link_destroy(CUlinkState state)
{
    if (!handle_get(HANDLE_LINK, state))
        return cudaErrorInvalidResourceHandle;
    handle_set(HANDLE_LINK, state, NULL);
    free(state->text);
    free(state);
    return cudaSuccess;
}

DRIVER_CALL(cuLinkCreate_v2,
            (unsigned count, CUjit_option *options, void **values, CUlinkState *state),
            ((void) count, (void) options, (void) values, CALL(link_create(state))))
DRIVER_CALL(cuLinkAddData_v2,
            (CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
             unsigned count, CUjit_option *options, void **values),
            ((void) name, (void) count, (void) options, (void) values,
             CALL(link_add(state, type, data, bytes))))
DRIVER_CALL(cuLinkAddFile_v2,
            (CUlinkState state, CUjitInputType type, const char *path, unsigned count,
             CUjit_option *options, void **values),
            ((void) count, (void) options, (void) values, CALL(link_file(state, type, path))))
DRIVER_CALL(cuLinkComplete, (CUlinkState state, void **image, size_t *bytes),
            CALL(link_complete(state, image, bytes)))
DRIVER_CALL(cuLinkDestroy, (CUlinkState state), CALL(link_destroy(state)))
