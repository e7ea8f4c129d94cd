/* opencl.cl - the kernels of transpose.cu, sgemm.cu, sum.cu and ordinary.cu in OpenCL, with the same
 * tiles in the same order. Only sum differs: OpenCL 1.2 has no shuffles, so a block adds in local memory. */

#define TILE 32
#define ROWS 8

kernel void transpose(global float *out, global const float *in, int size)
{
    local float tile[TILE][TILE + 1];
    int tx = get_local_id(0), ty = get_local_id(1);
    int x = get_group_id(0) * TILE + tx, y = get_group_id(1) * TILE + ty;

    for (int i = 0; i < TILE; i += ROWS)
        if (x < size && y + i < size)
            tile[ty + i][tx] = in[(y + i) * size + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * TILE + tx;
    y = get_group_id(0) * TILE + ty;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < size && y + i < size)
            out[(y + i) * size + x] = tile[tx][ty + i];
}

#define BLOCK 128
#define SLICE 8
#define OWN 8

kernel void sgemm(global float *c, global const float *a, global const float *b, int size)
{
    local float as[SLICE][BLOCK], bs[SLICE][BLOCK];
    int thread = get_local_id(0);
    int row0 = get_group_id(1) * BLOCK, col0 = get_group_id(0) * BLOCK;
    int own_row = thread / (BLOCK / OWN) * OWN, own_col = thread % (BLOCK / OWN) * OWN;
    float sum[OWN][OWN];

    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j++)
            sum[i][j] = 0;
    for (int k0 = 0; k0 < size; k0 += SLICE) {
        int r = thread / 2, q = thread % 2 * 4;
        float4 x = vload4(0, &a[(row0 + r) * size + k0 + q]);
        as[q][r] = x.x;
        as[q + 1][r] = x.y;
        as[q + 2][r] = x.z;
        as[q + 3][r] = x.w;
        r = thread / 32;
        q = thread % 32 * 4;
        vstore4(vload4(0, &b[(k0 + r) * size + col0 + q]), 0, &bs[r][q]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < SLICE; k++) {
            float left[OWN], right[OWN];
            for (int i = 0; i < OWN; i += 4) {
                vstore4(vload4(0, &as[k][own_row + i]), 0, &left[i]);
                vstore4(vload4(0, &bs[k][own_col + i]), 0, &right[i]);
            }
            for (int i = 0; i < OWN; i++)
                for (int j = 0; j < OWN; j++)
                    sum[i][j] = fma(left[i], right[j], sum[i][j]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j += 4)
            vstore4(vload4(0, &sum[i][j]), 0, &c[(row0 + own_row + i) * size + col0 + own_col + j]);
}

kernel void naive(global float *c, global const float *a, global const float *b, int n)
{
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0;

    if (row >= n || col >= n)
        return;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

#define SMALL 16

kernel void tiled(global float *c, global const float *a, global const float *b, int n)
{
    local float as[SMALL][SMALL], bs[SMALL][SMALL];
    int x = get_local_id(0), y = get_local_id(1);
    int col = get_group_id(0) * SMALL + x, row = get_group_id(1) * SMALL + y;
    float sum = 0;

    for (int k0 = 0; k0 < n; k0 += SMALL) {
        as[y][x] = a[row * n + k0 + x];
        bs[y][x] = b[(k0 + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < SMALL; k++)
            sum += as[y][k] * bs[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = sum;
}

kernel void stencil(global float *out, global const float *in, int n)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
        out[y * n + x] =
            0.5f * in[y * n + x] + 0.125f * (in[y * n + x - 1] + in[y * n + x + 1] +
                                             in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

#define BINS 256

kernel void histogram(global uint *counts, global const uchar *pixels, int n)
{
    local uint own[BINS];
    int thread = get_local_id(0);

    own[thread] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&own[pixels[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[thread], own[thread]);
}

#define THREADS 256

kernel void sum(global float *out, global const float *in, int count)
{
    local float own[THREADS];
    int thread = get_local_id(0);
    float x = 0;

    for (int i = get_global_id(0); i < count; i += get_global_size(0))
        x += in[i];
    own[thread] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (thread < distance)
            own[thread] += own[thread + distance];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0)
        out[get_group_id(0)] = own[0];
}
