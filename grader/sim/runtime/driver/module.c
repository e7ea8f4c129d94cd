/* module.c - modules, and the libraries that are the newer name for them: PTX texts and fat
 * binaries that a program loads while it runs.
 */
#include "sim/runtime/driver/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- Images ---- */

/* __fatBinC_Wrapper_t, around an image that begins with a fat binary's header. */
typedef struct ImageWrapper {
    uint32_t magic, version;
    const void *data;
    const void *parts;
} ImageWrapper;

#define WRAPPER_MAGIC 0x466243B1u
#define FATBIN_MAGIC  0xBA55ED50u

static uint32_t magic_of(const void *image)
{
    uint32_t magic;

    memcpy(&magic, image, sizeof magic);
    return magic;
}

static cudaError_t refuse_cubin(void)
{
    rt_finding(FINDING_MODULE, true, NULL,
               "the program loads a cubin, which is machine code; the simulator needs PTX. Build "
               "it with nvcc -ptx or -fatbin, or give NVRTC a virtual architecture (compute_80)");
    return cudaErrorNoKernelImageForDevice;
}

static RtModule *new_module(void)
{
    RtModule *module = calloc(1, sizeof *module), **last = &rt.modules;

    if (!module)
        return NULL;
    while (*last)
        last = &(*last)->next;
    *last = module;
    return module;
}

/* The image is only valid during the call, so the module is loaded at once. */
static cudaError_t load_image(RtModule *module, const void *image)
{
    ImageWrapper wrapper = { WRAPPER_MAGIC, 1, image, NULL };
    cudaError_t error;

    if (magic_of(image) == FATBIN_MAGIC)
        module->wrapper = &wrapper;
    else if (magic_of(image) == WRAPPER_MAGIC)
        module->wrapper = image;
    else if (!(module->ptx = strdup(image)))
        return cudaErrorMemoryAllocation;
    error = module_load(module);
    module->wrapper = NULL;
    return error;
}

static cudaError_t load(CUmodule *handle, const void *image)
{
    RtModule *module;
    cudaError_t error;

    if (!handle || !image)
        return cudaErrorInvalidValue;
    if (!memcmp(image, "\177ELF", 4))
        return refuse_cubin();
    module = new_module();
    if (!module)
        return cudaErrorMemoryAllocation;
    error = load_image(module, image);
    if (!error && !handle_set(HANDLE_MODULE, module, module))
        error = cudaErrorMemoryAllocation;
    if (error)
        module_forget(module);
    else
        *handle = (CUmodule) module;
    return error;
}

static cudaError_t load_file(CUmodule *handle, const char *path)
{
    size_t bytes;
    char *image = path ? read_whole(path, &bytes) : NULL;
    cudaError_t error;

    if (!path)
        return cudaErrorInvalidValue;
    if (!image || bytes < sizeof(uint32_t)) {
        free(image);
        return image ? cudaErrorInvalidKernelImage : cudaErrorFileNotFound;
    }
    error = load(handle, image);
    free(image);
    return error;
}

/* ---- Options of the just-in-time compiler: only its logs have an effect ---- */

static void write_log(unsigned count, const CUjit_option *options, void **values,
                      CUjit_option buffer, CUjit_option size, const char *text)
{
    char *to = NULL;
    size_t room = 0;

    for (unsigned i = 0; i < count; i++) {
        if (options[i] == buffer)
            to = values[i];
        if (options[i] == size) {
            room = (unsigned) (uintptr_t) values[i];
            values[i] = (void *) (uintptr_t) (to && room ? strlen(text) + 1 : 0);
        }
    }
    if (to && room) {
        strncpy(to, text, room - 1);
        to[room - 1] = 0;
    }
}

static cudaError_t load_with_options(CUmodule *handle, const void *image, unsigned count,
                                     const CUjit_option *options, void **values)
{
    const int before = finding_count();
    cudaError_t error;

    if (count && (!options || !values))
        return cudaErrorInvalidValue;
    error = load(handle, image);
    write_log(count, options, values, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
              "");
    write_log(count, options, values, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
              finding_count() > before ? finding_at(finding_count() - 1)->text : "");
    return error;
}

static RtModule *module_of(CUmodule handle)
{
    return handle_get(HANDLE_MODULE, handle);
}

static cudaError_t unload(CUmodule handle)
{
    RtModule *module = module_of(handle);
    cudaError_t error;

    if (!module)
        return cudaErrorInvalidResourceHandle;
    error = finish_all(); /* launches may still be queued */
    handle_set(HANDLE_MODULE, module, NULL);
    for (int i = 0; module->module && i < module->module->variable_count; i++)
        if (module->addresses[i])
            memory_free(module->addresses[i]);
    module_forget(module);
    return error;
}

