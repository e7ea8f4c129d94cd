/* module.c - loads a registered fat binary when it is first used: parses its PTX, and gives its
 * variables addresses and initial values. The code of each function is made at its first use. */
#include "sim/machine/lowering.h"
#include "sim/machine/assemble.h"
#include "sim/runtime/runtime.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The assumed resources of a kernel without machine code for the device. */
enum { USUAL_REGISTERS = 32, MOST_A_THREAD = 255 }; /* registers */

/* ---- Names ---- */

/* _Z3fooPKfi becomes foo, _ZN3foo3barEv becomes foo::bar; other names are unchanged. */
void plain_kernel_name(const char *mangled, char *text, size_t size)
{
    const char *at = mangled + 2;
    size_t used = 0;
    bool nested;

    snprintf(text, size, "%s", mangled);
    if (strncmp(mangled, "_Z", 2))
        return;
    nested = *at == 'N';
    at += nested;
    at += *at == 'L'; /* static */
    do {
        char *end;
        unsigned long length = isdigit((unsigned char) *at) ? strtoul(at, &end, 10) : 0;
        if (!length || length > strlen(end) || used + length + 3 > size)
            return;
        if (strncmp(end, "_GLOBAL__N", 10)) /* an unnamed namespace */
            used += (size_t) snprintf(text + used, size - used, "%s%.*s", used ? "::" : "",
                                      (int) length, end);
        at = end + length;
    } while (nested && isdigit((unsigned char) *at));
}

/* ---- The PTX ---- */

char *read_whole(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0, used = 0;

    while (file && !feof(file) && !ferror(file)) {
        char *larger = used + 1 >= room ? realloc(text, room = room ? 2 * room : 65536) : text;
        if (!larger)
            break;
        text = larger;
        used += fread(text + used, 1, room - used - 1, file);
    }
    if (text)
        text[used] = 0;
    if (file)
        fclose(file);
    *bytes = used;
    return text;
}

static Module *parse_override(char *why, size_t size)
{
    size_t bytes;
    char *text = read_whole(rt.settings.ptx, &bytes);
    Module *module;

    if (!text) {
        snprintf(why, size, "SIM_PTX: %.200s cannot be read", rt.settings.ptx);
        return NULL;
    }
    module = module_parse(text, bytes, why, size);
    free(text);
    return module;
}

static cudaError_t complain(const char *why, cudaError_t error)
{
    rt_finding(FINDING_MODULE, true, NULL, "%s", why);
    return error;
}

/* The device's runtime (libcudadevrt). Its calls are simulated, so it is left out. */
static bool is_device_runtime(const FatbinEntry *ptx)
{
    return strstr(ptx->bytes, "__cuda_syscall_cnpv2LaunchDeviceV2");
}

/* The PTX of all object files, one after another; module_parse() links them by name. NULL: there is
 * none. Object files without PTX hold no kernels of the program (the device's runtime library). */
static char *linked_ptx(const Fatbin *fatbin, size_t *bytes)
{
    char *text = NULL;

    *bytes = 0;
    for (int part = 0; part < fatbin->parts; part++) {
        const FatbinEntry *entry = fatbin_ptx_of(fatbin, rt.device.cc, part);
        char *longer = NULL;
        if (entry && !is_device_runtime(entry))
            longer = realloc(text, *bytes + entry->size + 2);
        if (!longer)
            continue;
        text = longer;
        memcpy(text + *bytes, entry->bytes, entry->size);
        *bytes += entry->size;
        text[(*bytes)++] = '\n';
        text[*bytes] = 0;
    }
    return text;
}

static cudaError_t parse_linked(RtModule *module)
{
    size_t bytes;
    char why[300], *text = linked_ptx(&module->fatbin, &bytes);

    if (!text)
        return complain("the program contains relocatable machine code but no PTX, which the "
                        "simulator needs. Build with: nvcc -rdc=true -gencode "
                        "arch=compute_80,code=[sm_80,compute_80]",
                        cudaErrorNoKernelImageForDevice);
    module->module = module_parse(text, bytes, why, sizeof why);
    free(text);
    return module->module ? cudaSuccess : complain(why, cudaErrorInvalidPtx);
}

static cudaError_t parse(RtModule *module)
{
    const FatbinEntry *entry;
    char why[300];

    if (module->ptx) {
        module->module = module_parse(module->ptx, strlen(module->ptx), why, sizeof why);
        return module->module ? cudaSuccess : complain(why, cudaErrorInvalidPtx);
    }
    if (!fatbin_read(module->wrapper, &module->fatbin, why, sizeof why))
        return complain(why, cudaErrorInvalidKernelImage);
    if (*rt.settings.ptx) {
        module->module = parse_override(why, sizeof why);
        return module->module ? cudaSuccess : complain(why, cudaErrorInvalidPtx);
    }
    if (module->fatbin.parts > 1)
        return parse_linked(module);
    entry = fatbin_ptx(&module->fatbin, rt.device.cc);
    if (!entry)
        return complain("the program contains machine code but no PTX, which the simulator needs. "
                        "Build with: nvcc -gencode arch=compute_80,code=[sm_80,compute_80]",
                        cudaErrorNoKernelImageForDevice);
    module->module = module_parse(entry->bytes, entry->size, why, sizeof why);
    return module->module ? cudaSuccess : complain(why, cudaErrorInvalidPtx);
}

