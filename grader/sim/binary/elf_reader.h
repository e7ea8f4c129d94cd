/* elf_reader.h - the sections of a 64-bit little-endian ELF file in memory, which is not trusted.
 */
#ifndef SIM_BINARY_ELF_READER_H
#define SIM_BINARY_ELF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/binary/fatbin.h"

enum { ELF_SYMTAB = 2, ELF_STRTAB = 3, ELF_DYNAMIC = 6, ELF_NOBITS = 8, ELF_DYNSYM = 11 };

typedef struct Elf {
    const unsigned char *bytes;
    size_t size;
    uint64_t headers; /* offset of the section table */
    uint32_t count, names;
    uint16_t machine;
} Elf;

typedef struct ElfSection {
    const char *name;
    const unsigned char *bytes; /* NULL: it occupies no space in the file */
    uint64_t size;              /* within the file, unless `bytes` is NULL */
    uint32_t type, link, info;
} ElfSection;

/* Returns false if this is not an ELF file, or its section table extends past the end. Keeps the
 * pointer. */
bool elf_open(Elf *elf, const void *bytes, size_t size);

/* Returns false if the number is too large, or the section extends past the end of the file. */
bool elf_section(const Elf *elf, uint32_t number, ElfSection *section);
bool elf_find(const Elf *elf, const char *name, ElfSection *section);

/* A string of a string table; "" if it does not end inside the table. */
const char *elf_string(const ElfSection *table, uint64_t offset);

/* What a relocation puts at an offset of a section: a place in another section. */
typedef struct ElfPlace {
    uint32_t section;
    uint64_t offset;
} ElfPlace;

/* Finds the relocation for byte `offset` of the section called `name`. Returns false if there is
 * none, or its symbol is undefined. */
bool elf_relocation(const Elf *elf, const char *name, uint64_t offset, ElfPlace *place);

/* Finds the machine code of a kernel. */
bool elf_kernel_text(const Elf *elf, const char *kernel, uint32_t *number, ElfSection *section);

/* Reads a kernel's resources from its cubin. Returns false if the kernel is not in it, or the cubin
 * is malformed. */
bool elf_resources(const Elf *elf, int arch, const char *kernel, KernelResources *found);

/* How a host program gets its CUDA runtime. */
typedef struct ElfHost {
    bool has_kernels;      /* it contains a fat binary */
    bool needs_libcudart;  /* as a shared library */
    bool calls_registered; /* __cudaRegisterFatBinary is an undefined symbol */
    bool has_runtime;      /* it contains one, whose functions its symbol table names, */
    bool exports_runtime;  /* and other files can call them */
} ElfHost;

bool elf_host(const Elf *elf, ElfHost *host);

/* A table of symbols: ELF_SYMTAB, which strip removes, or ELF_DYNSYM. */
typedef struct ElfSymbols {
    ElfSection table, names;
    uint64_t count;
} ElfSymbols;

bool elf_symbols(const Elf *elf, uint32_t type, ElfSymbols *symbols);

/* A function that the file defines. */
typedef struct ElfFunction {
    const char *name;
    uint64_t at, bytes; /* its address, before the loader moves the file */
} ElfFunction;

/* Returns false if this symbol is anything else. */
bool elf_function(const ElfSymbols *symbols, uint64_t number, ElfFunction *function);

#endif
