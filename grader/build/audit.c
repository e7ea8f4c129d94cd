/* audit.c - what a submission's object file may use: an allow-list of symbols.
 *
 * The audit reads readelf's listing of the object: the sections show whether anything runs at load
 * time, the symbols what the object calls and defines. Every symbol that is not in the list is
 * refused; the table of refusals only gives better reasons for the frequent ones.
 */
#include "build/audit.h"
#include "base/util.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What every kernel.cu may link to: words between blanks ---- */

static const char *const allowed[] = {
    /* What nvcc 12 and 13 write for kernels, launches and __device__ variables. */
    "__cudaRegisterFatBinary __cudaRegisterFatBinaryEnd __cudaUnregisterFatBinary",
    "__cudaRegisterFunction __cudaRegisterVar __cudaInitModule __cudaGetKernel __cudaLaunchKernel",
    "__cudaPushCallConfiguration __cudaPopCallConfiguration cudaLaunchKernel",
    /* On the host, it makes of each __device__ function a body that calls this. */
    "exit",
    /* What the C++ compiler writes. */
    "atexit __cxa_atexit __dso_handle _GLOBAL_OFFSET_TABLE_ __stack_chk_fail _Unwind_Resume",
    "__gxx_personality_v0 __cxa_guard_acquire __cxa_guard_release __cxa_guard_abort",
    "__cxa_begin_catch __cxa_end_catch _ZSt9terminatev",
    /* CUDA calls about launches. */
    "cudaGetLastError cudaPeekAtLastError cudaGetErrorString cudaGetErrorName cudaGetDevice",
    "cudaDeviceGetAttribute cudaFuncSetAttribute cudaFuncGetAttributes cudaFuncSetCacheConfig",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaLaunchKernelExC cudaLaunchCooperativeKernel",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    /* Printing and stopping. */
    "printf puts putchar fprintf fputs fputc putc fwrite fflush snprintf stdout stderr abort",
    "__printf_chk __fprintf_chk __snprintf_chk __assert_fail",
    /* Memory of the host. */
    "memcpy memset memmove memcmp strlen __memcpy_chk __memset_chk __memmove_chk",
    /* Mathematics. */
    "sqrt sqrtf ceil ceilf floor floorf round roundf fabs fabsf fmin fminf fmax fmaxf fmod fmodf",
    "log2 log2f log logf exp expf exp2 exp2f pow powf",
};

/* ---- Refusals: the first row that fits gives the reason; a * stands for any end ---- */

static const struct Refusal {
    const char *names, *why;
} refusals[] = {
    /* _Zn, _Zd: operators new and delete */
    { "cudaMalloc* cudaFree* cudaHost* cudaMemPool* malloc calloc realloc free aligned_alloc "
      "posix_memalign _Zn* _Zd*",
      "kernel.cu must not allocate memory: a lab that needs work memory passes it as an argument" },
    { "cudaMem*", "the data is already on the device, and a kernel can clear memory" },
    { "cudaDeviceSynchronize cudaThreadSynchronize cudaStreamSynchronize cudaStreamWaitEvent "
      "cudaStreamQuery cudaEvent* clock clock_gettime time gettimeofday nanosleep usleep sleep "
      "_ZNSt6chrono*",
      "the grader times and synchronises: launch your kernel and return" },
    { "cudaStream* cudaGraph* cudaLaunchHostFunc",
      "launch into the default stream, which the grader times" },
    { "cudaGetDeviceProperties*",
      "cudaDeviceGetAttribute returns a single property, is fast, and is allowed" },
    { "cudaSetDevice* cudaDeviceSet* cudaDeviceReset cudaCtx*",
      "only the grader changes the device and its settings" },
    { "__cudaRegisterManaged*", "a lab works on device memory, not on __managed__ variables" },
    { "fork vfork clone execv* execl* posix_spawn* system popen _exit _Exit quick_exit kill "
      "raise signal sigaction syscall ptrace socket mmap mmap64 mprotect getenv pthread_* "
      "_ZNSt6thread*",
      "kernel.cu launches kernels; it must not start or stop processes or call the operating "
      "system" },
    { "dlopen dlsym dlvsym dlmopen dladdr dl_iterate_phdr cudaGetDriverEntryPoint* cudaLibrary* "
      "nvrtc*",
      "kernel.cu must not load other code" },
    { "open open64 openat fopen fopen64 fclose read write fread fscanf scanf __isoc99_scanf",
      "kernel.cu must not read or write files; use printf to look at values" },
    { "_ZSt4cout _ZSt4cerr _ZNSo* _ZNSt8ios_base*", "use printf to look at values" },
    { "cublas* cufft* curand* cusparse* cusolver* cutensor* cudnn*",
      "the task is to write this kernel, not to call a library" },
    { "__cxa_throw __cxa_allocate_exception", "the grader does not catch exceptions" },
    { "cuda*", "this lab does not allow that CUDA call" },
    { "__cuda*", "this lab does not allow that CUDA feature" },
};

