/* mailbox.cu - the host waits, without a CUDA call, for what a kernel writes to pinned or managed
 * memory; and a kernel for what the host writes meanwhile. The first once hung silently, the second
 * was an endless loop if the host was late.
 *
 * expect: ok
 */
#include "check.h"

#include <chrono>
#include <thread>

enum { LETTERS = 3 };

__global__ void write(volatile int *to)
{
    *to = 5;
}

__global__ void answer(volatile int *asked, volatile int *answered)
{
    for (int i = 1; i <= LETTERS; i++) {
        while (*asked < i)
            ;
        *answered = i;
        __threadfence_system();
    }
}

static void wait_for(volatile int *place, int value)
{
    while (*place < value)
        std::this_thread::yield();
}

static void wait_without_call(int *place)
{
    *place = 0;
    write<<<1, 1>>>(place);
    wait_for(place, 5);
    OK(cudaDeviceSynchronize());
}

/* The host asks late. */
static void exchange(volatile int *letters)
{
    letters[0] = letters[1] = 0;
    answer<<<1, 1>>>(letters, letters + 1);
    std::thread host([=] {
        for (int i = 1; i <= LETTERS; i++) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            letters[0] = i;
            wait_for(letters + 1, i);
        }
    });
    OK(cudaDeviceSynchronize());
    host.join();
    CHECK(letters[1] == LETTERS);
}

int main()
{
    static int registered[1024];
    int *pinned, *managed;

    OK(cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault));
    wait_without_call(registered);
    OK(cudaMallocHost(&pinned, 2 * sizeof *pinned));
    OK(cudaMallocManaged(&managed, sizeof *managed));
    wait_without_call(pinned);
    exchange(pinned);
    wait_without_call(managed);
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaHostUnregister(registered));
    puts("ok");
}
