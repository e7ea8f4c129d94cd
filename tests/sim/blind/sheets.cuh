// sheets.cuh - spreadsheets: running totals, formulas, pivot tables, sums by criterion, and
// recalculation in the order of references.
#ifndef BLIND_SHEETS_CUH
#define BLIND_SHEETS_CUH

#include "blind.cuh"

// ---- Running totals down each column: a thread per column, or strips of rows ----

enum { SHEET_COLUMNS = 4096, SHEET_ROWS = 2048, SHEET_STRIP = 64 };
enum { SHEET_STRIPS = SHEET_ROWS / SHEET_STRIP };

__global__ void sheet_totals_kernel(const int *cells, int *out)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    int total = 0;
    for (int r = 0; r < SHEET_ROWS; r++) {
        total += cells[r * SHEET_COLUMNS + c];
        out[r * SHEET_COLUMNS + c] = total;
    }
}

__global__ void sheet_strip_sums_kernel(const int *cells, int *sums)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * SHEET_STRIP;
    int sum = 0;
    for (int r = first; r < first + SHEET_STRIP; r++)
        sum += cells[r * SHEET_COLUMNS + c];
    sums[blockIdx.y * SHEET_COLUMNS + c] = sum;
}

// Replaces the sums of strips by those of all strips above.
__global__ void sheet_strip_starts_kernel(int *sums)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    int start = 0;
    for (int s = 0; s < SHEET_STRIPS; s++) {
        const int sum = sums[s * SHEET_COLUMNS + c];
        sums[s * SHEET_COLUMNS + c] = start;
        start += sum;
    }
}

__global__ void sheet_strip_totals_kernel(const int *cells, const int *starts, int *out)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * SHEET_STRIP;
    int total = starts[blockIdx.y * SHEET_COLUMNS + c];
    for (int r = first; r < first + SHEET_STRIP; r++) {
        total += cells[r * SHEET_COLUMNS + c];
        out[r * SHEET_COLUMNS + c] = total;
    }
}

static void sheet_totals(Run &run, bool strips)
{
    const size_t n = (size_t) SHEET_ROWS * SHEET_COLUMNS;
    const std::vector<int> cells = integers(n, 20000, 17520);
    const int *from = run.upload(cells);
    int *sums = run.zeros<int>(SHEET_STRIPS * SHEET_COLUMNS), *to = run.zeros<int>(n);
    const dim3 grid(SHEET_COLUMNS / 128, SHEET_STRIPS);
    run.measure([=] {
        if (!strips) {
            sheet_totals_kernel<<<SHEET_COLUMNS / 64, 64>>>(from, to);
            return;
        }
        sheet_strip_sums_kernel<<<grid, 128>>>(from, sums);
        sheet_strip_starts_kernel<<<SHEET_COLUMNS / 128, 128>>>(sums);
        sheet_strip_totals_kernel<<<grid, 128>>>(from, sums, to);
    });
    const std::vector<int> got = run.output(to, n);
    for (int c = 0; c < SHEET_COLUMNS; c += 41) {
        int total = 0;
        for (int r = 0; r < SHEET_ROWS; r++) {
            total += cells[r * SHEET_COLUMNS + c];
            run.expect(got[r * SHEET_COLUMNS + c], total, 0);
        }
    }
}

static void sheet_totals_columns(Run &run)
{
    sheet_totals(run, false);
}

static void sheet_totals_strips(Run &run)
{
    sheet_totals(run, true);
}

// ---- Formulas as lists of tokens, a thread per cell: its stack in local or in shared memory ----

enum { SHEET_FORMULAS = 12, SHEET_INPUTS = 10, SHEET_RECORDS = 49152, SHEET_DEPTH = 8 };
enum { SHEET_NUMBER, SHEET_CELL, SHEET_ABOVE, SHEET_PLUS, SHEET_MINUS, SHEET_TIMES, SHEET_MAX };
enum { SHEET_IF = SHEET_MAX + 1 };

