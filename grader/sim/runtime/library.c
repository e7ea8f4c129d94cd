/* library.c - PTX texts and fat binaries that a program loads while it runs (cudaLibraryLoadData
 * and the driver's modules). Their kernels are launched like any other. */
#include "sim/runtime/library.h"

#include <stdlib.h>
#include <string.h>

/* ---- Images ---- */

/* __fatBinC_Wrapper_t, around an image that begins with a fat binary's header. */
typedef struct ImageWrapper {
    uint32_t magic, version;
    const void *data;
    const void *parts;
} ImageWrapper;

typedef struct ImageHeader {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
} ImageHeader;

#define WRAPPER_MAGIC 0x466243B1u

static const char of_fatbin[] = "\x50\xed\x55\xba", of_wrapper[] = "\xb1\x43\x62\x46",
                  of_elf[] = "\177ELF";

/* An image may be as short as an empty text. */
static bool begins_with(const void *image, const char *magic)
{
    return !strncmp(image, magic, 4);
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

    if (begins_with(image, of_fatbin))
        module->wrapper = &wrapper;
    else if (begins_with(image, of_wrapper))
        module->wrapper = image;
    else if (!(module->ptx = strdup(image)))
        return cudaErrorMemoryAllocation;
    error = module_load(module);
    module->wrapper = NULL;
    return error;
}

static cudaError_t load(void **handle, const void *image)
{
    RtModule *module;
    cudaError_t error;

    if (!handle || !image)
        return cudaErrorInvalidValue;
    if (begins_with(image, of_elf))
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
        *handle = module;
    return error;
}

/* Whether an image of known size is as long as it says. The addresses in a wrapper are those of
 * another process. */
static bool is_whole(const char *image, size_t bytes)
{
    ImageHeader header;

    if (begins_with(image, of_wrapper))
        return false;
    if (!begins_with(image, of_fatbin))
        return bytes;
    if (bytes < sizeof header)
        return false;
    memcpy(&header, image, sizeof header);
    return header.header_bytes <= bytes && header.bytes <= bytes - header.header_bytes;
}

/* ---- Options of the just-in-time compiler: only its logs have an effect ---- */

enum { INFO_LOG = 3, ERROR_LOG = 5 }; /* the option after each of them is the log's size */

static void write_log(JitOptions options, int log, const char *text)
{
    char *to = NULL;
    size_t room = 0;

    for (unsigned i = 0; i < options.count; i++) {
        if (options.ids[i] == log)
            to = options.values[i];
        if (options.ids[i] == log + 1) {
            room = (unsigned) (uintptr_t) options.values[i];
            options.values[i] = (void *) (uintptr_t) (to && room ? strlen(text) + 1 : 0);
        }
    }
    if (to && room) {
        strncpy(to, text, room - 1);
        to[room - 1] = 0;
    }
}

cudaError_t library_load(void **handle, const void *image, JitOptions options)
{
    const int before = finding_count();
    cudaError_t error;

    if (options.count && (!options.ids || !options.values))
        return cudaErrorInvalidValue;
    error = load(handle, image);
    write_log(options, INFO_LOG, "");
    write_log(options, ERROR_LOG,
              finding_count() > before ? finding_at(finding_count() - 1)->text : "");
    return error;
}

cudaError_t library_load_file(void **handle, const char *path, JitOptions options)
{
    size_t bytes;
    char *image = path ? read_whole(path, &bytes) : NULL;
    cudaError_t error;

    if (!path || !handle)
        error = cudaErrorInvalidValue;
    else if (!image)
        error = cudaErrorFileNotFound;
    else if (!is_whole(image, bytes))
        error = cudaErrorInvalidKernelImage;
    else
        error = library_load(handle, image, options);
    free(image);
    return error;
}

/* ---- Libraries ---- */

RtModule *library_of(const void *handle)
{
    return handle_get(HANDLE_MODULE, handle);
}

