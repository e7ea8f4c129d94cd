/* test_sim_fatbin.c - fat binaries and cubins: their contents, and damaged ones.
 */
#include "sim/binary/elf_reader.h"
#include "sim/binary/fatbin.h"
#include "rows.h"
#include "sim/sim_images.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char ptx[] = ".version 9.0\n.target sm_80\n.visible .entry scale()\n{\nret;\n}\n";

static const CubinFigures usual = { .registers = 40, .frame = 16, .stack = 600, .shared = 1200 };

/* Reads a copy of exactly the input's size, so that sanitizers detect any read past its end. */
static bool read_image(const Image *image, Fatbin *fatbin, char *why, size_t size)
{
    unsigned char *copy = malloc(image->size ? image->size : 1);
    bool fine;

    if (!copy)
        abort();
    memcpy(copy, image->bytes, image->size);
    fine = fatbin_read_bytes(copy, image->size, fatbin, why, size);
    free(copy);
    return fine;
}

/* ---- Fat binaries ---- */

static void entries_are_found(void)
{
    static Image image, cubin;
    Fatbin fatbin;
    char why[300];

    fatbin_begin(&image);
    cubin_write(&cubin, &usual);
    fatbin_add(&image, IMAGE_ELF, 80, 0, cubin.bytes, cubin.size, 0);
    fatbin_add(&image, 8, 80, 0, "other", 5, 0); /* of a kind that is not for us */
    fatbin_add(&image, IMAGE_PTX, 80, 0, ptx, sizeof ptx - 1, 0);
    CU_ASSERT_TRUE_FATAL(read_image(&image, &fatbin, why, sizeof why));
    CU_ASSERT_EQUAL(fatbin.count, 2);
    CU_ASSERT_EQUAL(fatbin.entries[0].kind, FATBIN_ELF);
    CU_ASSERT_EQUAL(fatbin.entries[0].size, (cubin.size + 7) / 8 * 8);
    CU_ASSERT_EQUAL(fatbin.entries[1].kind, FATBIN_PTX);
    CU_ASSERT_EQUAL(fatbin.entries[1].arch, 80);
    CU_ASSERT_EQUAL(fatbin.entries[1].size, sizeof ptx - 1); /* without the padding */
    CU_ASSERT_STRING_EQUAL(fatbin.entries[1].bytes, ptx);
    fatbin_free(&fatbin);
    CU_ASSERT_EQUAL(fatbin.count, 0);
}

/* The PTX as one LZ4 block and as one zstd frame, both of literals only. */
static size_t pack(unsigned flags, unsigned char *out)
{
    size_t size = sizeof ptx - 1, used = 0;

    if (flags == IMAGE_LZ4) {
        out[used++] = 0xf0;
        out[used++] = (unsigned char) (size - 15);
    } else {
        memcpy(out, "\x28\xb5\x2f\xfd\x20", 5); /* magic; one segment, its size in a byte */
        out[5] = (unsigned char) size;
        out[6] = (unsigned char) (1 | size << 3); /* last block, stored raw */
        out[7] = (unsigned char) (size >> 5);
        out[8] = 0;
        used = 9;
    }
    memcpy(out + used, ptx, size);
    return used + size;
}

static void compressed_entries(void)
{
    static const unsigned ways[] = { IMAGE_LZ4, IMAGE_ZSTD };
    void *zstd = dlopen("libzstd.so.1", RTLD_NOW);

    for (size_t i = 0; i < COUNT(ways); i++) {
        static Image image;
        unsigned char packed[200];
        size_t size = pack(ways[i], packed);
        Fatbin fatbin;
        char why[300] = "";
        fatbin_begin(&image);
        fatbin_add(&image, IMAGE_PTX, 80, ways[i], packed, size, sizeof ptx - 1);
        if (ways[i] == IMAGE_ZSTD && !zstd) {
            CU_ASSERT_FALSE(read_image(&image, &fatbin, why, sizeof why));
            CU_ASSERT_PTR_NOT_NULL(strstr(why, "--no-compress"));
            continue;
        }
        CU_ASSERT_TRUE_FATAL(read_image(&image, &fatbin, why, sizeof why));
        CU_ASSERT_EQUAL(fatbin.count, 1);
        CU_ASSERT_STRING_EQUAL(fatbin.entries[0].bytes, ptx);
        fatbin_free(&fatbin);
    }
    if (zstd)
        dlclose(zstd);
}