/* ---- Its variables ---- */

static bool has_address(const Variable *variable)
{
    return (variable->space == SPACE_GLOBAL || variable->space == SPACE_CONST) &&
           variable->function < 0 && !variable->is_extern;
}

static bool place_variable(RtModule *module, int i)
{
    Variable *variable = &module->module->variables[i];
    char *name = strndup(variable->name.at, (size_t) variable->name.length);
    AllocationKind kind = variable->is_managed             ? MANAGED
                          : variable->space == SPACE_CONST ? VARIABLE_CONST
                                                           : VARIABLE_GLOBAL;
    Allocation *allocation = name ? memory_allocate(variable->size, kind, name) : NULL;

    if (!allocation)
        return false;
    module->addresses[i] = allocation->base;
    memset(allocation->host, 0, variable->size);
    if (variable->initial)
        memcpy(allocation->host, variable->initial, variable->size);
    memory_mark(allocation->base, variable->size, MARK_OK);
    return true;
}

/* Fills in the addresses of other variables and of functions in an initialised variable. */
static void relocate(const RtModule *module, int i)
{
    const Variable *variable = &module->module->variables[i];

    for (int r = 0; r < variable->relocation_count; r++) {
        const Relocation *relocation = &variable->relocations[r];
        char *host = memory_range(module->addresses[i], variable->size, true);
        uint64_t value = (uint64_t) relocation->addend;

        if (relocation->variable >= 0)
            value += module->addresses[relocation->variable];
        else if (relocation->function >= 0)
            value += FUNCTION_WINDOW + 16 * (uint64_t) relocation->function;
        if (host && relocation->size > 0 && relocation->size <= 8 &&
            relocation->offset + (size_t) relocation->size <= variable->size)
            memcpy(host + relocation->offset, &value, (size_t) relocation->size);
    }
}

static cudaError_t place_variables(RtModule *module)
{
    const Module *code = module->module;

    module->addresses = calloc((size_t) code->variable_count + 1, sizeof *module->addresses);
    if (!module->addresses)
        return cudaErrorMemoryAllocation;
    for (int i = 0; i < code->variable_count; i++)
        if (has_address(&code->variables[i]) && !place_variable(module, i))
            return complain("there is not enough device memory for the program's __device__ and "
                            "__constant__ variables",
                            cudaErrorMemoryAllocation);
    for (int i = 0; i < code->variable_count; i++)
        if (module->addresses[i])
            relocate(module, i);
    return cudaSuccess;
}

static bool launches_kernels(const Module *module)
{
    static const char begin[] = "__cudaCDP2";

    for (int i = 0; i < module->function_count; i++)
        if (!strncmp(module->functions[i].name.at, begin, sizeof begin - 1))
            return true;
    return false;
}

cudaError_t module_load(RtModule *module)
{
    if (module->loaded)
        return module->error;
    if (module->unregistered)
        return cudaErrorCudartUnloading;
    module->loaded = true;
    module->error = parse(module);
    if (!module->error) {
        module->launches = launches_kernels(module->module);
        module->error = place_variables(module);
    }
    return module->error;
}

int module_variable(const Module *module, const char *name)
{
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i].function < 0 && name_is(module->variables[i].name, name))
            return i;
    return -1;
}

cudaError_t variable_find(const void *host, RtVariable **variable, uint64_t *address)
{
    RtVariable *found = handle_get(HANDLE_VARIABLE, host);
    cudaError_t error;
    int index;

    if (!found)
        return cudaErrorInvalidSymbol;
    error = module_load(found->owner);
    if (error)
        return error;
    index = module_variable(found->owner->module, found->name);
    if (index < 0 || !found->owner->addresses[index])
        return cudaErrorInvalidSymbol;
    *variable = found;
    *address = found->owner->addresses[index];
    return cudaSuccess;
}

/* ---- Its functions ---- */

cudaError_t function_find(const void *host, RtFunction **function)
{
    RtFunction *found = handle_get(HANDLE_FUNCTION, host);
    cudaError_t error;

    if (!found)
        return cudaErrorInvalidResourceHandle;
    error = module_load(found->owner);
    if (error)
        return error;
    found->index = module_find(found->owner->module, found->name);
    if (found->index < 0 || !found->owner->module->functions[found->index].is_entry)
        return cudaErrorInvalidDeviceFunction;
    *function = found;
    return cudaSuccess;
}

