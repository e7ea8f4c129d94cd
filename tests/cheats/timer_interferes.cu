// expect: slow (sim: skipped) - a timer launches kernels during the reference's samples
// lab: coalescing
//
// The student's process is alive and idle while the reference's samples run. It needs no library
// call to be woken: two system calls, written in assembly, set a timer, and its handler launches a
// kernel that spins for 2 ms. Both contexts share the GPU, so the reference's samples would take
// longer, and the ratio would look better than it is. (Our own variant of exploits 6 and 26, "a
// stream stays busy".) Defence: a guest is stopped while it has no request. Its timer's signals
// arrive when its own call resumes, and slow only that.
#include "cudalab.cuh"
#include "kernel.h"

enum { CALL_RT_SIGACTION = 13, CALL_SETITIMER = 38, SIGNAL_ALARM = 14 };
enum { WITH_CONTEXT = 4, WITH_RESTORER = 0x04000000, REGISTERS_AT = 5, RAX = 13, INTERRUPTED = -4 };

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;

    if (r < rows)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

__global__ void spin_kernel(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

static long system_call(long number, long a, long b, long c, long d)
{
    long result;
    register long r10 asm("r10") = d;

    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                 : "rcx", "r11", "memory");
    return result;
}

asm(".text\nreturn_from_signal: mov $15, %eax\nsyscall\n");
extern "C" void return_from_signal(void) __attribute__((visibility("hidden")));

// Only while the runner sleeps, waiting for a command: in the middle of a CUDA call a launch could
// wait for a lock that this very thread holds.
static void on_alarm(int, void *, void *context)
{
    if (((long *) context + REGISTERS_AT)[RAX] == INTERRUPTED)
        spin_kernel<<<1, 32>>>(4000000);
}

static void set_timer(void)
{
    struct {
        void (*handler)(int, void *, void *);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = { on_alarm, WITH_CONTEXT | WITH_RESTORER, return_from_signal, 0 };
    long every_3_ms[4] = { 0, 3000, 0, 3000 };

    system_call(CALL_RT_SIGACTION, SIGNAL_ALARM, (long) &action, 0, 8);
    system_call(CALL_SETITIMER, 0, (long) every_3_ms, 0, 0);
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    static bool begun;
    long count = (long) rows * cols;

    if (!begun && count > 30000000) { // the timed stage
        begun = true;
        set_timer();
    }
    standardise_kernel<<<dim3(ceil_div(rows, 256), cols), 256>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