cudaError_t library_unload(const void *handle)
{
    RtModule *module = library_of(handle);
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

/* After a reset of the device, PTX is loaded again; a fat binary no longer exists. */
static cudaError_t loaded(RtModule *library)
{
    return library ? module_load(library) : cudaErrorInvalidResourceHandle;
}

/* The kernel of this name; made at its first use. */
static RtFunction *function_named(RtModule *module, const char *name)
{
    for (RtFunction *function = rt.functions; function; function = function->next)
        if (function->owner == module && !strcmp(function->name, name))
            return function;
    return function_add(module, NULL, name);
}

cudaError_t library_kernel(void **kernel, RtModule *library, const char *name)
{
    const cudaError_t error = loaded(library);
    int index;

    if (error || !kernel || !name)
        return error ? error : cudaErrorInvalidValue;
    index = module_find(library->module, name);
    if (index < 0 || !library->module->functions[index].is_entry)
        return cudaErrorSymbolNotFound;
    *kernel = function_named(library, name);
    return *kernel ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t library_kernel_count(unsigned *count, const RtModule *library)
{
    if (!count || !library)
        return library ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *count = 0;
    for (int i = 0; library->module && i < library->module->function_count; i++)
        *count += library->module->functions[i].is_entry;
    return cudaSuccess;
}

static cudaError_t kernel_at(void **kernel, RtModule *library, const Name *of)
{
    char *name = strndup(of->at, (size_t) of->length);
    const cudaError_t error =
        name ? library_kernel(kernel, library, name) : cudaErrorMemoryAllocation;

    free(name);
    return error;
}

cudaError_t library_kernels(void **kernels, unsigned room, RtModule *library)
{
    cudaError_t error = loaded(library);
    unsigned count = 0;

    if (!error && room && !kernels)
        error = cudaErrorInvalidValue;
    for (int i = 0; !error && i < library->module->function_count && count < room; i++)
        if (library->module->functions[i].is_entry)
            error = kernel_at(&kernels[count++], library, &library->module->functions[i].name);
    return error;
}

cudaError_t library_variable(void **address, size_t *bytes, const RtModule *library,
                             const char *name, bool managed)
{
    int index;

    if (!name || !library)
        return library ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    index = library->module ? module_variable(library->module, name) : -1;
    if (index < 0 || !library->addresses[index] ||
        library->module->variables[index].is_managed != managed)
        return cudaErrorSymbolNotFound;
    if (address)
        *address = (void *) (uintptr_t) library->addresses[index];
    if (bytes)
        *bytes = library->module->variables[index].size;
    return cudaSuccess;
}

/* ---- The calls, which CUDA 13 has added to the runtime ---- */

#if CUDART_VERSION >= 13000

static cudaError_t variable(void **address, size_t *bytes, cudaLibrary_t library, const char *name,
                            bool managed)
{
    if (!address && !bytes)
        return cudaErrorInvalidValue;
    return library_variable(address, bytes, library_of(library), name, managed);
}

/* Options of libraries are about the memory that an image takes. */
static cudaError_t check_options(const enum cudaLibraryOption *options, unsigned count)
{
    return count && !options ? cudaErrorInvalidValue : cudaSuccess;
}

API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *image,
                                    enum cudaJitOption *options, void **values, unsigned count,
                                    enum cudaLibraryOption *library_options, void **library_values,
                                    unsigned library_count)
{
    const JitOptions jit = { (const int *) options, values, count };

    (void) library_values;
    return CALL(check_options(library_options, library_count)
                    ? cudaErrorInvalidValue
                    : library_load((void **) library, image, jit));
}

API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                        enum cudaJitOption *options, void **values, unsigned count,
                                        enum cudaLibraryOption *library_options,
                                        void **library_values, unsigned library_count)
{
    const JitOptions jit = { (const int *) options, values, count };

    (void) library_values;
    return CALL(check_options(library_options, library_count)
                    ? cudaErrorInvalidValue
                    : library_load_file((void **) library, path, jit));
}

API cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return CALL(library_unload(library));
}

API cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    return CALL(library_kernel((void **) kernel, library_of(library), name));
}

API cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    return CALL(library_kernel_count(count, library_of(library)));
}

API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned room,
                                            cudaLibrary_t library)
{
    return CALL(library_kernels((void **) kernels, room, library_of(library)));
}

API cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library,
                                     const char *name)
{
    return CALL(variable(address, bytes, library, name, false));
}

API cudaError_t cudaLibraryGetManaged(void **address, size_t *bytes, cudaLibrary_t library,
                                      const char *name)
{
    return CALL(variable(address, bytes, library, name, true));
}

#endif
