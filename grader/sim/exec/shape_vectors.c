/* shape_vectors.c - compares the addresses of all lanes with each other. */
#include "sim/exec/shape_vectors.h"

#if defined __x86_64__
#include <immintrin.h>

#define WITH_AVX512 __attribute__((target("avx512f,avx512cd,avx2")))
enum { HALF = LANES / 2, BANKS = 32, NO_BANK = 0xff };

bool has_shape_vectors(void)
{
    static int answer = -1;

    int now = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (now < 0) {
        __builtin_cpu_init();
        now = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
              __builtin_cpu_supports("avx2");
        __atomic_store_n(&answer, now, __ATOMIC_RELAXED);
    }
    return now;
}

/* Each half of the lanes is compared with itself, then the upper half with each lower lane. */
WITH_AVX512 uint32_t first_of_narrow(const uint32_t narrow[LANES], uint32_t *followed)
{
    const __m512i low = _mm512_loadu_si512(narrow), high = _mm512_loadu_si512(narrow + HALF);
    const __m512i before_low = _mm512_conflict_epi32(low), before = _mm512_conflict_epi32(high);
    uint32_t again = 0, shared = 0;

    for (int i = 0; i < HALF; i++) {
        const uint32_t same = _mm512_cmpeq_epi32_mask(_mm512_set1_epi32((int) narrow[i]), high);
        again |= same;
        shared |= (uint32_t) (same != 0) << i;
    }
    again = _mm512_test_epi32_mask(before_low, before_low) |
            (again | _mm512_test_epi32_mask(before, before)) << HALF;
    shared |= (uint32_t) _mm512_reduce_or_epi32(before_low) |
              (uint32_t) _mm512_reduce_or_epi32(before) << HALF;
    *followed = shared & ~again;
    return ~again;
}

WITH_AVX512 static __m128i banks_of(const uint32_t narrow[HALF], __mmask16 lanes)
{
    const __m512i word = _mm512_srli_epi32(_mm512_loadu_si512(narrow), 2);

    return _mm512_cvtepi32_epi8(_mm512_mask_and_epi32(_mm512_set1_epi32(NO_BANK), lanes, word,
                                                      _mm512_set1_epi32(BANKS - 1)));
}

WITH_AVX512 static int maximum(__m256i bytes)
{
    __m128i most = _mm_max_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));

    most = _mm_max_epu8(most, _mm_srli_si128(most, 8));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 4));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 2));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 1));
    return _mm_cvtsi128_si32(most) & 0xff;
}

/* Counts for each lane those in its bank. */
WITH_AVX512 int most_in_bank(const uint32_t narrow[LANES], uint32_t lanes)
{
    const __m128i low = banks_of(narrow, (__mmask16) lanes);
    const __m128i high = banks_of(narrow + HALF, (__mmask16) (lanes >> HALF));
    const __m256i bank = _mm256_set_m128i(high, low);
    __m256i count = _mm256_setzero_si256();
    char each[LANES];

    _mm_storeu_si128((__m128i *) each, low);
    _mm_storeu_si128((__m128i *) (each + HALF), high);
    for (int i = 0; i < LANES; i++)
        count = _mm256_sub_epi8(count, _mm256_cmpeq_epi8(bank, _mm256_set1_epi8(each[i])));
    return maximum(
        _mm256_andnot_si256(_mm256_cmpeq_epi8(bank, _mm256_set1_epi8((char) NO_BANK)), count));
}

#else
bool has_shape_vectors(void)
{
    return false;
}

uint32_t first_of_narrow(const uint32_t narrow[LANES], uint32_t *followed)
{
    (void) narrow;
    return *followed = 0;
}

int most_in_bank(const uint32_t narrow[LANES], uint32_t lanes)
{
    (void) narrow;
    (void) lanes;
    return 0;
}
#endif
