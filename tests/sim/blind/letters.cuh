// letters.cuh - letters: lines of paragraphs, places of letters in a line, postage, counts per
// text.
#ifndef BLIND_LETTERS_CUH
#define BLIND_LETTERS_CUH

#include "blind.cuh"

// ---- Where the lines of a paragraph end, with the least raggedness: a thread per paragraph, or a
// warp whose threads try the words with which the last line may begin ----

enum { LETTER_PARAGRAPHS = 3000, LETTER_LINE = 64, LETTER_NEVER = 1 << 30 };

// `ends` are the words' running widths, each with a blank. A word is wider than 2, so that a line
// has fewer than 32 words.
__host__ __device__ inline int letter_ragged(const int *ends, const int *best, int start, int stop)
{
    const int spare = LETTER_LINE + 1 - (ends[stop] - ends[start]);
    return spare < 0 ? LETTER_NEVER : best[start] + spare * spare;
}

// `best[k]` is that of the first k words.
__host__ __device__ inline void letter_break(const int *ends, int words, int *best)
{
    best[0] = 0;
    for (int stop = 1; stop <= words; stop++) {
        int least = LETTER_NEVER;
        for (int start = stop - 1; start >= 0; start--) {
            const int ragged = letter_ragged(ends, best, start, stop);
            if (ragged == LETTER_NEVER)
                break;
            least = ragged < least ? ragged : least;
        }
        best[stop] = least;
    }
}

__global__ void letter_lines_thread_kernel(const int *ends, const int *first, int *best)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LETTER_PARAGRAPHS)
        return;
    const int begin = first[i];
    letter_break(ends + begin, first[i + 1] - begin - 1, best + begin);
}

__global__ void letter_lines_warp_kernel(const int *ends, const int *first, int *best)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= LETTER_PARAGRAPHS)
        return;
    const int begin = first[i], words = first[i + 1] - begin - 1;
    if (!lane)
        best[begin] = 0;
    for (int stop = 1; stop <= words; stop++) {
        __syncwarp();
        const int start = stop - 1 - lane;
        int ragged = LETTER_NEVER;
        if (start >= 0)
            ragged = letter_ragged(ends + begin, best + begin, start, stop);
        ragged = __reduce_min_sync(~0u, ragged);
        if (!lane)
            best[begin + stop] = ragged;
    }
}

// Most paragraphs are short, and some are long. There is an entry more than words.
static std::vector<int> letter_paragraphs()
{
    const std::vector<uint32_t> v = words(LETTER_PARAGRAPHS, 20020);
    std::vector<int> first(1, 0);
    for (int i = 0; i < LETTER_PARAGRAPHS; i++)
        first.push_back(first[i] + 8 + v[i] % 90 +
                        (v[i] / 256 % 53 ? 0 : 200 + v[i] / 65536 % 400));
    return first;
}

static void letter_lines(Run &run, bool warps)
{
    const std::vector<int> first = letter_paragraphs();
    const std::vector<int> widths = integers(first.back(), 10, 20021);
    std::vector<int> ends(first.back()), wanted(first.back());
    for (int i = 0; i < LETTER_PARAGRAPHS; i++)
        for (int k = first[i] + 1; k < first[i + 1]; k++)
            ends[k] = ends[k - 1] + 3 + widths[k];
    for (int i = 0; i < LETTER_PARAGRAPHS; i++)
        letter_break(&ends[first[i]], first[i + 1] - first[i] - 1, &wanted[first[i]]);
    const int *de = run.upload(ends), *df = run.upload(first);
    int *best = run.zeros<int>(first.back());
    run.measure([=] {
        if (warps)
            letter_lines_warp_kernel<<<blocks_for(LETTER_PARAGRAPHS * 32, 128), 128>>>(de, df,
                                                                                       best);
        else
            letter_lines_thread_kernel<<<blocks_for(LETTER_PARAGRAPHS, 64), 64>>>(de, df, best);
    });
    run.expect_all(
        run.output(best, first.back()), [&](size_t i) { return wanted[i]; }, 0);
}

static void letter_lines_thread(Run &run)
{
    letter_lines(run, false);
}

static void letter_lines_warp(Run &run)
{
    letter_lines(run, true);
}

// ---- Places of letters in lines of equal length, with kerning: the table of pairs read in place,
// or copied to shared memory by blocks that set many lines ----

