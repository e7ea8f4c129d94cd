// choices.cuh - ifs, switches, conditions of several parts, selections and predicated effects.
#ifndef FLOWS_CHOICES_CUH
#define FLOWS_CHOICES_CUH

#include "flows.cuh"

__global__ void nested_ifs(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int x = a[i], r = 0;
        if (x > 50) {
            if (x > 75) {
                r = x * x - a[(i + 1) % n];
                if (r & 1)
                    r = r / 7;
            } else {
                r = a[(i + 2) % n] + x;
            }
        } else if (x > 25) {
            r = -x;
        }
        out[i] = r;
    }
}

__global__ void long_and_short(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y;
    if (x > 0) {
        y = expf(x) * sinf(x) + logf(1 + x);
        y = y / (1 + y * y) + sqrtf(y);
    } else {
        y = -x;
    }
    out[i] = y;
}

__global__ void grade_letters(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int score = a[i], grade;
    if (score >= 90)
        grade = 'A';
    else if (score >= 80)
        grade = 'B';
    else if (score >= 70)
        grade = 'C';
    else if (score >= 60)
        grade = 'D';
    else
        grade = 'F';
    out[i] = grade;
}

__global__ void income_tax(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float income = (a[i] + 1) * 60000, tax = 0;
    if (income > 80000) {
        tax += (income - 80000) * 0.45f;
        income = 80000;
    }
    if (income > 40000) {
        tax += (income - 40000) * 0.35f;
        income = 40000;
    }
    if (income > 10000)
        tax += (income - 10000) * 0.2f;
    out[i] = tax;
}

__global__ void switch_dense(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[2 * i], y = a[2 * i + 1], r;
    switch (x % 8) {
    case 0:
        r = x + y;
        break;
    case 1:
        r = x - y;
        break;
    case 2:
        r = x * y;
        break;
    case 3:
        r = x / (y + 1);
        break;
    case 4:
        r = x ^ y;
        break;
    case 5:
        r = x << (y & 15);
        break;
    case 6:
        r = x % (y + 1);
        break;
    default:
        r = 0;
    }
    out[i] = r;
}

__global__ void switch_sparse(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int r = 0;
    switch (a[i]) {
    case 3:
        r = a[(i + 1) % n];
        break;
    case 17:
        r = a[(i + 2) % n] * 3;
        break;
    case 40:
        r = a[(i + 3) % n] / 3;
        break;
    case 41:
        r = 9;
        break;
    case 900:
        r = 11;
        break;
    }
    out[i] = r;
}

__global__ void switch_falls(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned h = 0x9e3779b9u;
    const int *p = a + i * 8;
    int length = p[0] & 7;
    switch (length) {
    case 7:
        h += p[6] << 24; // falls through
    case 6:
        h ^= p[5] << 16; // falls through
    case 5:
        h += p[4] * 5; // falls through
    case 4:
        h = h << 3 ^ p[3]; // falls through
    case 3:
        h += p[2]; // falls through
    case 2:
        h *= p[1] | 1; // falls through
    case 1:
        h ^= h >> 7;
    }
    out[i] = h;
}

__global__ void state_machine(const unsigned char *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    enum { SPACE, WORD, NUMBER, DONE } state = SPACE;
    int at = 0, words = 0, numbers = 0;
    while (state != DONE) {
        unsigned char c = at < 24 ? a[i * 24 + at] : 0;
        switch (state) {
        case SPACE:
            if (c >= 10) {
                state = WORD;
                words++;
            } else if (c > 4) {
                state = NUMBER;
                numbers++;
            } else if (c == 0) {
                state = DONE;
            }
            break;
        case WORD:
            if (c < 3)
                state = c ? SPACE : DONE;
            break;
        case NUMBER:
            if (c > 12 || c < 4)
                state = c ? SPACE : DONE;
            break;
        default:
            break;
        }
        at++;
    }
    out[i] = words * 10000 + numbers * 100 + at;
}

__global__ void tiny_machine(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int acc = 1, pc = 0, steps = 0;
    while (pc < 16 && steps < 40) {
        int op = a[i * 16 + pc];
        steps++;
        switch (op % 6) {
        case 0:
            acc += op;
            break;
        case 1:
            acc -= op >> 1;
            break;
        case 2:
            acc *= 3;
            break;
        case 3:
            if (acc & 1)
                pc += 2;
            break;
        case 4:
            if (acc > 100) {
                acc >>= 2;
                pc -= 2;
                if (pc < -1)
                    pc = -1;
            }
            break;
        case 5:
            acc ^= 0x55;
            break;
        }
        pc++;
    }
    out[i] = acc + steps;
}

