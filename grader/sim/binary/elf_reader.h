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
    const unsigned char *bytes; /* NULL: it takes no room in the file */
    uint64_t size;              /* lies inside the file, if `bytes` */
    uint32_t type, link, info;
} ElfSection;

/* False: no such file, or its section table lies outside of it. Keeps the pointer. */
bool elf_open(Elf *elf, const void *bytes, size_t size);

/* False: the number is too large, or its bytes lie outside of the file. */
bool elf_section(const Elf *elf, uint32_t number, ElfSection *section);
bool elf_find(const Elf *elf, const char *name, ElfSection *section);

/* A string of a string table; "" if it does not end inside the table. */
const char *elf_string(const ElfSection *table, uint64_t offset);

/* What ptxas made of a kernel, from its cubin. False: it is not in there, or malformed. */
bool elf_resources(const Elf *elf, int arch, const char *kernel, KernelResources *found);

/* How a host program gets its CUDA runtime. */
typedef struct ElfHost {
    bool has_kernels;      /* a fat binary is in it */
    bool needs_libcudart;  /* by name */
    bool calls_registered; /* __cudaRegisterFatBinary is taken from outside */
} ElfHost;

bool elf_host(const Elf *elf, ElfHost *host);

#endif
