/* fuzz_fatbin.c - reads arbitrary bytes as a fat binary, a cubin, an LZ4 block and a host program.
 * `make fuzz` builds and runs it.
 */
#include "sim/binary/elf_reader.h"
#include "sim/binary/fatbin.h"
#include "sim/binary/line_table.h"
#include "sim/binary/machine_code.h"
#include "fuzz.h"

#include <string.h>

uint64_t fuzz_state;

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

static void use_machine_code(const Elf *elf)
{
    MachineCode code;
    PtxLines lines;
    size_t length;

    if (machine_code_read(elf, 90, "scale", &code)) {
        for (int i = 0; i < code.count; i++)
            MUST(code.instructions[i].line >= 0 && code.instructions[i].target < code.count);
        machine_code_free(&code);
    }
    if (!ptx_lines_read(elf, &lines))
        return;
    for (int i = 0; i <= lines.count + 1; i++) {
        const char *line = ptx_line_at(&lines, i, &length);
        MUST(!line || (line >= lines.text && line + length < lines.text + lines.size));
    }
    ptx_lines_free(&lines);
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
    use_machine_code(&elf);
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

/* ---- Mutations: numbers close to valid ones, and numbers at the limits ---- */

static void put_number(uint8_t *data, size_t size, size_t at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes && at + (size_t) i < size; i++)
        data[at + (size_t) i] = (uint8_t) (value >> 8 * i);
}

static void mutate(uint8_t *data, size_t size)
{
    static const uint64_t edges[] = {
        0, 1, 7, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 1ull << 63, UINT64_MAX,
    };
    size_t at = fuzz_below(size), from = fuzz_below(size), count = fuzz_below(17);

    switch (fuzz_below(3)) {
    case 0:
        put_number(data, size, at, edges[fuzz_below(12)], 1 << fuzz_below(4));
        break;
    case 1:
        put_number(data, size, at & ~(size_t) 3, fuzz_below(2 * size), 4);
        break;
    default:
        if (at + count <= size && from + count <= size)
            memmove(data + at, data + from, count);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    fuzz_state = seed;
    if (!size || fuzz_next() % 2)
        return LLVMFuzzerMutate(data, size, most);
    for (size_t n = 1 + fuzz_below(3); n > 0; n--)
        mutate(data, size);
    return size;
}
