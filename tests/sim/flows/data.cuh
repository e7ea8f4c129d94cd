// data.cuh - private arrays, sorting, searching, tables, lists, rows of sparse matrices and queues.
#ifndef FLOWS_DATA_CUH
#define FLOWS_DATA_CUH

#include "flows.cuh"

__global__ void sort_insertion(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v[10];
    if (i >= n)
        return;
    for (int k = 0; k < 10; k++)
        v[k] = a[k * n + i];
    for (int k = 1; k < 10; k++) {
        int x = v[k], j = k;
        while (j > 0 && v[j - 1] > x) {
            v[j] = v[j - 1];
            j--;
        }
        v[j] = x;
    }
    out[i] = v[5];
}

__global__ void sort_bubble(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v[9];
    bool swapped = true;
    if (i >= n)
        return;
    for (int k = 0; k < 9; k++)
        v[k] = a[i * 9 + k];
    while (swapped) {
        swapped = false;
        for (int k = 0; k < 8; k++)
            if (v[k] > v[k + 1]) {
                int t = v[k];
                v[k] = v[k + 1];
                v[k + 1] = t;
                swapped = true;
            }
    }
    out[i] = v[4] * 100 + v[0];
}

__global__ void sort_selection(const float *a, float *out, int n, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v[16];
    for (int k = 0; k < count; k++)
        v[k] = a[k * n + i];
    for (int p = 0; p < count - 1; p++) {
        int best = p;
        for (int q = p + 1; q < count; q++)
            if (v[q] < v[best])
                best = q;
        if (best != p) {
            float t = v[p];
            v[p] = v[best];
            v[best] = t;
        }
    }
    out[i] = v[count / 2];
}

__global__ void sort_shell(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v[20];
    for (int k = 0; k < 20; k++)
        v[k] = a[k * n + i];
    for (int gap = 9; gap > 0; gap /= 2)
        for (int k = gap; k < 20; k++) {
            int x = v[k], j;
            for (j = k; j >= gap && v[j - gap] > x; j -= gap)
                v[j] = v[j - gap];
            v[j] = x;
        }
    out[i] = v[10];
}

__global__ void median_of_nine(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 4 || i >= n - 4)
        return;
    float w[9];
#pragma unroll
    for (int k = 0; k < 9; k++)
        w[k] = a[i + k - 4];
#pragma unroll
    for (int p = 0; p < 5; p++)
#pragma unroll
        for (int q = p + 1; q < 9; q++)
            if (w[q] < w[p]) {
                float t = w[p];
                w[p] = w[q];
                w[q] = t;
            }
    out[i] = w[4];
}

__global__ void binary_search(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int wanted = a[i], low = 0, high = n - 1, found = -1;
    while (low <= high) {
        int mid = (low + high) / 2, x = mid * 3 + mid % 5;
        if (x == wanted) {
            found = mid;
            break;
        }
        if (x < wanted)
            low = mid + 1;
        else
            high = mid - 1;
    }
    out[i] = found;
}

__global__ void lower_bound_rows(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int low = 0, high = 200, x = a[i];
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (a[mid] % 7 + mid * 5 < x)
            low = mid + 1;
        else
            high = mid;
    }
    out[i] = low;
}

__global__ void probe_table(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = a[i], slot = key * 2654435761u % 1024, probes = 0;
    while (probes < 64) {
        int x = a[slot];
        if (x == key) {
            out[i] = slot;
            return;
        }
        if (x < 50)
            break;
        slot = (slot + 1) & 1023;
        probes++;
    }
    out[i] = -1 - probes;
}

__global__ void argmin_row(const float *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int best = 0;
    float least = a[i];
    for (int k = 1; k < 18; k++) {
        float x = a[k * n + i];
        if (x < least) {
            least = x;
            best = k;
        }
    }
    out[i] = best;
}

__global__ void nearest_center(const float *a, int *out, int n, int centers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = -1;
    if (i >= n)
        return;
    float x = a[3 * i], y = a[3 * i + 1], z = a[3 * i + 2], least = 1e30f;
    for (int c = 0; c < centers; c++) {
        float dx = x - a[3 * c], dy = y - a[3 * c + 1], dz = z - a[3 * c + 2];
        float d = dx * dx + dy * dy + dz * dz;
        if (d < least) {
            least = d;
            best = c;
        }
    }
    out[i] = best;
}

__global__ void two_largest(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, first = -1, second = -1;
    if (i >= n)
        return;
    for (int k = 0; k < 14; k++) {
        int x = a[i * 14 + k];
        if (x > first) {
            second = first;
            first = x;
        } else if (x > second) {
            second = x;
        }
    }
    out[i] = first * 1000 + second;
}

__global__ void csr_rows(const int *a, int *out, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    int from = row * 6 + a[row] % 5, to = (row + 1) * 6 + a[row + 1] % 5, sum = 0;
    for (int k = from; k < to; k++)
        sum += a[k] * a[a[k]];
    out[row] = sum;
}

__global__ void ell_rows(const int *a, float *out, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        int column = a[k * n + row] - 300;
        if (column < 0)
            continue;
        sum += 0.5f * a[column];
    }
    out[row] = sum;
}

__global__ void linked_list(const int *a, int *out, int n)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, i = at, length = 0;
    if (i >= n)
        return;
    while (at >= 0 && length < 50) {
        int next = a[at];
        at = next % 10 == 0 ? -1 : next;
        length++;
    }
    out[i] = length;
}

__global__ void union_find_root(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int root = i;
    while (root > 100) {
        int parent = a[root] % (root + 1);
        if (parent == root)
            break;
        root = parent;
    }
    out[i] = root;
}

