/* register.c - the calls of nvcc's generated code: registration from constructors, the launch
 * configuration between <<< >>> and the stub, the handle of a kernel.
 *
 * All of this happens before main() and must be quick: it only stores pointers. The texts belong to
 * the program until it unregisters; a shared object that is closed removes its kernels.
 */
#include "sim/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

API void **__cudaRegisterFatBinary(void *wrapper);
API void __cudaRegisterFatBinaryEnd(void **handle);
API void __cudaUnregisterFatBinary(void **handle);
API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                int threads, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                                int *warp);
API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                           size_t bytes, int constant, int global);
API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                  int ext, size_t bytes, int constant, int global);
API char __cudaInitModule(void **handle);
API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);

/* ---- Modules ---- */

API void **__cudaRegisterFatBinary(void *wrapper)
{
    RtModule *module = calloc(1, sizeof *module), **last = &rt.modules;

    if (!module)
        return NULL;
    module->wrapper = wrapper;
    rt_lock();
    while (*last)
        last = &(*last)->next;
    *last = module;
    rt_unlock();
    return (void **) module;
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void) handle;
}

/* Pointers into the shared object are invalid now. */
static void forget_names(const RtModule *module)
{
    for (RtFunction *function = rt.functions; function; function = function->next)
        if (function->owner == module &&
            handle_get(HANDLE_FUNCTION, function->host) == (void *) function)
            handle_set(HANDLE_FUNCTION, function->host, NULL);
    for (RtVariable *variable = rt.variables; variable; variable = variable->next)
        if (variable->owner == module &&
            handle_get(HANDLE_VARIABLE, variable->host) == (void *) variable)
            handle_set(HANDLE_VARIABLE, variable->host, NULL);
}

/* A program's end calls this, too, and launches may not have been done: the module itself stays. */
API void __cudaUnregisterFatBinary(void **handle)
{
    RtModule *module = (RtModule *) handle;

    if (!rt_lock_at_end())
        return;
    if (module) {
        module->unregistered = true;
        forget_names(module);
    }
    rt_unlock();
}

/* ---- Functions ---- */

static RtFunction *new_function(RtModule *module, const char *host, const char *name)
{
    RtFunction *function = calloc(1, sizeof *function);
    char plain[200];

    if (!function)
        return NULL;
    plain_kernel_name(name, plain, sizeof plain);
    *function = (RtFunction){ .host = host,
                              .name = strdup(name),
                              .plain = strdup(plain),
                              .owner = module,
                              .index = -1,
                              .dynamic_shared_bytes = -1,
                              .carveout = -1 };
    if (function->name && function->plain)
        return function;
    free(function->name);
    free(function->plain);
    free(function);
    return NULL;
}

/* By its stub's address, and by the handle that __cudaGetKernel gives for it. */
API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                int threads, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                                int *warp)
{
    RtFunction *function;

    (void) device, (void) threads, (void) tid, (void) bid, (void) block, (void) grid, (void) warp;
    rt_lock();
    function = handle && name ? new_function((RtModule *) handle, host, name) : NULL;
    if (function) {
        handle_set(HANDLE_FUNCTION, host, function);
        handle_set(HANDLE_FUNCTION, function, function);
        function->next = rt.functions;
        rt.functions = function;
    }
    rt_unlock();
}

static cudaError_t get_kernel(cudaKernel_t *kernel, const void *host)
{
    RtFunction *function = handle_get(HANDLE_FUNCTION, host);

    if (!kernel)
        return cudaErrorInvalidValue;
    *kernel = (cudaKernel_t) function;
    return function ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

/* Called from static initialisers: opens nothing. */
API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    rt_lock();
    return rt_leave(get_kernel(kernel, host));
}

API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    return CALL(get_kernel(kernel, host));
}

API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *host)
{
    return CALL(get_kernel((cudaKernel_t *) function, host));
}

/* ---- Variables ---- */

static void register_variable(void **handle, const void *host, void **managed, const char *name,
                              size_t bytes)
{
    RtVariable *variable = calloc(1, sizeof *variable);

    if (!variable || !handle || !name)
        return free(variable);
    *variable = (RtVariable){ .host = host,
                              .managed = managed,
                              .name = strdup(name),
                              .owner = (RtModule *) handle,
                              .bytes = bytes };
    if (!variable->name)
        return free(variable);
    rt_lock();
    handle_set(HANDLE_VARIABLE, host, variable);
    variable->next = rt.variables;
    rt.variables = variable;
    rt_unlock();
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                           size_t bytes, int constant, int global)
{
    (void) device, (void) ext, (void) constant, (void) global;
    register_variable(handle, host, NULL, name, bytes);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                  int ext, size_t bytes, int constant, int global)
{
    (void) device, (void) ext, (void) constant, (void) global;
    register_variable(handle, host, host, name, bytes);
}

/* The host is about to use a __managed__ variable: it must have its place. */
static cudaError_t init_module(RtModule *module)
{
    cudaError_t error = module_load(module);

    for (RtVariable *v = rt.variables; v && !error; v = v->next) {
        RtVariable *found;
        uint64_t address;
        if (v->owner != module || !v->managed)
            continue;
        error = variable_find(v->host, &found, &address);
        if (!error) {
            *v->managed = (void *) (uintptr_t) address;
            handle_set(HANDLE_VARIABLE, *v->managed, v); /* &variable, as the host writes it */
        }
    }
    return error;
}

API char __cudaInitModule(void **handle)
{
    return handle && CALL(init_module((RtModule *) handle)) == cudaSuccess;
}