// The value for a row of the formula whose tokens begin at `token`; the last token is -1. The
// elements of the stack are `step` apart.
__host__ __device__ inline float sheet_value(const int *token, const float *inputs, int row,
                                             float *stack, int step)
{
    int top = -1;
    for (; *token >= 0; token++) {
        const int argument = *token >> 4;
        const float *column = inputs + (size_t) argument * SHEET_RECORDS;
        switch (*token & 15) {
        case SHEET_NUMBER:
            stack[++top * step] = argument * 0.01f;
            break;
        case SHEET_CELL:
            stack[++top * step] = column[row];
            break;
        case SHEET_ABOVE:
            stack[++top * step] = column[row ? row - 1 : 0];
            break;
        case SHEET_PLUS:
            top--;
            stack[top * step] += stack[(top + 1) * step];
            break;
        case SHEET_MINUS:
            top--;
            stack[top * step] -= stack[(top + 1) * step];
            break;
        case SHEET_TIMES:
            top--;
            stack[top * step] *= stack[(top + 1) * step];
            break;
        case SHEET_MAX:
            top--;
            stack[top * step] = fmaxf(stack[top * step], stack[(top + 1) * step]);
            break;
        default:
            top -= 2;
            if (stack[top * step] > 0)
                stack[top * step] = stack[(top + 1) * step];
            else
                stack[top * step] = stack[(top + 2) * step];
        }
    }
    return stack[0];
}

__global__ void sheet_formula_local_kernel(const int *tokens, const int *first, const float *inputs,
                                           float *out)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y;
    float stack[SHEET_DEPTH];
    out[f * SHEET_RECORDS + row] = sheet_value(tokens + first[f], inputs, row, stack, 1);
}

__global__ void sheet_formula_shared_kernel(const int *tokens, const int *first,
                                            const float *inputs, float *out)
{
    __shared__ float stacks[SHEET_DEPTH * 128];
    const int row = blockIdx.x * 128 + threadIdx.x, f = blockIdx.y;
    float *stack = stacks + threadIdx.x;
    out[f * SHEET_RECORDS + row] = sheet_value(tokens + first[f], inputs, row, stack, 128);
}

// Appends a formula of at most `depth` nested operations.
static void sheet_formula(std::vector<int> &tokens, int depth, uint32_t &seed)
{
    const uint32_t draw = seed = mix(seed + 17521);
    if (depth <= 0 || draw % 8 == 0) {
        const int leaf = draw / 8 % 5, argument = draw / 64 % SHEET_INPUTS;
        tokens.push_back(argument << 4 | (leaf > 2 ? SHEET_CELL : leaf));
        return;
    }
    const int operation = SHEET_PLUS + draw / 8 % 5;
    for (int k = 0; k < (operation == SHEET_IF ? 3 : 2); k++)
        sheet_formula(tokens, depth - 1 - (k == 2), seed);
    tokens.push_back(operation);
}

// The formulas of the first columns are the longest.
static void sheet_formulas(Run &run, bool shared)
{
    std::vector<int> tokens, first;
    uint32_t seed = 17522;
    for (int f = 0; f < SHEET_FORMULAS; f++) {
        first.push_back((int) tokens.size());
        sheet_formula(tokens, f < 2 ? 4 : f < 7 ? 3 : 2, seed);
        tokens.push_back(-1);
    }
    const std::vector<float> inputs = floats(SHEET_INPUTS * SHEET_RECORDS, 17523);
    const int *dt = run.upload(tokens), *df = run.upload(first);
    const float *di = run.upload(inputs);
    const size_t n = (size_t) SHEET_FORMULAS * SHEET_RECORDS;
    float *to = run.zeros<float>(n);
    const dim3 grid(SHEET_RECORDS / 128, SHEET_FORMULAS);
    run.measure([=] {
        if (shared)
            sheet_formula_shared_kernel<<<grid, 128>>>(dt, df, di, to);
        else
            sheet_formula_local_kernel<<<grid, 128>>>(dt, df, di, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            float stack[SHEET_DEPTH];
            return sheet_value(&tokens[first[i / SHEET_RECORDS]], inputs.data(), i % SHEET_RECORDS,
                               stack, 1);
        },
        1e-5, 101);
}

static void sheet_formula_local(Run &run)
{
    sheet_formulas(run, false);
}

static void sheet_formula_shared(Run &run)
{
    sheet_formulas(run, true);
}

// ---- Pivot table of regions and products: sums by atomics on global or on shared memory ----

enum { SHEET_SALES = 1500000, SHEET_REGIONS = 36, SHEET_PRODUCTS = 64 };
enum { SHEET_PIVOT = SHEET_REGIONS * SHEET_PRODUCTS };

struct SheetSale {
    unsigned char region, product;
    short pieces;
    int cents;
};

__device__ inline void sheet_add(const SheetSale &sale, unsigned long long *table)
{
    atomicAdd(&table[sale.region * SHEET_PRODUCTS + sale.product],
              (unsigned long long) sale.pieces * sale.cents);
}

__global__ void sheet_pivot_global_kernel(const SheetSale *sales, unsigned long long *table)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SHEET_SALES)
        sheet_add(sales[i], table);
}