/* Changes one field of an otherwise valid fat binary with one LZ4 entry. */
static void damage_is_told(void)
{
    static const struct {
        size_t at;
        uint64_t value;
        int bytes;
        const char *why; /* "": the fat binary is still valid */
    } rows[] = {
        { 0, 0xBA55ED50, 4, "" },
        { 0, 0x464c457f, 4, "not a fat binary (it begins with 0x464c457f)" },
        { 4, 2, 2, "unknown version (2" },
        { 6, 15, 2, "header of 15 bytes" },
        { 6, 0xffff, 2, "truncated" },
        { 8, UINT64_MAX, 8, "it claims 18446744073709551615 bytes" },
        { 8, 1ull << 31, 8, "truncated" },
        { 8, 0, 8, "" }, /* no entries */
        { 8, 1, 8, "truncated within the header of an entry" },
        { 16 + 0, 3, 2, "" }, /* a kind that is skipped */
        { 16 + 4, 63, 4, "damaged or truncated" },
        { 16 + 4, UINT32_MAX, 4, "damaged or truncated" },
        { 16 + 8, UINT64_MAX, 8, "an entry has 18446744073709551615 bytes" },
        { 16 + 8, 0, 8, "an entry extends past its end" },
        { 16 + 16, UINT32_MAX, 4, "an entry extends past its end" },
        { 16 + 16, 1, 4, "does not decompress to" },
        { 16 + 40, 0x11, 8, "unknown way (flags 0x11): build with nvcc --no-compress" },
        { 16 + 56, 0, 8, "does not decompress to 0 bytes" },
        { 16 + 56, sizeof ptx - 2, 8, "does not decompress" },
        { 16 + 56, sizeof ptx, 8, "does not decompress" },
        { 16 + 56, 257u << 20, 8, "more than 256 MiB" },
        { 16 + 56, UINT64_MAX, 8, "more than 256 MiB" },
        { 16 + 28, UINT32_MAX, 4, "" }, /* an invalid architecture */
    };
    unsigned char packed[200];
    size_t size = pack(IMAGE_LZ4, packed);

    for (size_t i = 0; i < COUNT(rows); i++) {
        static Image image;
        Fatbin fatbin;
        char why[300] = "";
        bool fine;
        fatbin_begin(&image);
        fatbin_add(&image, IMAGE_PTX, 80, IMAGE_LZ4, packed, size, sizeof ptx - 1);
        image_set(&image, rows[i].at, rows[i].value, rows[i].bytes);
        fine = read_image(&image, &fatbin, why, sizeof why);
        CU_ASSERT_EQUAL(fine, !*rows[i].why);
        CU_ASSERT_PTR_NOT_NULL(strstr(why, rows[i].why));
        fatbin_free(&fatbin);
    }
}

/* A cubin that cannot be unpacked must not stop the program. */
static void a_damaged_cubin_is_skipped(void)
{
    static Image image;
    Fatbin fatbin;
    char why[300];

    fatbin_begin(&image);
    fatbin_add(&image, IMAGE_ELF, 80, IMAGE_LZ4, "\xff\xff", 2, 4096);
    fatbin_add(&image, IMAGE_PTX, 80, 0, ptx, sizeof ptx - 1, 0);
    CU_ASSERT_TRUE_FATAL(read_image(&image, &fatbin, why, sizeof why));
    CU_ASSERT_EQUAL(fatbin.count, 1);
    CU_ASSERT_EQUAL(fatbin.entries[0].kind, FATBIN_PTX);
    fatbin_free(&fatbin);
}

static void too_many_entries(void)
{
    static Image image;
    Fatbin fatbin;
    char why[300];

    for (int more = 0; more < 2; more++) {
        fatbin_begin(&image);
        for (int i = 0; i < FATBIN_ENTRIES + more; i++)
            fatbin_add(&image, IMAGE_PTX, 50 + i, 0, "x", 1, 0);
        CU_ASSERT_EQUAL(read_image(&image, &fatbin, why, sizeof why), !more);
        CU_ASSERT_EQUAL(fatbin.count, more ? 0 : FATBIN_ENTRIES);
        fatbin_free(&fatbin);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "more than 256 entries of code"));
}

