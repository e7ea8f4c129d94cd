/* program.c - what the program was built with, and the runtime that it may contain.
 *
 * By default nvcc links the CUDA runtime into the program. The loader never looks up the names of
 * its functions then, so preloading alone would change nothing. But the program's symbol table
 * names them. Before the program's own code runs, the first instruction of each of these functions
 * becomes a jump to the function of this library that has the same name, so nothing of that runtime
 * is used. A stripped program has no such names; `warpbook sim` refuses it. Libraries with a
 * runtime of their own may have registered their kernels with it already, so they are reported.
 */
#include "sim/runtime/program.h"
#include "sim/binary/elf_reader.h"
#include "sim/runtime/runtime.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A jump to a place nearby, and one to any place: its address follows it. */
enum { NEAR_BYTES = 5, FAR_BYTES = 14, FAR_ROOM = 16 };

enum { REACH = 1 << 30, STEP = 1 << 20 };

/* A file of the process, and where its code is. */
typedef struct Image {
    ElfSymbols symbols;
    uintptr_t base; /* what the loader adds to the file's addresses */
    uintptr_t begin, end;
    void *bytes;
    size_t size;
} Image;

typedef int VersionCall(int *version);

static int own_version; /* of the runtime in the program; 0: it contains none */

/* ---- Files ---- */

static bool map_file(Image *image, const char *path)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    image->size = fstat(fd, &about) ? 0 : (size_t) about.st_size;
    image->bytes = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return image->bytes != MAP_FAILED;
}

static bool open_image(Image *image, Elf *elf, ElfHost *host, const char *path)
{
    *image = (Image){ 0 };
    if (!map_file(image, path))
        return false;
    if (elf_open(elf, image->bytes, image->size) && elf_host(elf, host))
        return true;
    munmap(image->bytes, image->size);
    return false;
}

static void find_code(Image *image, const struct dl_phdr_info *info)
{
    image->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            image->begin = info->dlpi_addr + segment->p_vaddr;
            image->end = image->begin + segment->p_memsz;
        }
    }
}

/* ---- Their functions ---- */

void *own_library(void)
{
    static void *handle;
    Dl_info info;

    if (!handle && dladdr((void *) own_library, &info))
        handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return handle;
}

/* Whether this symbol is a function of the runtime that has room for a jump. */
static bool is_call(const Image *image, uint64_t number, ElfFunction *function)
{
    uintptr_t at;

    if (!elf_function(&image->symbols, number, function))
        return false;
    at = image->base + function->at;
    return (!strncmp(function->name, "cuda", 4) || !strncmp(function->name, "__cuda", 6)) &&
           function->bytes >= NEAR_BYTES && at >= image->begin && at < image->end &&
           function->bytes <= image->end - at;
}

/* Asks the file's runtime before it is replaced. */
static int ask_version(const Image *image)
{
    ElfFunction function;
    int version = 0;

    for (uint64_t i = 0; i < image->symbols.count; i++)
        if (is_call(image, i, &function) && !strcmp(function.name, "cudaRuntimeGetVersion"))
            ((VersionCall *) (image->base + function.at))(&version); /* NOLINT */
    return version;
}

static size_t count_calls(const Image *image)
{
    ElfFunction function;
    size_t count = 0;

    for (uint64_t i = 0; i < image->symbols.count; i++)
        count += is_call(image, i, &function);
    return count;
}

/* ---- Jumps ---- */

/* Memory that near jumps of the file's code reach. */
static unsigned char *map_near(const Image *image, size_t bytes)
{
    const uintptr_t start = image->begin & ~(uintptr_t) (STEP - 1);

    for (uintptr_t away = STEP; away < REACH; away += STEP) {
        const uintptr_t places[] = { start > away ? start - away : 0, image->end + away };
        for (int i = 0; i < 2; i++) {
            void *hint = (void *) (places[i] & ~(uintptr_t) (STEP - 1)); /* NOLINT */
            void *found = hint ? mmap(hint, bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
                               : MAP_FAILED;
            if (found == hint && hint)
                return found;
            if (found != MAP_FAILED)
                munmap(found, bytes);
        }
    }
    return NULL;
}

static void write_far_jump(unsigned char *at, const void *target)
{
    static const unsigned char jump[] = { 0xff, 0x25, 0, 0, 0, 0 };

    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &target, FAR_BYTES - sizeof jump);
}

static void write_near_jump(unsigned char *at, const unsigned char *target)
{
    const int32_t distance = (int32_t) (target - (at + NEAR_BYTES));

    *at = 0xe9;
    memcpy(at + 1, &distance, sizeof distance);
}

/* Lets each function of the file's runtime jump to this library's function of that name. */
static void write_jumps(const Image *image, unsigned char *far)
{
    void *own = own_library();
    ElfFunction function;

    for (uint64_t i = 0; i < image->symbols.count; i++) {
        const void *ours = is_call(image, i, &function) ? dlsym(own, function.name) : NULL;
        if (!ours)
            continue;
        write_far_jump(far, ours);
        write_near_jump((unsigned char *) image->base + function.at, far); /* NOLINT */
        far += FAR_ROOM;
    }
}

/* Makes the file's code writable, or executable again. */
static bool protect(const Image *image, int how)
{
    const uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE), begin = image->begin & ~(page - 1);

    return !mprotect((void *) begin, image->end - begin, PROT_READ | how); /* NOLINT */
}

static bool replace_runtime(const Image *image)
{
    const size_t bytes = count_calls(image) * FAR_ROOM;
    unsigned char *far = map_near(image, bytes);

    if (!far || !protect(image, PROT_WRITE))
        return false;
    write_jumps(image, far);
    return protect(image, PROT_EXEC) && !mprotect(far, bytes, PROT_READ | PROT_EXEC);
}

static void take_program(Image *image, const Elf *elf, const struct dl_phdr_info *info)
{
    if (!elf_symbols(elf, ELF_SYMTAB, &image->symbols))
        return;
    find_code(image, info);
    own_version = ask_version(image);
    if (!replace_runtime(image))
        rt_say("the program's CUDA runtime cannot be replaced, since this system does not let code "
               "be changed: build with nvcc -cudart shared");
}

/* The loader gives the program first, without a name. */
static int take_file(struct dl_phdr_info *info, size_t size, void *unused)
{
    const bool is_program = !*info->dlpi_name;
    ElfHost host;
    Image image;
    Elf elf;
    (void) size;
    (void) unused;

    if (!open_image(&image, &elf, &host, is_program ? "/proc/self/exe" : info->dlpi_name))
        return 0;
    if (is_program && host.has_runtime)
        take_program(&image, &elf, info);
    else if (!is_program && host.has_runtime && !host.exports_runtime)
        rt_say("%s contains a CUDA runtime that cannot be replaced: link it with nvcc -cudart "
               "shared",
               info->dlpi_name);
    munmap(image.bytes, image.size);
    return 0;
}

__attribute__((constructor)) static void prepare(void)
{
    dl_iterate_phdr(take_file, NULL);
}

/* ---- Versions ---- */

static bool has_loaded(const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);

    if (handle)
        dlclose(handle);
    return handle;
}

int program_version(void)
{
    return own_version ? own_version : has_loaded("libcudart.so.12") ? 12090 : CUDART_VERSION;
}

bool is_program_of_12(void)
{
    return program_version() < 13000;
}