enum { LETTER_ROWS = 9000, LETTER_COLUMNS = 256, LETTER_FACES = 64, LETTER_KERN_BLOCKS = 528 };

// How far the letter moves the next place.
__host__ __device__ inline int letter_advance(const short *kerns, int before, int letter)
{
    return 40 + letter % 23 + kerns[before * LETTER_FACES + letter];
}

// The sum of the values at and before each thread's. A block has LETTER_COLUMNS threads.
__device__ inline int letter_running(int value, int *sums)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int by = 1; by < 32; by *= 2) {
        const int other = __shfl_up_sync(~0u, value, by);
        value += lane >= by ? other : 0;
    }
    if (lane == 31)
        sums[warp] = value;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        value += sums[k];
    return value;
}

__global__ void letter_kern_read_kernel(const unsigned char *text, const short *kerns, int *out)
{
    __shared__ int sums[LETTER_COLUMNS / 32];
    const int i = blockIdx.x * LETTER_COLUMNS + threadIdx.x;
    const int before = threadIdx.x ? text[i - 1] : 0;
    out[i] = letter_running(letter_advance(kerns, before, text[i]), sums);
}

__global__ void letter_kern_copy_kernel(const unsigned char *text, const short *kerns, int *out)
{
    __shared__ short copy[LETTER_FACES * LETTER_FACES];
    __shared__ int sums[LETTER_COLUMNS / 32];
    for (int k = threadIdx.x; k < LETTER_FACES * LETTER_FACES; k += LETTER_COLUMNS)
        copy[k] = kerns[k];
    for (int row = blockIdx.x; row < LETTER_ROWS; row += gridDim.x) {
        __syncthreads(); // the copy is complete, and the sums of the row before are used
        const int i = row * LETTER_COLUMNS + threadIdx.x;
        const int before = threadIdx.x ? text[i - 1] : 0;
        out[i] = letter_running(letter_advance(copy, before, text[i]), sums);
    }
}

static void letter_kern(Run &run, void (*kernel)(const unsigned char *, const short *, int *),
                        int blocks)
{
    const int count = LETTER_ROWS * LETTER_COLUMNS;
    const std::vector<int> v = integers(count, LETTER_FACES, 20022);
    const std::vector<int> pairs = integers(LETTER_FACES * LETTER_FACES, 9, 20023);
    const std::vector<unsigned char> text(v.begin(), v.end());
    std::vector<short> kerns(pairs.begin(), pairs.end());
    for (short &kern : kerns)
        kern -= 6;
    const unsigned char *from = run.upload(text);
    const short *dk = run.upload(kerns);
    int *to = run.zeros<int>(count);
    run.measure([=] { kernel<<<blocks, LETTER_COLUMNS>>>(from, dk, to); });
    const std::vector<int> got = run.output(to, count);
    for (int i = 0, at = 0; i < count; i++) {
        const bool begins = i % LETTER_COLUMNS == 0;
        at = (begins ? 0 : at) + letter_advance(kerns.data(), begins ? 0 : text[i - 1], text[i]);
        run.expect(got[i], at, 0);
    }
}

static void letter_kern_read(Run &run)
{
    letter_kern(run, letter_kern_read_kernel, LETTER_ROWS);
}

static void letter_kern_copy(Run &run)
{
    letter_kern(run, letter_kern_copy_kernel, LETTER_KERN_BLOCKS);
}

// ---- Postage: rules, or a table of all that matters ----

enum { LETTER_POSTED = 4800000, LETTER_PRICES = 64 * 4 * 4 * 4 };

// Bits of a letter: the weight in steps of 20 g, the format, the zone, the class.
__host__ __device__ inline int letter_postage(unsigned letter)
{
    const int steps = letter & 63, format = letter >> 6 & 3;
    const int zone = letter >> 8 & 3, kind = letter >> 10 & 3;
    int price;
    if (format == 0 && steps < 3)
        price = 85;
    else if (format <= 1 && steps < 13)
        price = steps < 5 ? 100 : 160;
    else
        for (price = 275; price < 275 + steps * 12; price += 37 + 5 * zone)
            ;
    if (zone == 3)
        price = price * 13 / 7;
    else if (zone == 2)
        price = price * 10 / 7;
    if (kind == 3)
        return price + 265;
    return kind == 2 ? price * 3 / 4 : price;
}