DRIVER_CALL(cuModuleLoad, (CUmodule * module, const char *path), CALL(load_file(module, path)))
DRIVER_CALL(cuModuleLoadData, (CUmodule * module, const void *image), CALL(load(module, image)))
DRIVER_CALL(cuModuleLoadDataEx,
            (CUmodule * module, const void *image, unsigned count, CUjit_option *options,
             void **values),
            CALL(load_with_options(module, image, count, options, values)))
DRIVER_CALL(cuModuleLoadFatBinary, (CUmodule * module, const void *image),
            CALL(load(module, image)))
DRIVER_CALL(cuModuleUnload, (CUmodule module), CALL(unload(module)))

/* ---- Kernels and variables ---- */

/* The kernel of this name; made at its first use. */
static RtFunction *function_named(RtModule *module, const char *name)
{
    for (RtFunction *function = rt.functions; function; function = function->next)
        if (function->owner == module && !strcmp(function->name, name))
            return function;
    return function_add(module, NULL, name);
}

static cudaError_t get_function(void **handle, RtModule *module, const char *name)
{
    int index;
    RtFunction *function;

    if (!handle || !name || !module)
        return module ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    index = module_find(module->module, name);
    if (index < 0 || !module->module->functions[index].is_entry)
        return cudaErrorSymbolNotFound;
    function = function_named(module, name);
    *handle = function;
    return function ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t get_global(CUdeviceptr *address, size_t *bytes, const RtModule *module,
                              const char *name)
{
    int index;

    if (!name || !module)
        return module ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    index = module_variable(module->module, name);
    if (index < 0 || !module->addresses[index])
        return cudaErrorSymbolNotFound;
    if (address)
        *address = module->addresses[index];
    if (bytes)
        *bytes = module->module->variables[index].size;
    return cudaSuccess;
}

static cudaError_t count_functions(unsigned *count, const RtModule *module)
{
    if (!count || !module)
        return cudaErrorInvalidValue;
    *count = 0;
    for (int i = 0; i < module->module->function_count; i++)
        *count += module->module->functions[i].is_entry;
    return cudaSuccess;
}

static cudaError_t get_loading_mode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return cudaErrorInvalidValue;
    *mode = CU_MODULE_LAZY_LOADING;
    return cudaSuccess;
}

DRIVER_CALL(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name),
            CALL(get_function((void **) function, module_of(module), name)))
DRIVER_CALL(cuModuleGetGlobal_v2,
            (CUdeviceptr * address, size_t *bytes, CUmodule module, const char *name),
            CALL(get_global(address, bytes, module_of(module), name)))
DRIVER_CALL(cuModuleGetFunctionCount, (unsigned *count, CUmodule module),
            CALL(count_functions(count, module_of(module))))
DRIVER_CALL_ANYWHERE(cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode), get_loading_mode(mode))

/* ---- Libraries: modules that belong to no context ---- */

DRIVER_CALL_ANYWHERE(cuLibraryLoadData,
                     (CUlibrary * library, const void *image, CUjit_option *options, void **values,
                      unsigned count, CUlibraryOption *library_options, void **library_values,
                      unsigned library_count),
                     ((void) library_options, (void) library_values, (void) library_count,
                      CALL(load_with_options((CUmodule *) library, image, count, options, values))))
DRIVER_CALL_ANYWHERE(cuLibraryLoadFromFile,
                     (CUlibrary * library, const char *path, CUjit_option *options, void **values,
                      unsigned count, CUlibraryOption *library_options, void **library_values,
                      unsigned library_count),
                     ((void) options, (void) values, (void) count, (void) library_options,
                      (void) library_values, (void) library_count,
                      CALL(load_file((CUmodule *) library, path))))
DRIVER_CALL_ANYWHERE(cuLibraryUnload, (CUlibrary library), CALL(unload((CUmodule) library)))
DRIVER_CALL_ANYWHERE(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char *name),
                     CALL(get_function((void **) kernel, module_of((CUmodule) library), name)))
DRIVER_CALL(cuLibraryGetGlobal,
            (CUdeviceptr * address, size_t *bytes, CUlibrary library, const char *name),
            CALL(get_global(address, bytes, module_of((CUmodule) library), name)))

static cudaError_t give(void **to, void *value)
{
    if (!to || !value)
        return to ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    *to = value;
    return cudaSuccess;
}

DRIVER_CALL(cuLibraryGetModule, (CUmodule * module, CUlibrary library),
            CALL(give((void **) module, module_of((CUmodule) library))))
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
