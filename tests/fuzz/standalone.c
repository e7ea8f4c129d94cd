/* standalone.c - a main() for the fuzzers without libFuzzer: runs the given files, and mutations of
 * them.
 *
 *     fuzz_ptx RUNS SEED FILE...
 *
 * RUNS may be 0. The same seed gives the same runs. If $LAST names a file, each input is written to
 * it before it is tried.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

typedef struct Input {
    uint8_t *at;
    size_t size;
} Input;

/* Replaces libFuzzer's mutations: changes a bit or a byte, or truncates. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    size_t at = fuzz_below(size);

    (void) most;
    if (!size)
        return 0;
    switch (fuzz_below(4)) {
    case 0:
        return at + 1;
    case 1:
        data[at] = (uint8_t) fuzz_next();
        return size;
    default:
        data[at] ^= (uint8_t) (1 << fuzz_below(8));
        return size;
    }
}

static bool load(const char *path, Input *input)
{
    FILE *file = fopen(path, "rb");

    input->at = malloc(MOST_BYTES);
    if (!file || !input->at)
        return false;
    input->size = fread(input->at, 1, MOST_BYTES, file);
    fclose(file);
    return true;
}

/* Copies the input exactly, so that a read past its end is detected. */
static void try(const uint8_t *at, size_t size)
{
    const char *last = getenv("LAST");
    uint8_t *copy = malloc(size ? size : 1);
    FILE *file = last ? fopen(last, "wb") : NULL;

    if (file) {
        fwrite(at, 1, size, file);
        fclose(file);
    }
    if (!copy)
        exit(3);
    memcpy(copy, at, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Picks the smaller of two random inputs, so that small inputs are more frequent. */
static const Input *pick(const Input *inputs, int count)
{
    const Input *a = &inputs[fuzz_below((size_t) count)], *b = &inputs[fuzz_below((size_t) count)];

    return a->size < b->size ? a : b;
}

static void run(const Input *inputs, int count, long runs)
{
    uint8_t *bytes = malloc(2 * MOST_BYTES);

    for (long i = 0; bytes && i < runs; i++) {
        const Input *base = pick(inputs, count);
        size_t size = base->size;
        memcpy(bytes, base->at, size);
        for (size_t n = fuzz_below(5); n > 0; n--)
            size = LLVMFuzzerCustomMutator(bytes, size, 2 * MOST_BYTES, (unsigned) fuzz_next());
        try(bytes, size);
    }
    free(bytes);
}

int main(int argc, char **argv)
{
    int count = argc - 3;
    Input *inputs = calloc((size_t) (count > 0 ? count : 1), sizeof *inputs);

    if (count < 1 || !inputs) {
        fprintf(stderr, "usage: %s RUNS SEED FILE...\n", argv[0]);
        return 2;
    }
    fuzz_state = strtoull(argv[2], NULL, 0);
    for (int i = 0; i < count; i++) {
        if (!load(argv[3 + i], &inputs[i])) {
            perror(argv[3 + i]);
            return 2;
        }
        try(inputs[i].at, inputs[i].size);
    }
    run(inputs, count, atol(argv[1]));
    printf("%s: %d inputs and %s runs\n", argv[0], count, argv[1]);
    for (int i = 0; i < count; i++)
        free(inputs[i].at);
    free(inputs);
    return 0;
}
