/* ends.cu - a program that ends in an unusual way, after one successful launch:
 *
 *     ends HOW
 */
#include "../programs/check.h"

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

static int *x;
static jmp_buf back;

static __global__ void fill(int *x, int value)
{
    x[threadIdx.x] = value;
}

static __global__ void endless(int *x)
{
    while (atomicAdd(&x[1], 1) != -5)
        ;
}

static int overflow(volatile int *above)
{
    volatile int here[1000];

    here[0] = *above + 1;
    return overflow(here) + here[0];
}

static void CUDART_CB leave(void *)
{
    exit(21);
}

static void CUDART_CB jump(void *)
{
    longjmp(back, 1);
}

static void CUDART_CB touch(void *)
{
    exit(x[3]);
}

static void CUDART_CB stop(void *)
{
    raise(SIGTERM);
}

static void *run_endless(void *)
{
    endless<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    return NULL;
}

static void *wait_long(void *)
{
    for (;;) { /* when it is cancelled, it may hold the lock or be writing a message */
        fill<<<1, 32>>>(x, 1);
        cudaDeviceSynchronize();
        cudaMemcpy((void *) 8, x, 4, cudaMemcpyDeviceToHost);
        pthread_testcancel();
    }
}

static void at_end()
{
    int value = 0;

    OK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    printf("%d at the end\n", value);
}

static void by_thread(void *(*run)(void *), bool cancel)
{
    pthread_t thread;

    CHECK(!pthread_create(&thread, NULL, run, NULL));
    usleep(300000);
    if (cancel) {
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        OK(cudaDeviceSynchronize());
        exit(22);
    }
    exit(23); /* while the thread is in the kernel */
}

static void callback(cudaHostFn_t function)
{
    OK(cudaLaunchHostFunc(0, function, NULL));
    cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    volatile int zero = 0;

    OK(cudaMalloc(&x, 32 * sizeof *x));
    fill<<<1, 32>>>(x, 17);
    OK(cudaDeviceSynchronize());
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "device_pointer"))
        return x[3];
    if (!strcmp(how, "null"))
        return *(volatile int *) 8;
    if (!strcmp(how, "division"))
        return argc / zero;
    if (!strcmp(how, "overflow"))
        return overflow(&zero);
    if (!strcmp(how, "terminated"))
        raise(SIGTERM);
    if (!strcmp(how, "killed"))
        raise(SIGKILL);
    if (!strcmp(how, "own_handler")) {
        signal(SIGSEGV, [](int) { _exit(24); });
        return x[3];
    }
    if (!strcmp(how, "quick_exit"))
        quick_exit(25);
    if (!strcmp(how, "atexit")) {
        atexit(at_end);
        fill<<<1, 32>>>(x, 18);
        return 26;
    }
    if (!strcmp(how, "exit_in_callback"))
        callback(leave);
    if (!strcmp(how, "fault_in_callback"))
        callback(touch);
    if (!strcmp(how, "signal_in_callback"))
        callback(stop);
    if (!strcmp(how, "jump_out_of_callback")) {
        if (!setjmp(back))
            callback(jump);
        EXPECT(cudaErrorNotPermitted, cudaDeviceSynchronize());
        return 27;
    }
    if (!strcmp(how, "in_kernel")) {
        alarm(0);
        run_endless(NULL);
    }
    if (!strcmp(how, "thread_in_kernel"))
        by_thread(run_endless, false);
    if (!strcmp(how, "cancelled"))
        by_thread(wait_long, true);
    if (!strcmp(how, "unfinished"))
        fill<<<1, 32>>>(x, 18);
    OK(cudaFree(strcmp(how, "unfinished") ? x : NULL));
    return 20;
}
