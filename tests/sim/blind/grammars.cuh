// grammars.cuh - texts and their structure: brackets, parsing, palindromes, stop words.
#ifndef BLIND_GRAMMARS_CUH
#define BLIND_GRAMMARS_CUH

#include "blind.cuh"

// ---- Depths of brackets in rows of text: a thread per row, or a warp with ballots ----

enum { BRACKET_ROWS = 20480, BRACKET_LENGTH = 512 };

__global__ void brackets_thread_kernel(const char *text, signed char *depths)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    int depth = 0;
    for (int i = 0; i < BRACKET_LENGTH; i++) {
        const char c = text[row * BRACKET_LENGTH + i];
        depth += (c == '(') - (c == ')');
        depths[row * BRACKET_LENGTH + i] = (signed char) depth;
    }
}

__global__ void brackets_warp_kernel(const char *text, signed char *depths)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const unsigned until = ~0u >> (31 - lane);
    int depth = 0;
    for (int i = lane; i < BRACKET_LENGTH; i += 32) {
        const char c = text[row * BRACKET_LENGTH + i];
        const unsigned opens = __ballot_sync(~0u, c == '('), closes = __ballot_sync(~0u, c == ')');
        depths[row * BRACKET_LENGTH + i] =
            (signed char) (depth + __popc(opens & until) - __popc(closes & until));
        depth += __popc(opens) - __popc(closes);
    }
}

static void brackets(Run &run, bool warp)
{
    const size_t n = (size_t) BRACKET_ROWS * BRACKET_LENGTH;
    const std::vector<int> v = integers(n, 6, 11120);
    std::vector<char> text(n);
    for (size_t i = 0; i < n; i++)
        text[i] = "(a)b,c"[v[i]];
    const char *from = run.upload(text);
    signed char *to = run.zeros<signed char>(n);
    run.measure([=] {
        if (warp)
            brackets_warp_kernel<<<BRACKET_ROWS / 8, 256>>>(from, to);
        else
            brackets_thread_kernel<<<BRACKET_ROWS / 64, 64>>>(from, to);
    });
    const std::vector<signed char> got = run.output(to, n);
    for (int row = 0; row < BRACKET_ROWS; row += 97) {
        int depth = 0;
        for (int i = 0; i < BRACKET_LENGTH; i++) {
            const char c = text[row * BRACKET_LENGTH + i];
            depth += (c == '(') - (c == ')');
            run.expect(got[row * BRACKET_LENGTH + i], depth, 0);
        }
    }
}

static void brackets_thread(Run &run)
{
    brackets(run, false);
}

static void brackets_warp(Run &run)
{
    brackets(run, true);
}

// ---- Parsing by the table of spans: a loop over 16 rules, or a table of all pairs of sets ----

enum { SENTENCES = 96, SENTENCE = 40, RULES = 16 };

struct Rule {
    int left, right, result; // bits of symbols
};

__constant__ Rule rule_constants[RULES];

__host__ __device__ inline int apply_rules(const Rule *rules, int a, int b)
{
    int result = 0;
    for (int r = 0; r < RULES; r++)
        if (a & rules[r].left && b & rules[r].right)
            result |= rules[r].result;
    return result;
}

template <bool TABLE>
__global__ void parse_kernel(const unsigned char *words, const unsigned char *table,
                             unsigned char *out)
{
    __shared__ unsigned char span[SENTENCE + 1][SENTENCE]; // by length and begin
    const int at = threadIdx.x;
    if (at < SENTENCE)
        span[1][at] = words[blockIdx.x * SENTENCE + at];
    __syncthreads();
    for (int length = 2; length <= SENTENCE; length++) {
        if (at + length <= SENTENCE) {
            int found = 0;
            for (int k = 1; k < length; k++) {
                const int a = span[k][at], b = span[length - k][at + k];
                found |= TABLE ? table[a * 256 + b] : apply_rules(rule_constants, a, b);
            }
            span[length][at] = (unsigned char) found;
            out[(blockIdx.x * (SENTENCE + 1) + length) * SENTENCE + at] = (unsigned char) found;
        }
        __syncthreads();
    }
}

static std::vector<Rule> parse_rules()
{
    const std::vector<int> v = integers(3 * RULES, 8, 11121);
    std::vector<Rule> rules(RULES);
    for (int r = 0; r < RULES; r++)
        rules[r] = { 1 << v[3 * r], 1 << v[3 * r + 1], 1 << v[3 * r + 2] };
    return rules;
}

static void check_parse(Run &run, const unsigned char *words, const unsigned char *table,
                        const unsigned char *got)
{
    std::vector<int> span((SENTENCE + 1) * SENTENCE);
    for (int at = 0; at < SENTENCE; at++)
        span[SENTENCE + at] = words[at];
    for (int length = 2; length <= SENTENCE; length++)
        for (int at = 0; at + length <= SENTENCE; at++) {
            int found = 0;
            for (int k = 1; k < length; k++)
                found |=
                    table[span[k * SENTENCE + at] * 256 + span[(length - k) * SENTENCE + at + k]];
            span[length * SENTENCE + at] = found;
            run.expect(got[length * SENTENCE + at], found, 0);
        }
}

