/* sim_images.h - builds fat binaries and cubins in memory, for tests and for the fuzzer's initial
 * inputs. */
#ifndef SIM_SIM_IMAGES_H
#define SIM_SIM_IMAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct Image {
    unsigned char bytes[1 << 15];
    size_t size;
} Image;

static inline size_t image_add(Image *image, const void *bytes, size_t size)
{
    size_t at = image->size;

    if (size > sizeof image->bytes - at)
        size = 0;
    if (size)
        memcpy(image->bytes + at, bytes, size);
    image->size += size;
    return at;
}

static inline void image_number(Image *image, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        image_add(image, &(unsigned char){ (unsigned char) (i < 8 ? value >> 8 * i : 0) }, 1);
}

static inline void image_set(Image *image, size_t at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes && at + (size_t) i < image->size; i++)
        image->bytes[at + (size_t) i] = (unsigned char) (value >> 8 * i);
}

/* ---- Fat binaries ---- */

enum { IMAGE_PTX = 1, IMAGE_ELF = 2, IMAGE_LZ4 = 0x2000, IMAGE_ZSTD = 0x8000 };

static inline void fatbin_begin(Image *image)
{
    image->size = 0;
    image_number(image, 0xBA55ED50, 4);
    image_number(image, 1, 2);
    image_number(image, 16, 2);
    image_number(image, 0, 8);
}

/* `unpacked`: size after decompression; 0: not compressed. Returns the offset of the entry. */
static inline size_t fatbin_add(Image *image, int kind, int arch, unsigned flags, const void *bytes,
                                size_t size, size_t unpacked)
{
    size_t padding = -size & 7, at = image->size;

    image_number(image, (uint64_t) kind, 2);
    image_number(image, 0x101, 2);
    image_number(image, 72, 4); /* with a name of 5 bytes, padded */
    image_number(image, size + padding, 8);
    image_number(image, unpacked ? size : 0, 4);
    image_number(image, 0, 4);
    image_number(image, 0, 2);
    image_number(image, 9, 2);
    image_number(image, (uint64_t) arch, 4);
    image_number(image, 64, 4);
    image_number(image, 5, 4);
    image_number(image, 0x11 | flags, 8);
    image_number(image, 0, 8);
    image_number(image, unpacked, 8);
    image_add(image, "k.cu\0\0\0", 8);
    image_add(image, bytes, size);
    image_add(image, "\0\0\0\0\0\0\0", padding);
    image_set(image, 8, image->size - 16, 8);
    return at;
}

/* ---- Cubins: one kernel, "scale", with these figures. `own_registers`: in the section's header,
 * as before sm_90 ---- */

typedef struct CubinFigures {
    int registers, frame, stack, shared, threads[3];
    bool own_registers;
} CubinFigures;

static inline void cubin_section(Image *image, unsigned name, unsigned type, size_t offset,
                                 size_t size, unsigned link, unsigned info)
{
    image_number(image, name, 4);
    image_number(image, type, 4);
    image_number(image, 0, 8);
    image_number(image, 0, 8);
    image_number(image, offset, 8);
    image_number(image, size, 8);
    image_number(image, link, 4);
    image_number(image, info, 4);
    image_number(image, 1, 8);
    image_number(image, 0, 8);
}

static inline void cubin_attribute(Image *image, int attribute, int first, int second)
{
    image_number(image, 4 | (unsigned) attribute << 8, 2);
    image_number(image, 8, 2);
    image_number(image, (unsigned) first, 4);
    image_number(image, (unsigned) second, 4);
}

static inline void cubin_write(Image *image, const CubinFigures *f)
{
    static const char names[] = "\0.shstrtab\0.strtab\0.symtab\0.nv.info\0.text.scale\0"
                                ".nv.info.scale\0.nv.shared.scale";
    enum { SHSTRTAB = 1, STRTAB = 11, SYMTAB = 19, INFO = 27, TEXT = 36, OWN = 48, SHARED = 63 };
    size_t strings, symbols, info, own, own_end;

    image->size = 0;
    image_add(image, "\177ELF\2\1\1\x41\x8\0\0\0\0\0\0\0", 16);
    for (int i = 0; i < 48; i++)
        image_number(image, 0, 1);
    image_set(image, 18, 190, 2);
    image_set(image, 58, 64, 2);
    image_set(image, 60, 8, 2);
    image_set(image, 62, 1, 2);
    strings = image_add(image, "\0scale\0other", 13);
    symbols = image_add(image, "", 0);
    for (int i = 0; i < 3; i++) { /* none, other, scale */
        image_number(image, (unsigned) (i == 0 ? 0 : i == 1 ? 7 : 1), 4);
        image_number(image, 0x12, 1);
        image_number(image, 0, 1);
        image_number(image, 5, 2);
        image_number(image, 0, 16);
    }
    info = image->size;
    cubin_attribute(image, 0x2f, 1, 99);
    if (!f->own_registers)
        cubin_attribute(image, 0x2f, 2, f->registers);
    cubin_attribute(image, 0x11, 2, f->frame);
    cubin_attribute(image, 0x12, 2, f->stack);
    own = image->size;
    image_number(image, 0x3501, 2); /* an attribute without a value */
    image_number(image, 0, 2);
    if (f->threads[0]) {
        image_number(image, 0x0504, 2);
        image_number(image, 12, 2);
        for (int i = 0; i < 3; i++)
            image_number(image, (unsigned) f->threads[i], 4);
    }
    own_end = image->size;
    image_set(image, 40, image->size + sizeof names, 8);
    image_add(image, names, sizeof names);
    cubin_section(image, 0, 0, 0, 0, 0, 0);
    cubin_section(image, SHSTRTAB, 3, own_end, sizeof names, 0, 0);
    cubin_section(image, STRTAB, 3, strings, 13, 0, 0);
    cubin_section(image, SYMTAB, 2, symbols, 72, 2, 3);
    cubin_section(image, INFO, 0x70000000, info, own - info, 3, 0);
    cubin_section(image, TEXT, 1, 64, 0, 3,
                  2 | (f->own_registers ? (unsigned) f->registers << 24 : 0));
    cubin_section(image, OWN, 0x70000000, own, own_end - own, 3, 5);
    cubin_section(image, SHARED, 8, 1 << 20, (size_t) f->shared, 0, 5);
}

#endif
