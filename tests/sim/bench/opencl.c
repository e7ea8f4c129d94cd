/* opencl.c - runs the kernels of opencl.cl on any OpenCL device and prints the time of each launch,
 * for comparison with another simulator.
 *
 *     opencl FILE transpose|sgemm SIZE
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(cl_int error, const char *call)
{
    if (error == CL_SUCCESS)
        return;
    printf("%s: OpenCL error %d\n", call, error);
    exit(1);
}

static char *read_whole(const char *path)
{
    char *text = calloc(1, 65536);
    FILE *file = fopen(path, "r");

    if (!text || !file || !fread(text, 1, 65535, file)) {
        printf("%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

static cl_kernel build(cl_context context, cl_device_id device, const char *path, const char *name)
{
    const char *source = read_whole(path);
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);

    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error, "clCreateKernel");
    return kernel;
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

/* Compares a few elements with results of the CPU. */
static int is_right(const char *name, const float *in, const float *out, int size)
{
    for (int i = 0; i < size * size; i += 997) {
        double truth = 0;
        for (int k = 0; k < size; k++)
            truth += (double) in[i / size * size + k] * in[k * size + i % size];
        if (!strcmp(name, "transpose"))
            truth = in[i % size * size + i / size];
        double error = out[i] - truth;
        if (error * error > 1e-8 * truth * truth)
            return 0;
    }
    return 1;
}

int main(int count, char **words)
{
    if (count < 4)
        return 2;
    const char *name = words[2];
    const int size = atoi(words[3]), is_sgemm = !strcmp(name, "sgemm");
    const size_t cells = (size_t) size * (size_t) size, bytes = cells * sizeof(float);
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    cl_kernel kernel = build(context, device, words[1], name);

    float *in = malloc(bytes), *out = malloc(bytes);
    if (!in || !out)
        return 1;
    for (size_t i = 0; i < cells; i++)
        in[i] = (float) ((unsigned) i * 2654435761u >> 24) / 256.0f;
    cl_mem from = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, in, &error);
    check(error, "clCreateBuffer");
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    check(error, "clCreateBuffer");

    cl_uint at = 0;
    check(clSetKernelArg(kernel, at++, sizeof to, &to), "clSetKernelArg");
    check(clSetKernelArg(kernel, at++, sizeof from, &from), "clSetKernelArg");
    if (is_sgemm)
        check(clSetKernelArg(kernel, at++, sizeof from, &from), "clSetKernelArg");
    check(clSetKernelArg(kernel, at++, sizeof size, &size), "clSetKernelArg");

    const size_t tile = is_sgemm ? 128 : 32, tiles = (size_t) size / tile;
    const size_t group[2] = { is_sgemm ? 256 : 32, is_sgemm ? 1 : 8 };
    const size_t global[2] = { tiles * group[0], tiles * group[1] };
    double begin = now_ms();
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, group, 0, NULL, NULL), "launch");
    check(clFinish(queue), "clFinish");
    double ms = now_ms() - begin;
    check(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, bytes, out, 0, NULL, NULL), "read");
    if (!is_right(name, in, out, size)) {
        printf("wrong\n");
        return 1;
    }
    printf("%s-%d %.3f\n", name, size, ms);
    return 0;
}