__global__ void letter_postage_rules_kernel(const unsigned short *letters, const int *, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < LETTER_POSTED)
        out[i] = letter_postage(letters[i]);
}

__global__ void letter_postage_table_kernel(const unsigned short *letters, const int *prices,
                                            int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < LETTER_POSTED)
        out[i] = prices[letters[i] % LETTER_PRICES];
}

static void letter_post(Run &run, void (*kernel)(const unsigned short *, const int *, int *))
{
    const std::vector<uint32_t> v = words(LETTER_POSTED, 20024);
    const std::vector<unsigned short> letters(v.begin(), v.end());
    std::vector<int> prices(LETTER_PRICES);
    for (int k = 0; k < LETTER_PRICES; k++)
        prices[k] = letter_postage(k);
    const unsigned short *from = run.upload(letters);
    const int *dp = run.upload(prices);
    int *to = run.zeros<int>(LETTER_POSTED);
    run.measure([=] { kernel<<<blocks_for(LETTER_POSTED, 512), 512>>>(from, dp, to); });
    run.expect_all(
        run.output(to, LETTER_POSTED), [&](size_t i) { return letter_postage(letters[i]); }, 0, 13);
}

static void letter_postage_rules(Run &run)
{
    letter_post(run, letter_postage_rules_kernel);
}

static void letter_postage_table(Run &run)
{
    letter_post(run, letter_postage_table_kernel);
}

// ---- Counts of letters per text: a block per text, of which a few are long, or a block per piece
// of one ----

enum { LETTER_TEXTS = 1500, LETTER_KINDS = 32, LETTER_PIECE = 4096 };

// x: the text, y and z: where the piece begins and ends.
__global__ void letter_count_kernel(const unsigned char *text, const int3 *pieces, int *counts)
{
    __shared__ int count[LETTER_KINDS];
    const int3 piece = pieces[blockIdx.x];
    if (threadIdx.x < LETTER_KINDS)
        count[threadIdx.x] = 0;
    __syncthreads();
    for (int k = piece.y + threadIdx.x; k < piece.z; k += blockDim.x)
        atomicAdd(&count[text[k]], 1);
    __syncthreads();
    if (threadIdx.x < LETTER_KINDS)
        atomicAdd(&counts[piece.x * LETTER_KINDS + threadIdx.x], count[threadIdx.x]);
}

static std::vector<int> letter_texts()
{
    const std::vector<uint32_t> v = words(LETTER_TEXTS, 20025);
    std::vector<int> first(1, 0);
    for (int i = 0; i < LETTER_TEXTS; i++)
        first.push_back(first[i] + 300 + (int) (v[i] % (v[i] / 8192 % 83 ? 2500 : 130000)));
    return first;
}

static void letter_counts(Run &run, int most)
{
    const std::vector<int> first = letter_texts();
    const int size = LETTER_TEXTS * LETTER_KINDS;
    std::vector<int> v = integers(first.back(), 30 * 30, 20026), wanted(size);
    std::vector<int3> pieces;
    for (int &letter : v)
        letter = (letter / 30 * (letter % 30) + 15) / 30; // some are frequent
    for (int i = 0; i < LETTER_TEXTS; i++) {
        for (int k = first[i]; k < first[i + 1]; k++)
            wanted[i * LETTER_KINDS + v[k]]++;
        for (int k = first[i]; k < first[i + 1]; k += most)
            pieces.push_back({ i, k, std::min(first[i + 1] - k, most) + k });
    }
    const std::vector<unsigned char> text(v.begin(), v.end());
    const unsigned char *from = run.upload(text);
    const int3 *dp = run.upload(pieces);
    const int blocks = (int) pieces.size();
    int *counts = run.zeros<int>(size);
    run.measure([=] { letter_count_kernel<<<blocks, 384>>>(from, dp, counts); },
                [=] { CHECK(cudaMemset(counts, 0, size * sizeof(int))); });
    run.expect_all(
        run.output(counts, size), [&](size_t i) { return wanted[i]; }, 0);
}

static void letter_count_texts(Run &run)
{
    letter_counts(run, 1 << 30);
}

static void letter_count_pieces(Run &run)
{
    letter_counts(run, LETTER_PIECE);
}

#endif
