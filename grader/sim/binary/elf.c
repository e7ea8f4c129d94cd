/* elf.c - reads ELF files: cubins for the resources that a kernel uses, host programs for how they
 * link the CUDA runtime.
 *
 * For a kernel K, a cubin holds the number of registers in .nv.info (or, before sm_90, in the top
 * byte of .text.K's sh_info), the stack size in .nv.info, and the launch bounds in .nv.info.K. The
 * size of .nv.shared.K is that of its static shared memory (from sm_90 on, including the block's
 * reserved KiB). The file is not trusted: every offset is checked before it is used.
 */
#include "sim/binary/elf_reader.h"

#include <string.h>

enum { HEADER_BYTES = 64, SECTION_BYTES = 64, SYMBOL_BYTES = 24, DYNAMIC_BYTES = 16 };

/* Attributes of .nv.info: a format byte, an attribute byte, two bytes of value or of size. */
enum {
    FORMAT_SIZED = 4,
    MAX_THREADS = 0x05, /* x, y, z: launch bounds */
    REQUIRED_THREADS = 0x10,
    FRAME_SIZE = 0x11,     /* symbol, bytes */
    MIN_STACK_SIZE = 0x12, /* symbol, bytes: including its callees */
    REGISTER_COUNT = 0x2f, /* symbol, registers */
};

enum { RESERVED_SHARED_BYTES = 1024, MOST_REGISTERS = 256, MOST_BYTES = 1 << 30 };

/* ---- Sections ---- */