__global__ void stack_walk(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stack[16], top = 0, sum = 0;
    if (i >= n)
        return;
    stack[top++] = 1;
    while (top > 0) {
        int node = stack[--top];
        int x = a[(node * 37 + i) % n];
        sum += x;
        if (node < 32) {
            if (x & 1)
                stack[top++] = 2 * node;
            if (x & 2)
                stack[top++] = 2 * node + 1;
        }
    }
    out[i] = sum;
}

__global__ void queue_fill(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned char queue[25];
    unsigned walls = a[i] & a[(i + 1) % n], seen = walls | 1, head = 0, tail = 0, steps = 0;
    queue[tail++] = 0;
    while (head < tail) {
        int p = queue[head++], x = p % 5, y = p / 5;
        steps++;
        if (x > 0 && !(seen >> (p - 1) & 1)) {
            seen |= 1u << (p - 1);
            queue[tail++] = p - 1;
        }
        if (x < 4 && !(seen >> (p + 1) & 1)) {
            seen |= 1u << (p + 1);
            queue[tail++] = p + 1;
        }
        if (y > 0 && !(seen >> (p - 5) & 1)) {
            seen |= 1u << (p - 5);
            queue[tail++] = p - 5;
        }
        if (y < 4 && !(seen >> (p + 5) & 1)) {
            seen |= 1u << (p + 5);
            queue[tail++] = p + 5;
        }
    }
    out[i] = steps;
}

__global__ void digit_counts(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned char count[10] = {};
    unsigned x = a[i], most = 0;
    while (x) {
        count[x % 10]++;
        x /= 10;
    }
    for (int d = 0; d < 10; d++)
        if (count[d] > count[most])
            most = d;
    out[i] = most;
}

__global__ void edit_distance(const unsigned char *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *s = a + i * 16, *t = s + 8;
    int row[9];
    for (int k = 0; k <= 8; k++)
        row[k] = k;
    for (int p = 1; p <= 8; p++) {
        int diagonal = row[0];
        row[0] = p;
        for (int q = 1; q <= 8; q++) {
            int cost = s[p - 1] == t[q - 1] ? diagonal : 1 + min(diagonal, min(row[q], row[q - 1]));
            diagonal = row[q];
            row[q] = cost;
        }
    }
    out[i] = row[8];
}

__global__ void merge_two(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int *s = a + i * 16, *t = s + 8;
    int p = 0, q = 0, sum = 0, x = s[0] & 7, y = t[0] & 7;
    for (int k = 0; k < 16; k++) {
        if (q >= 8 || (p < 8 && x <= y)) {
            sum = sum * 3 + x;
            p++;
            if (p < 8)
                x += s[p] & 7;
        } else {
            sum = sum * 5 + y;
            q++;
            if (q < 8)
                y += t[q] & 7;
        }
    }
    out[i] = sum;
}

__global__ void grid_walk(const float *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float dx = a[2 * i], dy = a[2 * i + 1];
    int x = 20, y = 20, sx = dx < 0 ? -1 : 1, sy = dy < 0 ? -1 : 1, steps = 0;
    float tx = 0.5f / fabsf(dx), ty = 0.5f / fabsf(dy), ux = 2 * tx, uy = 2 * ty;
    while (x >= 0 && y >= 0 && x < 40 && y < 40) {
        if (a[y * 40 + x] > 0.97f)
            break;
        if (tx < ty) {
            tx += ux;
            x += sx;
        } else {
            ty += uy;
            y += sy;
        }
        steps++;
    }
    out[i] = steps * 10 + (x >= 0 && x < 40);
}

__global__ void queens(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned all = 31;
    unsigned columns[6], left[6], right[6], open[6];
    int row = 0, count = 0;
    columns[0] = a[i] & 3;
    left[0] = right[0] = 0;
    open[0] = all & ~columns[0];
    while (row >= 0) {
        if (open[row] == 0) {
            row--;
            continue;
        }
        unsigned bit = open[row] & -open[row];
        open[row] ^= bit;
        if (row == 2) {
            count++;
            continue;
        }
        columns[row + 1] = columns[row] | bit;
        left[row + 1] = (left[row] | bit) << 1;
        right[row + 1] = (right[row] | bit) >> 1;
        row++;
        open[row] = all & ~(columns[row] | left[row] | right[row]);
    }
    out[i] = count;
}

#define DATA                                                                                       \
    MAP(sort_insertion, ints(100), 10), MAP(sort_bubble, ints(90), 9),                             \
        MAP_WITH(sort_selection, reals(), 13, 13), MAP(sort_shell, ints(1000), 20),                \
        MAP(median_of_nine, reals(), 1), MAP(binary_search, ints(30000), 1),                       \
        MAP(lower_bound_rows, ints(1000), 1), MAP(probe_table, ints(400), 1),                      \
        MAP(argmin_row, reals(), 18), MAP_WITH(nearest_center, reals(), 3, 11),                    \
        MAP(two_largest, ints(900), 14), MAP(csr_rows, ints(9000), 8),                             \
        MAP(ell_rows, ints(1000), 8), MAP(linked_list, ints(9990), 1),                             \
        MAP(union_find_root, ints(100000), 1), MAP(stack_walk, ints(1000), 1),                     \
        MAP(queue_fill, hashes(), 1), MAP(digit_counts, hashes(), 1),                              \
        MAP(edit_distance, bytes(5), 16), MAP(merge_two, ints(1000), 16),                          \
        MAP(grid_walk, reals(), 2), MAP(queens, ints(1000), 1)

#endif
