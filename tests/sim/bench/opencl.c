/* opencl.c - runs a kernel of opencl.cl on any OpenCL device, for comparison with another
 * simulator, and prints the CPU time of its fastest launch.
 *
 *     opencl FILE KERNEL SIZE [REPETITIONS]
 *
 * SIZE: rows and columns of a matrix; of sum and histogram, elements in units of 4,096.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UNIT = 4096, BINS = 256 };

/* What a kernel reads and writes. bytes: the same memory as in. */
typedef struct Data {
    float *in, *out;
    const unsigned char *bytes;
    int size;
} Data;

static double product(const Data *data, int i)
{
    const int size = data->size;
    double sum = 0;

    for (int k = 0; k < size; k++)
        sum += (double) data->in[i / size * size + k] * data->in[k * size + i % size];
    return sum;
}

static double transposed(const Data *data, int i)
{
    return data->in[i % data->size * data->size + i / data->size];
}

static double smooth(const Data *data, int i)
{
    const int size = data->size, x = i % size, y = i / size;
    const float *in = &data->in[i];

    if (x < 1 || x > size - 2 || y < 1 || y > size - 2)
        return 0;
    return 0.5 * *in + 0.125 * ((double) in[-1] + in[1] + in[-size] + in[size]);
}

/* One of 256 groups, each of which adds every 256th row of 256 elements. */
static double part(const Data *data, int i)
{
    double sum = 0;

    for (int at = i * 256; at < data->size * UNIT; at += 65536)
        for (int k = 0; k < 256; k++)
            sum += data->in[at + k];
    return sum;
}

/* A bin, which the device holds as an integer. */
static double counted(const Data *data, int i)
{
    unsigned count = 0;
    float same_bits;

    for (int at = 0; at < data->size * UNIT; at++)
        count += data->bytes[at] == i;
    memcpy(&same_bits, &count, sizeof same_bits);
    return same_bits;
}

typedef struct Row {
    const char *name;
    int inputs;      /* arguments that are the matrix */
    size_t group[2]; /* threads of a group */
    size_t tile[2];  /* elements of a group; 0: the launch has groups */
    size_t groups;
    double (*truth)(const Data *, int i); /* of element i of what the kernel writes */
} Row;

static const Row rows[] = {
    { "transpose", 1, { 32, 8 }, { 32, 32 }, 0, transposed },
    { "sgemm", 2, { 256, 1 }, { 128, 128 }, 0, product },
    { "naive", 2, { 32, 8 }, { 32, 8 }, 0, product },
    { "tiled", 2, { 16, 16 }, { 16, 16 }, 0, product },
    { "stencil", 1, { 32, 8 }, { 32, 8 }, 0, smooth },
    { "histogram", 1, { BINS, 1 }, { 0, 0 }, 64, counted },
    { "sum", 1, { 256, 1 }, { 0, 0 }, 256, part },
};

static const Row *find_row(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    printf("%s: no such kernel\n", name);
    exit(2);
}

static int elements(const Row *row, int size)
{
    return row->groups ? size * UNIT : size * size;
}

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

/* Compares some of what the kernel wrote with results of the CPU. */
static int is_right(const Row *row, const Data *data)
{
    const int count =
        row->groups ? (int) (row->truth == part ? row->groups : BINS) : elements(row, data->size);

    for (int i = 0; i<count; i += count> 65536 ? 997 : 7) {
        double truth = row->truth(data, i), error = data->out[i] - truth;
        if (fabs(error) > 1e-4 * fabs(truth))
            return 0;
    }
    return 1;
}

static Data make_data(const Row *row, int size)
{
    const size_t count = (size_t) elements(row, size);
    Data data = { malloc(count * sizeof(float)), calloc(count, sizeof(float)), NULL, size };

    if (!data.in || !data.out)
        exit(1);
    for (size_t i = 0; i < count; i++)
        data.in[i] = (float) ((unsigned) i * 2654435761u >> 24) / 256.0f;
    data.bytes = (const unsigned char *) data.in;
    return data;
}

static void set_arguments(cl_kernel kernel, const Row *row, cl_mem from, cl_mem to, int count)
{
    cl_uint at = 0;

    check(clSetKernelArg(kernel, at++, sizeof to, &to), "clSetKernelArg");
    for (int i = 0; i < row->inputs; i++)
        check(clSetKernelArg(kernel, at++, sizeof from, &from), "clSetKernelArg");
    check(clSetKernelArg(kernel, at++, sizeof count, &count), "clSetKernelArg");
}

/* Milliseconds of CPU time of one launch from zeroed memory. */
static double launch(cl_command_queue queue, cl_kernel kernel, const Row *row, cl_mem to,
                     const Data *data)
{
    const size_t size = (size_t) data->size;
    const size_t global[2] = { (row->groups ? row->groups : size / row->tile[0]) * row->group[0],
                               (row->groups ? 1 : size / row->tile[1]) * row->group[1] };
    const cl_uint zero = 0;

    check(clEnqueueFillBuffer(queue, to, &zero, sizeof zero, 0,
                              (size_t) elements(row, data->size) * sizeof(float), 0, NULL, NULL),
          "fill");
    check(clFinish(queue), "clFinish");
    double begin = now_ms();
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, row->group, 0, NULL, NULL),
          "launch");
    check(clFinish(queue), "clFinish");
    return now_ms() - begin;
}

int main(int count, char **words)
{
    if (count < 4)
        return 2;
    const Row *row = find_row(words[2]);
    Data data = make_data(row, atoi(words[3]));
    const size_t bytes = (size_t) elements(row, data.size) * sizeof(float);
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    cl_kernel kernel = build(context, device, words[1], row->name);
    cl_mem from = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, data.in, &error);
    check(error, "clCreateBuffer");
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    check(error, "clCreateBuffer");

    set_arguments(kernel, row, from, to, row->groups ? elements(row, data.size) : data.size);
    double ms = launch(queue, kernel, row, to, &data);
    for (int i = 1; i < (count > 4 ? atoi(words[4]) : 1); i++)
        ms = fmin(ms, launch(queue, kernel, row, to, &data));
    check(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, bytes, data.out, 0, NULL, NULL), "read");
    if (!is_right(row, &data)) {
        printf("wrong\n");
        return 1;
    }
    printf("%s-%d %.3f\n", row->name, data.size, ms);
    return 0;
}
