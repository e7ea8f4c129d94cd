/* fuzz_fatbin.c - any bytes as a fat binary, a cubin, an LZ4 block and a host program.
 *
 * With libFuzzer:   clang -fsanitize=fuzzer,address,undefined -Igrader/sim -Itests
 *                   tests/fuzz/fuzz_fatbin.c grader/sim/{fatbin,elf,lz4}.c
 * Without, -DSTANDALONE gives it a main that mutates sound images: fuzz_fatbin RUNS [SEED], or runs
 * the files that it is given. The same seed makes the same runs.
 */
#include "elf_reader.h"
#include "fatbin.h"
#include "lz4_block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_fatbin(const uint8_t *data, size_t size)
{
    static Fatbin fatbin;
    KernelResources found;
    const FatbinEntry *ptx;
    char why[200] = "";

    if (!fatbin_read_bytes(data, size, &fatbin, why, sizeof why)) {
        if (!*why || fatbin.count)
            abort();
        return;
    }
    ptx = fatbin_ptx(&fatbin, 80);
    if (ptx && (ptx->kind != FATBIN_PTX || strlen(ptx->bytes) != ptx->size))
        abort();
    if (fatbin_resources(&fatbin, 80, "scale", &found) &&
        (found.registers <= 0 || found.registers > 256 || found.static_shared_bytes < 0 ||
         found.local_bytes < 0 || found.most_threads < 0 || found.most_threads > 1024))
        abort();
    fatbin_free(&fatbin);
}

static void use_elf(const uint8_t *data, size_t size)
{
    KernelResources found;
    ElfHost host;
    Elf elf;

    if (!elf_open(&elf, data, size))
        return;
    elf_resources(&elf, 90, "scale", &found);
    elf_host(&elf, &host);
}

static void use_lz4(const uint8_t *data, size_t size)
{
    size_t room = size ? data[0] * 16u : 0;
    unsigned char *out = malloc(room ? room : 1);
    long used = out && size ? lz4_unpack(data + 1, size - 1, out, room) : -1;

    if (used > (long) room)
        abort();
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use_fatbin(data, size);
    use_elf(data, size);
    use_lz4(data, size);
    return 0;
}

#ifdef STANDALONE
#include "sim_images.h"

#include <stdio.h>

static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

enum { SEEDS = 4 };

static void write_seeds(Image seeds[SEEDS])
{
    static const CubinFigures old = { 40, 16, 600, 1200, { 128, 1, 1 }, true },
                              new = { 96, 0, 8, 2224, { 16, 16, 2 }, false };
    static const char lz4[] = "\360\x11.version 9.0\n.target sm_80\n.entry",
                      zstd[] = "\x28\xb5\x2f\xfd\x20\x05\x29\0\0.text";
    static Image cubin;

    fatbin_begin(&seeds[0]);
    cubin_write(&cubin, &old);
    fatbin_add(&seeds[0], IMAGE_ELF, 80, 0, cubin.bytes, cubin.size, 0);
    fatbin_add(&seeds[0], IMAGE_PTX, 80, IMAGE_LZ4, lz4, sizeof lz4 - 1, 32);
    cubin_write(&cubin, &new);
    fatbin_begin(&seeds[1]);
    fatbin_add(&seeds[1], IMAGE_ELF, 90, 0, cubin.bytes, cubin.size, 0);
    fatbin_add(&seeds[1], IMAGE_PTX, 90, IMAGE_ZSTD, zstd, sizeof zstd - 1, 5);
    seeds[2] = cubin;
    seeds[3].size = 0;
    image_add(&seeds[3], "\x10\37a\1\0\2\20b", 8);
}

static void mutate(Image *image)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      7,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0x7fff,
                                      0xffff,
                                      0x7fffffff,
                                      0xffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff };

    for (int n = (int) (next() % 6); n >= 0 && image->size; n--) {
        size_t at = next() % image->size, from = next() % image->size, count = next() % 17;
        switch (next() % 6) {
        case 0:
            image->bytes[at] ^= (unsigned char) (1 << next() % 8);
            break;
        case 1:
            image->bytes[at] = (unsigned char) next();
            break;
        case 2:
            image_set(image, at, edges[next() % 12], 1 << next() % 4);
            break;
        case 3: /* a number that is near one that could be right */
            image_set(image, at & ~(size_t) 3, next() % (2 * image->size), 4);
            break;
        case 4:
            image->size = at + 1;
            break;
        default:
            if (at + count <= image->size && from + count <= image->size)
                memmove(image->bytes + at, image->bytes + from, count);
        }
    }
}

/* In memory of just its size, so that the sanitizers see each byte beyond. */
static void run_exact(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);

    if (!copy)
        exit(3);
    if (size)
        memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int run_file(const char *path)
{
    static unsigned char bytes[1 << 24];
    FILE *file = fopen(path, "rb");

    if (!file) {
        perror(path);
        return 1;
    }
    run_exact(bytes, fread(bytes, 1, sizeof bytes, file));
    fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    static Image seeds[SEEDS], image;
    char *end = NULL;
    long runs = argc > 1 ? strtol(argv[1], &end, 10) : 100000;
    int failed = 0;

    if (argc > 1 && *end) {
        for (int i = 1; i < argc; i++)
            failed |= run_file(argv[i]);
        return failed;
    }
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    write_seeds(seeds);
    for (long i = 0; i < runs; i++) {
        image = seeds[next() % SEEDS];
        if (i >= SEEDS)
            mutate(&image);
        run_exact(image.bytes, image.size);
    }
    printf("%ld runs\n", runs);
    return 0;
}
#endif