/* ---- The choice of an entry ---- */

static void the_nearest_ptx_serves(void)
{
    static const struct {
        int archs[3], wanted, found; /* 0: none */
    } rows[] = {
        { { 80 }, 80, 80 },           { { 80 }, 90, 80 },         { { 80 }, 75, 80 },
        { { 75, 80, 90 }, 80, 80 },   { { 90, 80, 75 }, 86, 80 }, { { 75, 80, 90 }, 100, 90 },
        { { 90, 100, 120 }, 80, 90 }, { { 0 }, 80, 0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        static Image image;
        Fatbin fatbin;
        char why[300];
        const FatbinEntry *found;
        fatbin_begin(&image);
        for (int e = 0; e < 3 && rows[i].archs[e]; e++)
            fatbin_add(&image, IMAGE_PTX, rows[i].archs[e], 0, ptx, sizeof ptx - 1, 0);
        CU_ASSERT_TRUE_FATAL(read_image(&image, &fatbin, why, sizeof why));
        found = fatbin_ptx(&fatbin, rows[i].wanted);
        CU_ASSERT_EQUAL(found ? found->arch : 0, rows[i].found);
        fatbin_free(&fatbin);
    }
}

/* ---- Wrappers ---- */

static void wrappers(void)
{
    static Image image;
    static const struct {
        uint32_t magic, version;
        bool has_data;
        const char *why;
    } rows[] = {
        { 0x466243B1, 1, true, "" },
        { 0x466243B2, 1, true, "other than a fat binary of nvcc (0x466243b2)" },
        { 0x466243B1, 2, true, "" },
        { 0x466243B1, 3, true, "unknown version (3)" },
        { 0x466243B1, 1, false, "unknown version (1)" },
    };
    struct {
        uint32_t magic, version;
        const void *data, *more;
    } wrapper;
    Fatbin fatbin;
    char why[300];

    fatbin_begin(&image);
    fatbin_add(&image, IMAGE_PTX, 80, 0, ptx, sizeof ptx - 1, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool fine;
        wrapper.magic = rows[i].magic;
        wrapper.version = rows[i].version;
        wrapper.data = rows[i].has_data ? image.bytes : NULL;
        wrapper.more = NULL;
        *why = 0;
        fine = fatbin_read(&wrapper, &fatbin, why, sizeof why);
        CU_ASSERT_EQUAL(fine, !*rows[i].why);
        CU_ASSERT_PTR_NOT_NULL(strstr(why, rows[i].why));
        fatbin_free(&fatbin);
    }
    wrapper.magic = 0x466243B1;
    wrapper.version = 1;
    wrapper.data = "no fat binary at all";
    CU_ASSERT_FALSE(fatbin_read(&wrapper, &fatbin, why, sizeof why));
    CU_ASSERT_FALSE(fatbin_read(NULL, &fatbin, why, sizeof why));
}

/* The linked code and two object files, each with its own PTX. */
static void parts_of_relocatable_code(void)
{
    static Image images[3];
    static const int archs[3] = { 90, 80, 75 };
    const void *parts[] = { images[1].bytes, images[2].bytes, NULL };
    const struct {
        uint32_t magic, version;
        const void *data;
        const void *const *parts;
    } wrapper = { 0x466243B1, 2, images[0].bytes, parts };
    Fatbin fatbin;
    char why[300] = "";

    for (int i = 0; i < 3; i++) {
        fatbin_begin(&images[i]);
        fatbin_add(&images[i], IMAGE_PTX, archs[i], 0, ptx, sizeof ptx - 1, 0);
    }
    CU_ASSERT_TRUE_FATAL(fatbin_read(&wrapper, &fatbin, why, sizeof why));
    CU_ASSERT_EQUAL(fatbin.parts, 3);
    for (int i = 0; i < 3; i++) {
        const FatbinEntry *found = fatbin_ptx_of(&fatbin, 90, i);
        CU_ASSERT_EQUAL(found ? found->arch : 0, archs[i]);
    }
    CU_ASSERT_PTR_NULL(fatbin_ptx_of(&fatbin, 90, 3));
    fatbin_free(&fatbin);
}

/* ---- The contents of a cubin ---- */

static void resources_are_found(void)
{
    static const struct {
        int arch;
        CubinFigures cubin;
        KernelResources want; /* registers 0: not found */
    } rows[] = {
        { 80, { 40, 16, 600, 1200, { 0 }, false }, { 40, 1200, 600, 0 } },
        { 80, { 40, 16, 600, 1200, { 0 }, true }, { 40, 1200, 600, 0 } },
        { 90, { 40, 0, 0, 1024, { 128, 1, 1 }, false }, { 40, 0, 0, 128 } },
        { 100, { 255, 8, 0, 2224, { 16, 16, 2 }, false }, { 255, 1200, 8, 512 } },
        { 90, { 40, 0, 0, 0, { 0 }, false }, { 40, 0, 0, 0 } },
        { 80, { 40, 0, 0, 0, { 2048, 1, 1 }, false }, { 40, 0, 0, 0 } }, /* invalid bounds */
        { 80, { 40, 0, 0, 0, { 1024, 1024, 1024 }, false }, { 40, 0, 0, 0 } },
        { 80, { 40, 0, 0, 0, { -1, -1, -1 }, false }, { 40, 0, 0, 0 } },
        { 80, { 0, 0, 0, 0, { 0 }, true }, { 0, 0, 0, 0 } },
        { 80, { 1000, 0, 0, 0, { 0 }, false }, { 0, 0, 0, 0 } },
        { 80, { 40, -1, 0, 0, { 0 }, false }, { 0, 0, 0, 0 } },
        { 80, { 40, 0, 0, -1, { 0 }, false }, { 0, 0, 0, 0 } },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        static Image image, cubin;
        Fatbin fatbin;
        KernelResources found = { 0 };
        char why[300];
        fatbin_begin(&image);
        cubin_write(&cubin, &rows[i].cubin);
        fatbin_add(&image, IMAGE_ELF, rows[i].arch, 0, cubin.bytes, cubin.size, 0);
        CU_ASSERT_TRUE_FATAL(read_image(&image, &fatbin, why, sizeof why));
        CU_ASSERT_EQUAL(fatbin_resources(&fatbin, 80, "scale", &found), rows[i].want.registers > 0);
        CU_ASSERT_EQUAL(found.registers, rows[i].want.registers);
        CU_ASSERT_EQUAL(found.static_shared_bytes, rows[i].want.static_shared_bytes);
        CU_ASSERT_EQUAL(found.local_bytes, rows[i].want.local_bytes);
        CU_ASSERT_EQUAL(found.most_threads, rows[i].want.most_threads);
        CU_ASSERT_FALSE(fatbin_resources(&fatbin, 80, "scal", &found));
        CU_ASSERT_FALSE(fatbin_resources(&fatbin, 80, "", &found));
        CU_ASSERT_FALSE(fatbin_resources(&fatbin, 80, "other", &found));
        fatbin_free(&fatbin);
    }
}

static void the_nearest_cubin_serves(void)
{
    static Image image, cubin;
    static const int archs[] = { 75, 80, 90 },
                     wanted[][2] = { { 80, 80 }, { 86, 90 }, { 120, 90 }, { 50, 75 }, { 84, 80 } };
    Fatbin fatbin;
    char why[300];

    fatbin_begin(&image);
    for (size_t i = 0; i < COUNT(archs); i++) {
        CubinFigures figures = usual;
        figures.registers = archs[i];
        cubin_write(&cubin, &figures);
        fatbin_add(&image, IMAGE_ELF, archs[i], 0, cubin.bytes, cubin.size, 0);
    }
    fatbin_add(&image, IMAGE_ELF, 120, 0, "no cubin", 8, 0);
    CU_ASSERT_TRUE_FATAL(read_image(&image, &fatbin, why, sizeof why));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        KernelResources found;
        CU_ASSERT_TRUE(fatbin_resources(&fatbin, wanted[i][0], "scale", &found));
        CU_ASSERT_EQUAL(found.registers, wanted[i][1]);
    }
    fatbin_free(&fatbin);
}

