/* control.cu - recursion, indirect and virtual calls, switches, loops that lanes leave early.
 *
 * Every function runs on both sides.
 *
 * expect: ok
 */
#include "digest.h"

#define BOTH static __host__ __device__ __noinline__

/* ---- Recursion ---- */

BOTH int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

BOTH int ackermann(int m, int n)
{
    if (!m)
        return n + 1;
    return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

BOTH int is_odd(int n);
BOTH int is_even(int n)
{
    return n ? is_odd(n - 1) : 1;
}
BOTH int is_odd(int n)
{
    return n ? is_even(n - 1) : 0;
}

/* The n queens problem, with an array in every stack frame. */
BOTH int queens(int n, int row, const int *above)
{
    int found = 0, placed[8];

    if (row == n)
        return 1;
    for (int r = 0; r < row; r++)
        placed[r] = above[r];
    for (int c = 0; c < n; c++) {
        bool seen = false;
        for (int r = 0; r < row && !seen; r++)
            seen = placed[r] == c || placed[r] - c == row - r || c - placed[r] == row - r;
        if (seen)
            continue;
        placed[row] = c;
        found += queens(n, row + 1, placed);
    }
    return found;
}

BOTH int recursion(int i)
{
    int none[8] = {};

    switch (i % 4) {
    case 0:
        return fibonacci(i / 4 % 12);
    case 1:
        return ackermann(2, i / 4 % 5);
    case 2:
        return is_even(i) * 2 + is_odd(i / 3);
    default:
        return queens(4 + i % 3, 0, none);
    }
}

/* ---- Calls through pointers, and virtual ones ---- */

typedef int Function(int);

BOTH int twice(int x)
{
    return 2 * x;
}
BOTH int square(int x)
{
    return x * x;
}
BOTH int negative(int x)
{
    return -x;
}

static __device__ Function *const device_functions[] = { twice, square, negative };

BOTH int through_pointers(int i)
{
#ifdef __CUDA_ARCH__
    Function *const *functions = device_functions;
#else
    static Function *const functions[] = { twice, square, negative };
#endif
    return functions[i % 3](i) + functions[i / 7 % 3](i + 1);
}

struct Shape {
    __host__ __device__ virtual int area() const = 0;
    __host__ __device__ virtual int corners() const
    {
        return 4;
    }
};

struct Rectangle : Shape {
    int a, b;
    __host__ __device__ Rectangle(int x, int y) : a(x), b(y)
    {
    }
    __host__ __device__ int area() const override
    {
        return a * b;
    }
};

struct Triangle : Rectangle {
    __host__ __device__ Triangle(int x, int y) : Rectangle(x, y)
    {
    }
    __host__ __device__ int area() const override
    {
        return Rectangle::area() / 2;
    }
    __host__ __device__ int corners() const override
    {
        return 3;
    }
};

BOTH int describe(const Shape *shape)
{
    return shape->area() * 10 + shape->corners();
}

BOTH int through_classes(int i)
{
    Rectangle rectangle(i, i + 1);
    Triangle triangle(i + 3, 5);
    const Shape *shapes[] = { &rectangle, &triangle };

    return describe(shapes[i & 1]) - describe(shapes[i / 2 & 1]);
}

/* ---- Switches, dense and sparse, falling through ---- */

BOTH int switches(int i)
{
    int r = i;

    switch (i % 17) {
    case 0:
        r += 5;
    case 1:
        r *= 3;
        break;
    case 2:
    case 3:
    case 4:
        return i - 100;
    case 5:
        r = ~r;
        break;
    case 6:
        r ^= 0x55;
    case 7:
        r -= 9;
        break;
    case 8:
        if (i & 32)
            break;
        r /= 3;
    case 9:
        r <<= 2;
        break;
    default:
        r = r % 11 - 4;
    }
    switch (r) {
    case -1000:
        return 1;
    case 12:
        return 2;
    case 777:
        return 3;
    }
    return r;
}

/* ---- Loops ---- */

BOTH int collatz(int i)
{
    int steps = 0;

    for (long long x = i + 1; x != 1; steps++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    return steps;
}

BOTH int loops(int i)
{
    int sum = 0;

    for (int a = 0; a < i % 9; a++) {
        if (a == i % 5)
            continue;
        for (int b = a;; b++) {
            if ((b * i) % 7 == 3)
                break;
            if (b > 12)
                goto next;
            int c = b;
            do {
                sum += c ^ a;
                if (sum > 3000)
                    return sum - 3000;
            } while (c-- > i % 4);
        }
        sum += 1000 * (a & 1);
    next:
        sum ^= a;
    }
    while (sum & 3)
        sum += i | 1;
    return sum;
}

/* A loop that is entered in the middle. */
BOTH int irregular(int i)
{
    int n = i & 15, sum = 0;

    if (i & 16)
        goto middle;
top:
    sum += n;
    if (n % 5 == 4)
        goto out;
middle:
    sum += 100;
    if (--n > 0)
        goto top;
    if (sum & 1)
        return sum;
out:
    return sum * 3;
}

/* ---- */

template <Function function> static __global__ void on_device(int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    y[i] = function(i);
}

template <Function function> static void compare(const char *name, int n)
{
    Array<int> y(n);

    on_device<function><<<(n + 95) / 96, 96>>>(y.device, n);
    y.down();
    for (int i = 0; i < n; i++)
        CHECK(y[i] == function(i));
    digest(name, y);
}

int main()
{
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 16384)); /* the default of 1 KB is too small */
    compare<recursion>("recursion", 100);
    compare<through_pointers>("pointers", 200);
    compare<through_classes>("virtual", 200);
    compare<switches>("switches", 1000);
    compare<collatz>("collatz", 500);
    compare<loops>("loops", 1000);
    compare<irregular>("irregular", 300);
    puts("ok");
}