__global__ void sheet_pivot_shared_kernel(const SheetSale *sales, unsigned long long *table)
{
    __shared__ unsigned long long mine[SHEET_PIVOT];
    for (int k = threadIdx.x; k < SHEET_PIVOT; k += blockDim.x)
        mine[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < SHEET_SALES;
         i += gridDim.x * blockDim.x)
        sheet_add(sales[i], mine);
    __syncthreads();
    for (int k = threadIdx.x; k < SHEET_PIVOT; k += blockDim.x)
        if (mine[k])
            atomicAdd(&table[k], mine[k]);
}

// Some regions and products sell better than others.
static std::vector<SheetSale> sheet_sales()
{
    std::vector<SheetSale> sales(SHEET_SALES);
    const std::vector<uint32_t> a = words(SHEET_SALES, 17524), b = words(SHEET_SALES, 17525);
    for (int i = 0; i < SHEET_SALES; i++) {
        const unsigned region = std::min(a[i] % SHEET_REGIONS, a[i] / 64 % SHEET_REGIONS);
        const unsigned product = std::min(b[i] % SHEET_PRODUCTS, b[i] / 64 % SHEET_PRODUCTS);
        sales[i] = { (unsigned char) region, (unsigned char) product, (short) (1 + a[i] / 4096 % 9),
                     (int) (100 + b[i] / 4096 % 20000) };
    }
    return sales;
}

static void sheet_pivot(Run &run, bool shared)
{
    const std::vector<SheetSale> sales = sheet_sales();
    std::vector<unsigned long long> wanted(SHEET_PIVOT);
    for (const SheetSale &s : sales)
        wanted[s.region * SHEET_PRODUCTS + s.product] += (unsigned long long) s.pieces * s.cents;
    const SheetSale *from = run.upload(sales);
    unsigned long long *to = run.zeros<unsigned long long>(SHEET_PIVOT);
    run.measure(
        [=] {
            if (shared)
                sheet_pivot_shared_kernel<<<264, 256>>>(from, to);
            else
                sheet_pivot_global_kernel<<<blocks_for(SHEET_SALES, 256), 256>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, SHEET_PIVOT * sizeof(*to))); });
    run.expect_all(
        run.output(to, SHEET_PIVOT), [&](size_t k) { return wanted[k]; }, 0);
}

static void sheet_pivot_global(Run &run)
{
    sheet_pivot(run, false);
}

static void sheet_pivot_shared(Run &run)
{
    sheet_pivot(run, true);
}

// ---- Sums by criterion: each criterion's thread reads the whole table ----

enum { SHEET_CRITERIA = 8192, SHEET_ENTRIES = 5000 };

__global__ void sheet_sumif_kernel(const int *keys, const float *amounts, const int2 *criteria,
                                   float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int2 c = criteria[i];
    float sum = 0;
    for (int k = 0; k < SHEET_ENTRIES; k++)
        if (keys[k] >= c.x && keys[k] < c.y)
            sum += amounts[k];
    out[i] = sum;
}