/* ---- Damage of any kind: no read past the end (sanitizers check), no hang ---- */

static void write_sound(Image *image)
{
    static Image cubin;
    unsigned char packed[200];
    size_t size = pack(IMAGE_LZ4, packed);

    fatbin_begin(image);
    cubin_write(&cubin, &usual);
    fatbin_add(image, IMAGE_ELF, 80, 0, cubin.bytes, cubin.size, 0);
    fatbin_add(image, IMAGE_PTX, 80, IMAGE_LZ4, packed, size, sizeof ptx - 1);
    fatbin_add(image, IMAGE_PTX, 75, 0, ptx, sizeof ptx - 1, 0);
}

static bool use(const Image *image)
{
    Fatbin fatbin;
    KernelResources found;
    char why[300] = "";
    bool fine = read_image(image, &fatbin, why, sizeof why);

    CU_ASSERT_TRUE(fine || *why);
    fatbin_ptx(&fatbin, 80);
    fatbin_resources(&fatbin, 80, "scale", &found);
    fatbin_free(&fatbin);
    return fine;
}

static void cut_off_anywhere(void)
{
    static Image whole, part;

    write_sound(&whole);
    CU_ASSERT_TRUE(use(&whole));
    for (size_t size = 0; size < whole.size; size++) {
        part = whole;
        part.size = size;
        CU_ASSERT_FALSE(use(&part));
        if (size >= 16) { /* make the header agree with the size */
            image_set(&part, 8, size - 16, 8);
            use(&part);
        }
    }
}