/* Makes the machine code that the program lacks. Relocatable code would have to be linked, too. */
static bool assemble_once(RtModule *module)
{
    const FatbinEntry *entry = fatbin_ptx(&module->fatbin, rt.device.cc);

    if (module->assembled || !entry || module->fatbin.parts > 1 || *rt.settings.ptx ||
        !*rt.settings.ptxas)
        return false;
    module->assembled = true;
    return assemble(&module->fatbin, entry, rt.device.cc, rt.settings.ptxas,
                    rt.settings.ptxas_cache);
}

cudaError_t function_prepare(RtFunction *function)
{
    RtModule *owner = function->owner;
    char why[300];

    if (function->code)
        return cudaSuccess;
    function->code = code_make(owner->module, function->index, owner->addresses, why, sizeof why);
    if (!function->code) {
        rt_finding(FINDING_MODULE, true, function->plain, "%s", why);
        return cudaErrorInvalidPtx;
    }
    function->lowering = lowering_make(&owner->fatbin, rt.device.cc, owner->module, function->name);
    if (!function->lowering && assemble_once(owner))
        function->lowering =
            lowering_make(&owner->fatbin, rt.device.cc, owner->module, function->name);
    function->has_resources =
        fatbin_resources(&owner->fatbin, rt.device.cc, function->name, &function->resources);
    return cudaSuccess;
}

/* ---- cudaDeviceReset: everything is reloaded later, since codes contain addresses ---- */

static void unload_function(RtFunction *function)
{
    const Module *module = function->owner->module;

    for (int i = 0; function->codes && i < module->function_count; i++)
        code_free(function->codes[i]);
    free(function->codes);
    code_free(function->code);
    lowering_free(function->lowering);
    function->lowering = NULL;
    function->codes = NULL;
    function->code = NULL;
}

static void unload(RtModule *module)
{
    fatbin_free(&module->fatbin);
    module_free(module->module);
    free(module->addresses);
    module->module = NULL;
    module->addresses = NULL;
    module->loaded = module->assembled = false;
}

void modules_unload(void)
{
    for (RtFunction *function = rt.functions; function; function = function->next)
        if (function->code)
            unload_function(function);
    for (RtModule *module = rt.modules; module; module = module->next)
        if (module->loaded)
            unload(module);
}

/* ---- Resources ---- */

int function_registers(const RtFunction *function)
{
    return function->has_resources ? function->resources.registers : USUAL_REGISTERS;
}

Occupancy function_occupancy(const RtFunction *function, int threads, size_t dynamic_bytes)
{
    return device_occupancy(&rt.device, function_registers(function), threads,
                            (size_t) function->code->static_shared_bytes + dynamic_bytes);
}

/* PTX has no spills; machine code has them (sim/machine/lowered.h). Where it is unknown, a kernel
 * whose launch bounds force many spills would get the occupancy of few registers without the cost
 * of spilling, so its spilled registers are added back. ptxas spills a few registers where that
 * costs little: an eighth is not added. */
static int unspilled_registers(const RtFunction *function)
{
    const int registers = function_registers(function);
    const int spilled =
        (function->resources.frame_bytes - function->code->local_bytes) / 4 - registers / 8;

    return function->has_resources && !function->lowering && spilled > 0 ? registers + spilled
                                                                         : registers;
}

Occupancy function_unspilled(const RtFunction *function, int threads, size_t dynamic_bytes)
{
    const size_t shared = (size_t) function->code->static_shared_bytes + dynamic_bytes;
    int registers = unspilled_registers(function);

    registers = registers < MOST_A_THREAD ? registers : MOST_A_THREAD;
    while (registers > function_registers(function) &&
           !device_occupancy(&rt.device, registers, threads, shared).blocks_per_sm)
        registers--;
    return device_occupancy(&rt.device, registers, threads, shared);
}

/* The maximum number of threads per block: from the launch bounds, else from the registers, in
 * whole warps. */
int function_most_threads(const RtFunction *function)
{
    const Function *f = &function->owner->module->functions[function->index];
    const int *bounds = f->required_threads[0] ? f->required_threads : f->most_threads;
    int most = rt.device.threads_per_block;

    if (bounds[0]) {
        int64_t threads = bounds[0];
        for (int i = 1; i < 3; i++)
            threads *= bounds[i] ? bounds[i] : 1;
        most = threads < most ? (int) threads : most;
    }
    while (most > LANES &&
           !device_occupancy(&rt.device, function_registers(function), most, 0).blocks_per_sm)
        most = (most - 1) / LANES * LANES;
    return most;
}

int function_most_dynamic(const RtFunction *function)
{
    int most = rt.device.shared_per_block_bytes - function->code->static_shared_bytes;

    if (function->dynamic_shared_bytes >= 0)
        return function->dynamic_shared_bytes;
    return most > 0 ? most : 0;
}