/* ---- Names ---- */

static bool is_allowed(const char *name, const Lab *lab)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (is_in(allowed[i], name))
            return true;
    for (int i = 0; i < LAB_SYMBOLS && lab->symbols[i]; i++)
        if (!strcmp(name, lab->symbols[i]))
            return true;
    return false;
}

/* CUDA's own names: cudaX, __cudaX, cuX. */
static bool is_cudas(const char *name)
{
    return !strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6) ||
           (!strncmp(name, "cu", 2) && isupper((unsigned char) name[2]));
}

/* A C++ name as in the source, without the arguments: _ZN3foo3barEi is foo::bar, _Z3fooi is foo.
 * More complicated names are not changed. */
static const char *plain_name(const char *name, char *text, size_t size)
{
    const char *at = name + 2;
    bool nested;

    if (strncmp(name, "_Z", 2))
        return name;
    if (!strncmp(name, "_Zn", 3) || !strncmp(name, "_Zd", 3))
        return name[2] == 'n' ? "operator new" : "operator delete";
    text[0] = 0;
    nested = *at == 'N';
    at += nested;
    at += *at == 'K'; /* a const member */
    at += *at == 'L'; /* a static one */
    if (!strncmp(at, "St", 2)) {
        put(text, size, "std");
        at += 2;
    }
    do {
        char *end;
        unsigned long length = isdigit((unsigned char) *at) ? strtoul(at, &end, 10) : 0;
        if (!length || length > strlen(end))
            break;
        append(text, size, "%s%.*s", text[0] ? "::" : "", (int) length, end);
        at = end + length;
    } while (nested || !strncmp(name, "_ZSt", 4));
    return text[0] ? text : name;
}

/* True if the C++ name is that of a function called `function`, of any arguments. */
static bool is_overload(const char *name, const char *function)
{
    char text[256];

    return !strncmp(name, "_Z", 2) && !strcmp(plain_name(name, text, sizeof text), function);
}

/* ---- Sections: does anything run before the lab's function is called? ---- */

/* Those that compilers write. What the linker writes itself (.dynamic, .rela.dyn), or takes for
 * code that is not compiled yet (.gnu.lto_*), does not belong in an object. */
static const char sections[] =
    ".group .text* .data* .bss* .rodata* .tdata* .tbss* .comment .note.GNU-stack "
    ".note.gnu.property .eh_frame .gcc_except_table* .nv_fatbin .nvFatBinSegment __nv_relfatbin "
    ".init_array* .symtab .strtab .shstrtab .symtab_shndx .debug* .gnu.linkonce.* "
    ".llvm_addrsig .llvm.*";

static bool is_a_compilers(const char *name)
{
    return is_in(sections, name) || (!strncmp(name, ".rela.", 6) && is_in(sections, name + 5));
}

static bool check_section(const char *name, unsigned long size, unsigned long *at_load, char *why,
                          size_t why_size)
{
    static const char *const at_end[] = { ".fini", ".fini_array", ".dtors" };

    /* nvcc's registration of the kernels is one pointer here. */
    if (!strncmp(name, ".init_array", 11))
        *at_load += size;
    if (*at_load > sizeof(void *) || !strcmp(name, ".init") ||
        !strncmp(name, ".preinit_array", 14) || !strncmp(name, ".ctors", 6)) {
        put(why, why_size,
            "kernel.cu runs code when it is loaded (a constructor, a global variable whose value "
            "is "
            "computed, or #include <iostream>): do the work in the lab's function, and print by "
            "printf");
        return false;
    }
    for (size_t i = 0; i < sizeof at_end / sizeof *at_end; i++)
        if (!strncmp(name, at_end[i], strlen(at_end[i]))) {
            put(why, why_size,
                "kernel.cu runs code when it is unloaded (a destructor): do the work in "
                "the lab's function");
            return false;
        }
    if (!is_a_compilers(name)) {
        put(why, why_size, "kernel.cu creates a section `%.100s`, which compilers do not create",
            name);
        return false;
    }
    return true;
}