static void sheet_sumif(Run &run)
{
    const std::vector<int> keys = integers(SHEET_ENTRIES, 36500, 17526);
    const std::vector<int> from = integers(SHEET_CRITERIA, 36000, 17527);
    const std::vector<float> amounts = floats(SHEET_ENTRIES, 17528, 0, 10);
    std::vector<int2> criteria(SHEET_CRITERIA);
    for (int i = 0; i < SHEET_CRITERIA; i++)
        criteria[i] = make_int2(from[i], from[i] + 30 * (1 + i % 12));
    const int *dk = run.upload(keys);
    const float *da = run.upload(amounts);
    const int2 *dc = run.upload(criteria);
    float *to = run.zeros<float>(SHEET_CRITERIA);
    run.measure([=] { sheet_sumif_kernel<<<SHEET_CRITERIA / 64, 64>>>(dk, da, dc, to); });
    run.expect_all(
        run.output(to, SHEET_CRITERIA),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < SHEET_ENTRIES; k++)
                if (keys[k] >= criteria[i].x && keys[k] < criteria[i].y)
                    sum += amounts[k];
            return sum;
        },
        1e-5, 59);
}

// ---- Recalculation: cells refer to earlier levels; a kernel per level, or one block for all ----

enum { SHEET_LEVELS = 28, SHEET_CONSTANTS = 4000 };

struct SheetCells {
    const int *first, *references; // per cell: where its references begin
    float *values;
};

// SheetCells are means, maxima, minima or halves of sums, by their number.
__host__ __device__ inline float sheet_cell(const SheetCells &cells, int i)
{
    const int begin = cells.first[i], end = cells.first[i + 1];
    float sum = 0, most = -1e30f, least = 1e30f;
    for (int k = begin; k < end; k++) {
        const float v = cells.values[cells.references[k]];
        sum += v;
        most = fmaxf(most, v);
        least = fminf(least, v);
    }
    return i % 4 == 0 ? sum / (end - begin) : i % 4 == 1 ? most : i % 4 == 2 ? least : sum * 0.5f;
}

__global__ void sheet_level_kernel(SheetCells cells, int begin, int end)
{
    const int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end)
        cells.values[i] = sheet_cell(cells, i);
}

__global__ void sheet_levels_kernel(SheetCells cells, const int *levels)
{
    for (int level = 0; level < SHEET_LEVELS; level++) {
        for (int i = levels[level] + threadIdx.x; i < levels[level + 1]; i += blockDim.x)
            cells.values[i] = sheet_cell(cells, i);
        __syncthreads();
    }
}

// Constants are first, without references. Most cells refer to the cells just before their level.
static void sheet_recalculation(Run &run, bool one_block)
{
    const std::vector<int> sizes = integers(SHEET_LEVELS, 1500, 17529);
    std::vector<int> levels(1, SHEET_CONSTANTS), first(SHEET_CONSTANTS + 1), references;
    for (int level = 0; level < SHEET_LEVELS; level++) {
        const int begin = levels.back();
        for (int i = begin; i < begin + 60 + sizes[level]; i++) {
            for (uint32_t k = 0; k <= mix(i) % 6; k++) {
                const int back = mix(i * 8 + k + 17530) % (k % 3 ? begin : 1000);
                references.push_back(begin - 1 - back);
            }
            first.push_back((int) references.size());
        }
        levels.push_back(begin + 60 + sizes[level]);
    }
    const int n = levels.back();
    const std::vector<float> constants = floats(SHEET_CONSTANTS, 17531);
    std::vector<float> values(n);
    std::copy(constants.begin(), constants.end(), values.begin());
    const SheetCells cells = { run.upload(first), run.upload(references), run.upload(values) };
    const int *dl = run.upload(levels);
    run.measure([=] {
        if (one_block)
            sheet_levels_kernel<<<1, 1024>>>(cells, dl);
        for (int k = 0; k < SHEET_LEVELS && !one_block; k++) {
            const int blocks = blocks_for(levels[k + 1] - levels[k], 128);
            sheet_level_kernel<<<blocks, 128>>>(cells, levels[k], levels[k + 1]);
        }
    });
    const SheetCells host = { first.data(), references.data(), values.data() };
    for (int i = SHEET_CONSTANTS; i < n; i++)
        values[i] = sheet_cell(host, i);
    run.expect_all(
        run.output(cells.values, n), [&](size_t i) { return values[i]; }, 1e-3, 7);
}

static void sheet_recalc_levels(Run &run)
{
    sheet_recalculation(run, false);
}

static void sheet_recalc_block(Run &run)
{
    sheet_recalculation(run, true);
}

#endif
