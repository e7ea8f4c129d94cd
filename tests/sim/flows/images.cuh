// images.cuh - pixels and their neighbours: borders by clamping, mirroring, skipping and wrapping;
// interpolation and clipping.
#ifndef FLOWS_IMAGES_CUH
#define FLOWS_IMAGES_CUH

#include "flows.cuh"

__global__ void local_peak(const float *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int width = 90, height = n / width, x = i % width, y = i / width;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    float c = a[i];
    if (c > a[i - 1] && c > a[i + 1] && c > a[i - width] && c > a[i + width])
        out[i] = 1;
}

__global__ void border_clamp(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int width = 111, height = n / width;
    if (i >= width * height)
        return;
    int x = i % width, y = i / width;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int u = min(max(x + dx, 0), width - 1), v = min(max(y + dy, 0), height - 1);
            sum += a[v * width + u];
        }
    out[i] = sum / 9;
}

__global__ void border_mirror(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, width = 90;
    if (i >= n)
        return;
    int x = i % width, row = i - x;
    float sum = 0;
    for (int d = -3; d <= 3; d++) {
        int u = x + d;
        if (u < 0)
            u = -u;
        if (u >= width)
            u = 2 * width - 2 - u;
        sum += a[row + u] * (4 - abs(d));
    }
    out[i] = sum;
}

__global__ void border_skip(const int *a, int *out, int n, int width, int radius)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = i % width, y = i / width, height = n / width, sum = 0, count = 0;
    for (int v = y - radius; v <= y + radius; v++) {
        if (v < 0 || v >= height)
            continue;
        for (int u = x - radius; u <= x + radius; u++) {
            if (u >= 0 && u < width) {
                sum += a[v * width + u];
                count++;
            }
        }
    }
    out[i] = sum / count;
}

__global__ void border_wrap(const unsigned char *a, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, width = 74, height = n / width;
    if (i >= width * height)
        return;
    int x = i % width, y = i / width, alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                alive += a[(y + dy + height) % height * width + (x + dx + width) % width] & 1;
    out[i] = alive == 3 || (alive == 2 && a[i] & 1);
}

__global__ void bilinear_clamped(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, width = 90, height = n / width;
    if (i >= n)
        return;
    float x = i % width + 3 * a[i] - 0.5f, y = i / width + 3 * a[n - 1 - i] - 0.5f;
    if (x < 0 || y < 0 || x > width - 1 || y > height - 1) {
        out[i] = 0;
        return;
    }
    int u = (int) x, v = (int) y;
    float fx = x - u, fy = y - v;
    int u1 = u + 1 < width ? u + 1 : u, v1 = v + 1 < height ? v + 1 : v;
    float top = a[v * width + u] * (1 - fx) + a[v * width + u1] * fx;
    float low = a[v1 * width + u] * (1 - fx) + a[v1 * width + u1] * fx;
    out[i] = top * (1 - fy) + low * fy;
}

__global__ void clip_line(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x0 = 2 * a[4 * i], y0 = 2 * a[4 * i + 1], x1 = 2 * a[4 * i + 2], y1 = 2 * a[4 * i + 3];
    float t0 = 0, t1 = 1, dx = x1 - x0, dy = y1 - y0;
    for (int edge = 0; edge < 4; edge++) {
        float p = edge == 0 ? -dx : edge == 1 ? dx : edge == 2 ? -dy : dy;
        float q = edge == 0 ? x0 + 1 : edge == 1 ? 1 - x0 : edge == 2 ? y0 + 1 : 1 - y0;
        if (p == 0 && q < 0)
            return;
        float r = q / p;
        if (p < 0) {
            if (r > t1)
                return;
            if (r > t0)
                t0 = r;
        } else if (p > 0) {
            if (r < t0)
                return;
            if (r < t1)
                t1 = r;
        }
    }
    out[i] = t1 - t0;
}

#define IMAGES                                                                                     \
    MAP(local_peak, reals(), 1), MAP(border_clamp, reals(), 1), MAP(border_mirror, reals(), 1),    \
        MAP_WITH(border_skip, ints(100), 1, 90, 2), MAP(border_wrap, bytes(256), 1),               \
        MAP(bilinear_clamped, reals(), 1), MAP(clip_line, reals(), 4)

#endif
