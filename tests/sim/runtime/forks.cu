/* forks.cu - a program that forks before it uses the GPU, after that, and through system(). */
#include "../programs/check.h"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

static __global__ void add(int *x, int value)
{
    *x += value;
}

static int compute()
{
    int *x, value = 1;

    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMemcpy(x, &value, sizeof value, cudaMemcpyHostToDevice));
    add<<<1, 1>>>(x, 41);
    OK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    OK(cudaFree(x));
    return value;
}

static int status_of(pid_t child)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(int argc, char **argv)
{
    pid_t child;
    int *x;

    if (argc > 1 && !strcmp(argv[1], "before")) {
        child = fork();
        if (!child)
            exit(compute() == 42 ? 3 : 4);
        CHECK(status_of(child) == 3);
        CHECK(compute() == 42);
        puts("ok");
        return 0;
    }
    CHECK(compute() == 42);
    child = fork();
    if (!child) {
        EXPECT(cudaErrorInitializationError, cudaMalloc(&x, 4));
        EXPECT(cudaErrorInitializationError, cudaDeviceSynchronize());
        add<<<1, 1>>>(x, 1);
        EXPECT(cudaErrorInitializationError, cudaGetLastError());
        exit(5); /* runs all exit handlers */
    }
    CHECK(status_of(child) == 5);
    CHECK(system("exit 6") == 6 << 8);
    CHECK(compute() == 42);
    puts("ok");
}