static uint64_t number_at(const unsigned char *at, int bytes)
{
    uint64_t value = 0;

    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

bool elf_open(Elf *elf, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    *elf = (Elf){ .bytes = at, .size = size };
    if (size < HEADER_BYTES || memcmp(at, "\177ELF\2\1", 6)) /* 64 bits, little endian */
        return false;
    elf->machine = (uint16_t) number_at(at + 18, 2);
    elf->headers = number_at(at + 40, 8);
    elf->count = (uint32_t) number_at(at + 60, 2);
    elf->names = (uint32_t) number_at(at + 62, 2);
    return number_at(at + 58, 2) == SECTION_BYTES && elf->headers <= size &&
           elf->count <= (size - elf->headers) / SECTION_BYTES;
}

/* Reads everything but the name. */
static bool read_section(const Elf *elf, uint32_t number, ElfSection *section)
{
    const unsigned char *at;
    uint64_t offset;

    if (number >= elf->count)
        return false;
    at = elf->bytes + elf->headers + (size_t) number * SECTION_BYTES;
    offset = number_at(at + 24, 8);
    *section = (ElfSection){ .name = "",
                             .type = (uint32_t) number_at(at + 4, 4),
                             .size = number_at(at + 32, 8),
                             .link = (uint32_t) number_at(at + 40, 4),
                             .info = (uint32_t) number_at(at + 44, 4) };
    if (section->type == ELF_NOBITS)
        return true;
    section->bytes = elf->bytes + (offset <= elf->size ? offset : 0);
    return offset <= elf->size && section->size <= elf->size - offset;
}

const char *elf_string(const ElfSection *table, uint64_t offset)
{
    const char *text = (const char *) table->bytes;

    if (!text || offset >= table->size || !memchr(text + offset, 0, table->size - offset))
        return "";
    return text + offset;
}

bool elf_section(const Elf *elf, uint32_t number, ElfSection *section)
{
    ElfSection names;
    uint64_t name;

    if (!read_section(elf, number, section))
        return false;
    name = number_at(elf->bytes + elf->headers + (size_t) number * SECTION_BYTES, 4);
    if (read_section(elf, elf->names, &names))
        section->name = elf_string(&names, name);
    return true;
}

/* Finds the section whose name is `prefix` followed by `rest`. */
static bool find_section(const Elf *elf, const char *prefix, const char *rest, ElfSection *section)
{
    size_t length = strlen(prefix);

    for (uint32_t i = 0; i < elf->count; i++)
        if (elf_section(elf, i, section) && !strncmp(section->name, prefix, length) &&
            !strcmp(section->name + length, rest))
            return true;
    return false;
}

bool elf_find(const Elf *elf, const char *name, ElfSection *section)
{
    return find_section(elf, name, "", section);
}

static bool find_type(const Elf *elf, uint32_t type, ElfSection *section)
{
    for (uint32_t i = 0; i < elf->count; i++)
        if (elf_section(elf, i, section) && section->type == type)
            return true;
    return false;
}

/* ---- Symbols ---- */

bool elf_symbols(const Elf *elf, uint32_t type, ElfSymbols *symbols)
{
    if (!find_type(elf, type, &symbols->table) || !symbols->table.bytes ||
        !read_section(elf, symbols->table.link, &symbols->names))
        return false;
    symbols->count = symbols->table.size / SYMBOL_BYTES;
    return true;
}

static const char *symbol_name(const ElfSymbols *symbols, uint64_t number)
{
    if (number >= symbols->count)
        return "";
    return elf_string(&symbols->names, number_at(symbols->table.bytes + number * SYMBOL_BYTES, 4));
}

static bool is_undefined(const ElfSymbols *symbols, uint64_t number)
{
    return !number_at(symbols->table.bytes + number * SYMBOL_BYTES + 6, 2);
}

bool elf_function(const ElfSymbols *symbols, uint64_t number, ElfFunction *function)
{
    enum { FUNCTION = 2 };
    const unsigned char *at;

    if (number >= symbols->count)
        return false;
    at = symbols->table.bytes + number * SYMBOL_BYTES;
    if ((at[4] & 15) != FUNCTION || is_undefined(symbols, number))
        return false;
    *function = (ElfFunction){ .name = symbol_name(symbols, number),
                               .at = number_at(at + 8, 8),
                               .bytes = number_at(at + 16, 8) };
    return true;
}

/* ---- Relocations ---- */

enum { RELOCATION_BYTES = 24, SHORT_RELOCATION_BYTES = 16 }; /* with and without an addend */

static bool place_of_symbol(const ElfSymbols *symbols, uint64_t number, ElfPlace *place)
{
    const unsigned char *at;

    if (number >= symbols->count)
        return false;
    at = symbols->table.bytes + number * SYMBOL_BYTES;
    *place = (ElfPlace){ (uint32_t) number_at(at + 6, 2), number_at(at + 8, 8) };
    return place->section != 0;
}

static bool find_relocation(const ElfSection *section, size_t bytes, const ElfSymbols *symbols,
                            uint64_t offset, ElfPlace *place)
{
    for (uint64_t at = 0; section->bytes && at + bytes <= section->size; at += bytes) {
        const unsigned char *relocation = section->bytes + at;
        if (number_at(relocation, 8) != offset)
            continue;
        if (!place_of_symbol(symbols, number_at(relocation + 12, 4), place))
            return false;
        if (bytes == RELOCATION_BYTES)
            place->offset += number_at(relocation + 16, 8);
        return true;
    }
    return false;
}

bool elf_relocation(const Elf *elf, const char *name, uint64_t offset, ElfPlace *place)
{
    ElfSection section;
    ElfSymbols symbols;

    if (!elf_symbols(elf, ELF_SYMTAB, &symbols))
        return false;
    if (find_section(elf, ".rela", name, &section))
        return find_relocation(&section, RELOCATION_BYTES, &symbols, offset, place);
    return find_section(elf, ".rel", name, &section) &&
           find_relocation(&section, SHORT_RELOCATION_BYTES, &symbols, offset, place);
}

bool elf_kernel_text(const Elf *elf, const char *kernel, uint32_t *number, ElfSection *section)
{
    static const char prefix[] = ".text.";

    for (*number = 0; *kernel && *number < elf->count; ++*number)
        if (elf_section(elf, *number, section) &&
            !strncmp(section->name, prefix, sizeof prefix - 1) &&
            !strcmp(section->name + sizeof prefix - 1, kernel))
            return section->bytes != NULL;
    return false;
}

/* ---- The contents of .nv.info ---- */

/* Values for one kernel; -1: not given. */
typedef struct Info {
    int64_t registers, frame, stack, threads;
} Info;

static int64_t product(const unsigned char *at)
{
    uint64_t x = number_at(at, 4), y = number_at(at + 4, 4), z = number_at(at + 8, 4);

    return x <= 1024 && y <= 1024 && z <= 1024 ? (int64_t) (x * y * z) : -1;
}

/* One attribute of `size` bytes. Attributes in a kernel's own section have no symbol. */
static void take_attribute(Info *info, int attribute, const unsigned char *at, size_t size,
                           const ElfSymbols *symbols, const char *kernel)
{
    if (!symbols && size >= 12 && (attribute == MAX_THREADS || attribute == REQUIRED_THREADS))
        info->threads = product(at);
    if (!symbols || size < 8 || strcmp(symbol_name(symbols, number_at(at, 4)), kernel))
        return;
    if (attribute == REGISTER_COUNT)
        info->registers = (int64_t) number_at(at + 4, 4);
    else if (attribute == FRAME_SIZE)
        info->frame = (int64_t) number_at(at + 4, 4);
    else if (attribute == MIN_STACK_SIZE)
        info->stack = (int64_t) number_at(at + 4, 4);
}

/* Reads a section of attributes. Returns false if the last one is truncated. */
static bool take_attributes(Info *info, const ElfSection *section, const ElfSymbols *symbols,
                            const char *kernel)
{
    const unsigned char *at = section->bytes, *end;

    if (!at)
        return true;
    end = at + section->size;
    while (end - at >= 4) {
        bool sized = at[0] == FORMAT_SIZED;
        size_t size = sized ? (size_t) number_at(at + 2, 2) : 0;
        if (size > (size_t) (end - at) - 4)
            return false;
        if (sized)
            take_attribute(info, at[1], at + 4, size, symbols, kernel);
        at += 4 + size;
    }
    return at == end;
}

static bool is_sane(const Info *info, uint64_t shared)
{
    return info->registers > 0 && info->registers <= MOST_REGISTERS && info->frame <= MOST_BYTES &&
           info->stack <= MOST_BYTES && shared <= MOST_BYTES;
}

bool elf_resources(const Elf *elf, int arch, const char *kernel, KernelResources *found)
{
    Info info = { -1, -1, -1, -1 };
    ElfSection text, section;
    ElfSymbols symbols;
    uint64_t shared = 0;

    if (!*kernel || !find_section(elf, ".text.", kernel, &text) ||
        !elf_symbols(elf, ELF_SYMTAB, &symbols))
        return false;
    if (elf_find(elf, ".nv.info", &section) && !take_attributes(&info, &section, &symbols, kernel))
        return false;
    if (find_section(elf, ".nv.info.", kernel, &section) &&
        !take_attributes(&info, &section, NULL, kernel))
        return false;
    if (find_section(elf, ".nv.shared.", kernel, &section))
        shared = section.size;
    if (arch >= 90)
        shared -= shared < RESERVED_SHARED_BYTES ? shared : RESERVED_SHARED_BYTES;
    if (info.registers < 0)
        info.registers = text.info >> 24;
    if (!is_sane(&info, shared))
        return false;
    *found =
        (KernelResources){ .registers = (int) info.registers, .static_shared_bytes = (int) shared };
    found->local_bytes = (int) (info.stack > info.frame ? info.stack : info.frame);
    if (found->local_bytes < 0)
        found->local_bytes = 0;
    found->frame_bytes = info.frame > 0 ? (int) info.frame : 0;
    found->most_threads = info.threads > 0 && info.threads <= 1024 ? (int) info.threads : 0;
    return true;
}

/* ---- Host programs ---- */

static bool needs(const Elf *elf, const char *library)
{
    enum { NEEDED = 1 };
    ElfSection dynamic, names;

    if (!find_type(elf, ELF_DYNAMIC, &dynamic) || !read_section(elf, dynamic.link, &names))
        return false;
    for (uint64_t at = 0; at + DYNAMIC_BYTES <= dynamic.size; at += DYNAMIC_BYTES)
        if (number_at(dynamic.bytes + at, 8) == NEEDED &&
            strstr(elf_string(&names, number_at(dynamic.bytes + at + 8, 8)), library))
            return true;
    return false;
}

static bool has_function(const Elf *elf, uint32_t type, const char *name)
{
    ElfSymbols symbols;
    ElfFunction function;

    if (!elf_symbols(elf, type, &symbols))
        return false;
    for (uint64_t i = 0; i < symbols.count; i++)
        if (elf_function(&symbols, i, &function) && !strcmp(function.name, name))
            return true;
    return false;
}

bool elf_host(const Elf *elf, ElfHost *host)
{
    ElfSection section;
    ElfSymbols symbols;

    *host = (ElfHost){ 0 };
    if (!elf->count)
        return false;
    host->has_kernels = elf_find(elf, ".nv_fatbin", &section);
    host->needs_libcudart = needs(elf, "libcudart.so");
    host->has_runtime =
        !host->needs_libcudart && has_function(elf, ELF_SYMTAB, "cudaRuntimeGetVersion");
    host->exports_runtime = has_function(elf, ELF_DYNSYM, "cudaRuntimeGetVersion");
    if (!elf_symbols(elf, ELF_DYNSYM, &symbols))
        return true;
    for (uint64_t i = 0; i < symbols.count && !host->calls_registered; i++)
        host->calls_registered = is_undefined(&symbols, i) &&
                                 !strcmp(symbol_name(&symbols, i), "__cudaRegisterFatBinary");
    return true;
}
