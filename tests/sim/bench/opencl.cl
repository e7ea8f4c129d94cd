/* opencl.cl - transpose.cu and sgemm.cu in OpenCL, with the same tiles in the same order. */

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