__global__ void and_with_loads(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 2)
        return;
    if (a[i] > 30 && a[i + 1] > 30 && a[i + 2] > 30)
        out[i] = 1;
    else
        out[i] = 2;
}

__global__ void or_with_loads(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        if (a[i - 1] == a[i] || a[i + 1] == a[i] || a[a[i]] < a[i])
            out[i] = a[i] * 2;
}

__global__ void ternary_loads(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int left = i > 0 ? a[i - 1] : 0, right = i + 1 < n ? a[i + 1] : 0;
    out[i] = a[i] % 2 ? left : a[i] % 3 ? right : a[(i * 7) % n];
}

__global__ void ternary_values(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i];
    float sign = x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f;
    float soft = fabsf(x) > 0.3f ? x - sign * 0.3f : 0;
    out[i] = soft * (x > 0.8f ? 2 : 1);
}

__global__ void store_some(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] % 5 == 0)
        out[i] = i;
}

__global__ void count_classes(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i];
    if (x < 20)
        atomicAdd(&out[x], 1);
    else if (x < 50 && x % 2)
        atomicMax(&out[20 + i % 64], x);
    else if (x == 99)
        atomicOr(&out[100], 1 << (i & 31));
}

__global__ void mark_in_loop(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 10; k++) {
        int x = a[k * n + i];
        if (x < 300)
            atomicAdd(&out[(x * 33 + k) % n], x);
    }
}

__global__ void loop_of_long_ifs(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 0, t = 1;
    for (int k = 0; k < 12; k++) {
        float x = a[k * n + i];
        if (x > 0.5f) {
            s += sqrtf(x) * t;
            t = t * 0.5f + x;
            s = s / (1 + t * t);
        } else if (x < -0.5f) {
            t -= expf(x);
            s = fmaxf(s, t) + 0.25f * x;
            t = fminf(t, s);
        }
        s += x;
    }
    out[i] = s + t;
}

__global__ void loop_of_short_ifs(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int up = 0, down = 0, last = 0;
    for (int k = 0; k < 15; k++) {
        int x = a[k * n + i];
        if (x > last)
            up++;
        if (x < last)
            down++;
        if (x == last && k > 0)
            up = down = 0;
        last = x;
    }
    out[i] = up * 100 + down;
}

__global__ void limiter(const double *a, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1)
        return;
    double l = a[i] - a[i - 1], r = a[i + 1] - a[i], slope;
    if (l * r <= 0)
        slope = 0;
    else if (fabs(l) < fabs(r))
        slope = l;
    else
        slope = r;
    out[i] = a[i] + 0.5 * slope;
}

__global__ void interval_cases(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float r = fabsf(a[i]) * 3, w;
    if (r >= 2)
        w = 0;
    else if (r >= 1)
        w = 0.25f * (2 - r) * (2 - r) * (2 - r);
    else
        w = 1 - 1.5f * r * r + 0.75f * r * r * r;
    out[i] = w;
}

__global__ void early_returns(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i];
    if (x % 3 == 0)
        return;
    int y = a[(i + x) % n];
    if (y < 10) {
        out[i] = -1;
        return;
    }
    int z = a[(i + y) % n];
    if (z > x && z > y)
        return;
    out[i] = x + y + z;
}

#define CHOICES                                                                                    \
    MAP(nested_ifs, ints(100), 1), MAP(long_and_short, reals(), 1),                                \
        MAP(grade_letters, ints(100), 1), MAP(income_tax, reals(), 1),                             \
        MAP(switch_dense, ints(1000), 2), MAP(switch_sparse, ints(50), 1),                         \
        MAP(switch_falls, ints(100000), 8), MAP(state_machine, bytes(20), 24),                     \
        MAP(tiny_machine, ints(600), 16), MAP(and_with_loads, ints(100), 1),                       \
        MAP(or_with_loads, ints(20), 1), MAP(ternary_loads, ints(100), 1),                         \
        MAP(ternary_values, reals(), 1), MAP(store_some, ints(1000), 1),                           \
        MAP(count_classes, ints(100), 1), MAP(mark_in_loop, ints(1000), 10),                       \
        MAP(loop_of_long_ifs, reals(), 12), MAP(loop_of_short_ifs, ints(9), 15),                   \
        MAP(limiter, doubles(), 1), MAP(interval_cases, reals(), 1),                               \
        MAP(early_returns, ints(100), 1)

#endif