template <bool TABLE> static void parse(Run &run)
{
    const std::vector<Rule> rules = parse_rules();
    const std::vector<int> v = integers(SENTENCES * SENTENCE, 8, 11122);
    std::vector<unsigned char> words(v.size()), table(65536);
    for (size_t i = 0; i < v.size(); i++)
        words[i] = (unsigned char) (1 << v[i]);
    for (int i = 0; i < 65536; i++)
        table[i] = (unsigned char) apply_rules(rules.data(), i / 256, i % 256);
    const size_t n = (size_t) SENTENCES * (SENTENCE + 1) * SENTENCE;
    const unsigned char *from = run.upload(words), *dt = run.upload(table);
    unsigned char *to = run.zeros<unsigned char>(n);
    CHECK(cudaMemcpyToSymbol(rule_constants, rules.data(), sizeof rule_constants));
    run.measure([=] { parse_kernel<TABLE><<<SENTENCES, 64>>>(from, dt, to); });
    const std::vector<unsigned char> got = run.output(to, n);
    for (int s = 0; s < SENTENCES; s += 11)
        check_parse(run, &words[s * SENTENCE], table.data(), &got[s * (SENTENCE + 1) * SENTENCE]);
}

static void spans_rules(Run &run)
{
    parse<false>(run);
}

static void spans_table(Run &run)
{
    parse<true>(run);
}

// ---- Palindromes around each letter, up to 64 to each side: letters compared, or hashes bisected
// ----

enum { PALINDROMES = 688128, PALINDROME_MOST = 64 };

#define PALINDROME_BASE 0x9e3779b97f4a7c15ull

__global__ void palindromes_letters_kernel(const char *text, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int most = min(min(i, PALINDROMES - 1 - i), PALINDROME_MOST);
    int radius = 0;
    while (radius < most && text[i - radius - 1] == text[i + radius + 1])
        radius++;
    out[i] = radius;
}

// `ahead[i]`: hash of letters 0 to i - 1; `back[i]`: of letters i and later, from the end.
__global__ void palindromes_hashes_kernel(const unsigned long long *ahead,
                                          const unsigned long long *back,
                                          const unsigned long long *powers, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 0, high = min(min(i, PALINDROMES - 1 - i), PALINDROME_MOST);
    while (low < high) {
        const int r = (low + high + 1) / 2;
        const unsigned long long right = ahead[i + r + 1] - ahead[i + 1] * powers[r];
        const unsigned long long left = back[i - r] - back[i] * powers[r];
        if (left == right)
            low = r;
        else
            high = r - 1;
    }
    out[i] = low;
}

static std::vector<char> palindrome_text()
{
    const std::vector<int> v = integers(PALINDROMES, 3, 11123);
    std::vector<char> text(PALINDROMES);
    for (int i = 0; i < PALINDROMES; i++)
        text[i] = (char) ('a' + (i / 256 % 3 ? v[i] : i % 2)); // some parts repeat two letters
    return text;
}

static void palindromes(Run &run, bool hashes)
{
    const std::vector<char> text = palindrome_text();
    const int n = PALINDROMES;
    std::vector<unsigned long long> ahead(n + 1), back(n + 1), powers(n + 1, 1);
    for (int i = 0; i < n; i++) {
        ahead[i + 1] = ahead[i] * PALINDROME_BASE + text[i];
        back[n - 1 - i] = back[n - i] * PALINDROME_BASE + text[n - 1 - i];
        powers[i + 1] = powers[i] * PALINDROME_BASE;
    }
    const char *from = run.upload(text);
    const unsigned long long *da = run.upload(ahead), *db = run.upload(back);
    const unsigned long long *dp = run.upload(powers);
    int *to = run.zeros<int>(n);
    run.measure([=] {
        if (hashes)
            palindromes_hashes_kernel<<<n / 256, 256>>>(da, db, dp, to);
        else
            palindromes_letters_kernel<<<n / 256, 256>>>(from, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](int i) {
            int radius = 0;
            while (radius < PALINDROME_MOST && i - radius > 0 && i + radius < n - 1 &&
                   text[i - radius - 1] == text[i + radius + 1])
                radius++;
            return radius;
        },
        0, 7);
}

static void palindromes_letters(Run &run)
{
    palindromes(run, false);
}

static void palindromes_hashes(Run &run)
{
    palindromes(run, true);
}

// ---- Stop words among tokens: a search in a list of 256, in constant or in shared memory ----

enum { STOP_TOKENS = 3600000, STOP_WORDS = 256 };

__constant__ int stop_constants[STOP_WORDS];

__device__ inline bool is_stop(const int *list, int word)
{
    int at = 0;
#pragma unroll
    for (int step = STOP_WORDS / 2; step; step /= 2)
        at += list[at + step - 1] < word ? step : 0;
    return list[at] == word;
}

template <bool SHARED>
__global__ void stops_kernel(const int *tokens, const int *list, unsigned char *out)
{
    __shared__ int mine[STOP_WORDS];
    if (SHARED) {
        mine[threadIdx.x] = list[threadIdx.x];
        __syncthreads();
    }
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < STOP_TOKENS)
        out[i] = is_stop(SHARED ? mine : stop_constants, tokens[i]);
}

template <bool SHARED> static void stops(Run &run)
{
    const std::vector<int> tokens = integers(STOP_TOKENS, 4000, 11124);
    std::vector<int> list = integers(STOP_WORDS, 4000, 11125);
    std::vector<bool> stopped(4000);
    std::sort(list.begin(), list.end());
    for (int word : list)
        stopped[word] = true;
    const int *from = run.upload(tokens), *dl = run.upload(list);
    unsigned char *to = run.zeros<unsigned char>(STOP_TOKENS);
    CHECK(cudaMemcpyToSymbol(stop_constants, list.data(), sizeof stop_constants));
    run.measure([=] { stops_kernel<SHARED><<<blocks_for(STOP_TOKENS, 256), 256>>>(from, dl, to); });
    run.expect_all(
        run.output(to, STOP_TOKENS), [&](size_t i) { return (int) stopped[tokens[i]]; }, 0, 41);
}

static void stopwords_constant(Run &run)
{
    stops<false>(run);
}

static void stopwords_shared(Run &run)
{
    stops<true>(run);
}

#endif