static void cubins_cut_off_anywhere(void)
{
    static Image whole, image;

    cubin_write(&whole, &usual);
    for (size_t size = 0; size <= whole.size; size++) {
        unsigned char *copy = malloc(size ? size : 1);
        KernelResources found;
        Elf elf;
        memcpy(copy, whole.bytes, size);
        CU_ASSERT_EQUAL(elf_open(&elf, copy, size) && elf_resources(&elf, 80, "scale", &found),
                        size == whole.size);
        free(copy);
        fatbin_begin(&image);
        fatbin_add(&image, IMAGE_ELF, 80, 0, whole.bytes, size, 0);
        CU_ASSERT_TRUE(use(&image));
    }
}

static void mutated(void)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      0x7f,
                                      0xff,
                                      0x7fff,
                                      0xffff,
                                      0x7fffffff,
                                      0xffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff };
    static Image sound, image;
    uint64_t random = 7;

    write_sound(&sound);
    for (int round = 0; round < 30000; round++) {
        image = sound;
        for (int n = (int) (next_random(&random) % 3); n >= 0; n--) {
            size_t at = next_random(&random) % image.size;
            int bytes = 1 << next_random(&random) % 4;
            if (next_random(&random) % 2)
                image_set(&image, at, edges[next_random(&random) % COUNT(edges)], bytes);
            else
                image_set(&image, at, next_random(&random), 1);
        }
        use(&image);
    }
}

/* ---- Programs ---- */

static void this_program_is_no_cuda_program(void)
{
    size_t size;
    char *bytes = read_file("/proc/self/exe", 1 << 30, &size);
    ElfHost host;
    Elf elf;

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_TRUE_FATAL(elf_open(&elf, bytes, size));
    CU_ASSERT_TRUE(elf_host(&elf, &host));
    CU_ASSERT_FALSE(host.has_kernels || host.needs_libcudart || host.calls_registered);
    free(bytes);
}

CU_SuiteInfo test_sim_fatbin = {
    "sim_fatbin",
    .pTests =
        (CU_TestInfo[]){
            { "entries are found", entries_are_found },
            { "compressed entries", compressed_entries },
            { "damage is reported", damage_is_told },
            { "a damaged cubin is skipped", a_damaged_cubin_is_skipped },
            { "too many entries", too_many_entries },
            { "the nearest PTX is used", the_nearest_ptx_serves },
            { "wrappers", wrappers },
            { "parts of relocatable code", parts_of_relocatable_code },
            { "resources are found", resources_are_found },
            { "the nearest cubin is used", the_nearest_cubin_serves },
            { "truncated anywhere", cut_off_anywhere },
            { "cubins truncated anywhere", cubins_cut_off_anywhere },
            { "mutated", mutated },
            { "this program is not a CUDA program", this_program_is_no_cuda_program },
            CU_TEST_INFO_NULL,
        },
};