/* Where a symbol is defined. */
static bool is_a_place(const char *section)
{
    return is_in("UND ABS COM LARGE_COM", section) || !section[strspn(section, "0123456789")];
}

/* ---- Symbols ---- */

typedef struct Symbol {
    char type[16], bind[16], visibility[16], section[16], name[1024];
} Symbol;

/* How close an object is to defining the lab's function; a greater value is closer. */
typedef enum Found { NOT, ITS_STATIC, OVERLOADED, ITS_NO_FUNCTION, ITS_HIDDEN, DEFINED } Found;

static bool refuse(const char *name, char *why, size_t size)
{
    const char *reason = NULL;
    char text[256];

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals && !reason; i++)
        if (is_in(refusals[i].names, name))
            reason = refusals[i].why;
    if (!reason && is_cudas(name))
        reason = "a lab uses the CUDA runtime, not the driver's calls";
    if (reason)
        put(why, size, "kernel.cu uses `%.200s`: %s", plain_name(name, text, sizeof text), reason);
    else
        put(why, size,
            "kernel.cu uses `%.200s`, which it does not define and which labs may not call",
            plain_name(name, text, sizeof text));
    return false;
}

static bool check_symbol(const Symbol *s, const Lab *lab, char *why, size_t size)
{
    bool undefined = !strcmp(s->section, "UND");

    if (undefined && strcmp(s->name, lab->function))
        return is_allowed(s->name, lab) || refuse(s->name, why, size);
    if (!strcmp(s->type, "IFUNC")) {
        put(why, size, "kernel.cu runs code when it is loaded (`%.200s` is an indirect function)",
            s->name);
        return false;
    }
    if (!undefined && is_cudas(s->name) &&
        (strcmp(s->bind, "LOCAL") || is_allowed(s->name, lab) || !strncmp(s->name, "cuda", 4))) {
        put(why, size, "kernel.cu defines `%.200s`, a name that belongs to CUDA", s->name);
        return false;
    }
    return true;
}

static Found how_near(const Symbol *s, const char *function)
{
    bool ours = !strcmp(s->name, function);

    if (!strcmp(s->section, "UND") || !(ours || is_overload(s->name, function)))
        return NOT;
    if (!strcmp(s->bind, "LOCAL"))
        return ITS_STATIC;
    if (!ours)
        return OVERLOADED;
    if (strcmp(s->type, "FUNC"))
        return ITS_NO_FUNCTION;
    return strcmp(s->visibility, "DEFAULT") ? ITS_HIDDEN : DEFINED;
}

/* If the lab provides the launch, the student defines a kernel. The object then has the kernel's
 * stub under a C++ name, which only launch.cpp links to. The linker finds wrong parameters. */
static Found how_near_kernel(const Symbol *s, const char *function)
{
    char kernel[128];
    Found found = how_near(s, PUT(kernel, "%s_kernel", function));

    return found == OVERLOADED ? DEFINED : found == DEFINED ? OVERLOADED : found;
}

static bool check_own_launch(const Symbol *s, const char *function, char *why, size_t size)
{
    if (how_near(s, function) == NOT)
        return true;
    put(why, size,
        "kernel.cu defines `%s`, but this lab provides the launch: define only the kernel "
        "`%s_kernel`, as kernel.h declares it",
        function, function);
    return false;
}

static bool check_found(Found found, const char *function, char *why, size_t size)
{
    switch (found) {
    case DEFINED:
        return true;
    case ITS_HIDDEN:
        put(why, size,
            "kernel.cu defines `%s`, but without including \"kernel.h\", so the grader cannot find "
            "it",
            function);
        break;
    case ITS_NO_FUNCTION:
        put(why, size, "kernel.cu defines `%s`, but not as a function", function);
        break;
    case OVERLOADED:
        put(why, size,
            "kernel.cu defines a `%s`, but not the one that kernel.h declares: include "
            "\"kernel.h\" "
            "and give it the same arguments, of the same types",
            function);
        break;
    case ITS_STATIC:
        put(why, size,
            "kernel.cu defines `%s` as static, so the grader cannot find it: remove "
            "`static`",
            function);
        break;
    case NOT:
        put(why, size, "kernel.cu does not define `%s`, the function that kernel.h declares",
            function);
        break;
    }
    return false;
}

/* One relocation makes nvcc's one pointer. A second one, by .reloc, would replace that pointer. */
static bool check_relocations(const char *name, int entries, char *why, size_t size)
{
    if (strncmp(name, ".rela.init_array", 16) || entries <= 1)
        return true;
    put(why, size, "kernel.cu runs code when it is loaded (a relocation in .init_array)");
    return false;
}

/* nvcc registers one fat binary. Another one would be code that was not compiled here: a simulated
 * GPU reads its PTX, and a GPU runs its machine code, which may be something else. */
static bool check_use(const char *symbol, int *fatbins, char *why, size_t size)
{
    if (strcmp(symbol, "__cudaRegisterFatBinary") || ++*fatbins <= 1)
        return true;
    put(why, size, "kernel.cu registers GPU code that nvcc did not generate");
    return false;
}

/* Counts over all rows. */
typedef struct Sums {
    unsigned long at_load; /* bytes of pointers to code that runs then */
    int fatbins;           /* uses of the call that registers one */
    Found found;
} Sums;

static bool check_row(const char *row, const Lab *lab, Sums *sums, char *why, size_t size)
{
    char name[256];
    unsigned long bytes;
    int number, fields;
    Symbol s;
    Found near;

    if (sscanf(row, "Relocation section '%255[^']' at offset %*s contains %d", name, &number) == 2)
        return check_relocations(name, number, why, size);
    if (sscanf(row, " [%*d] %255s %*s %*x %*x %lx", name, &bytes) == 2)
        return !strcmp(name, "NULL") || check_section(name, bytes, &sums->at_load, why, size);
    if (sscanf(row, " %*x %*x R_X86_64_%*s %*x %255s", name) == 1)
        return check_use(name, &sums->fatbins, why, size);
    if (sscanf(row, " [%d]", &number) == 1 && number > 0) {
        put(why, size, "kernel.cu creates a section with a name that compilers do not create");
        return false;
    }
    if (sscanf(row, " %d: %*x %*s %15s", &number, s.type) != 2 || number == 0)
        return true;
    fields = sscanf(row, " %*d: %*x %*s %15s %15s %15s %15s %1023[^\n]", s.type, s.bind,
                    s.visibility, s.section, s.name);
    if (fields == 4 && !strcmp(s.type, "SECTION")) /* before binutils 2.36 these had no name */
        return true;
    if (fields != 5 || !is_in("DEFAULT HIDDEN INTERNAL PROTECTED", s.visibility) ||
        !is_a_place(s.section)) {
        put(why, size, "kernel.cu creates a symbol of a kind that compilers do not create:%.200s",
            row);
        return false;
    }
    if (lab->launches && !check_own_launch(&s, lab->function, why, size))
        return false;
    near = (lab->launches ? how_near_kernel : how_near)(&s, lab->function);
    sums->found = near > sums->found ? near : sums->found;
    return check_symbol(&s, lab, why, size);
}

/* The rows look like
 *   [13] .init_array  INIT_ARRAY  0000000000000000 004278 000008 08  WA  0   0  8
 *   19: 0000000000000260    97 FUNC    GLOBAL DEFAULT    2 transpose */
bool audit_object(const char *readelf_output, const Lab *lab, char *why, size_t size)
{
    Sums sums = { .found = NOT };
    char row[1400];

    for (const char *line = readelf_output; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        PUT(row, "%.*s", (int) strcspn(line, "\n"), line);
        if (!check_row(row, lab, &sums, why, size))
            return false;
    }
    PUT(row, "%s%s", lab->function, lab->launches ? "_kernel" : "");
    return check_found(sums.found, row, why, size);
}
