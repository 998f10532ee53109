"""An integral in slices and a step of the heat equation, in CUDA C++, as the page shows them."""

INTEGRATE_SOURCE = """
    double sum = 0;
    for (int k = 0; k < points; k++) {
        double x = left + (k + 0.5) * step;
        sum += 4 / (1 + x * x);
    }
    area = sum * step;
"""

HEAT_SOURCE = r"""
#define ROWS 16  // rows that a thread walks down, with four cells of each
extern "C" __global__
void heat(const float4* __restrict__ now, const float4* above, const float4* below,
          float4* __restrict__ then, int rows, int quads) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * ROWS, end = min(first + ROWS, rows);
    if (q >= quads) return;
    const float* cells = (const float*)now;
    float4 mid = now[(size_t)first * quads + q];
    float4 up = first > 0 ? now[(size_t)(first - 1) * quads + q] : above[q];
    for (int row = first; row < end; row++) {
        size_t i = (size_t)row * quads + q;
        float4 down = row < rows - 1 ? now[i + quads] : below[q];
        float left = q > 0 ? cells[4 * i - 1] : 0, right = q < quads - 1 ? cells[4 * i + 4] : 0;
        then[i] = make_float4(
            mid.x + 0.125f * (up.x + down.x + left + mid.y - 4 * mid.x),
            mid.y + 0.125f * (up.y + down.y + mid.x + mid.z - 4 * mid.y),
            mid.z + 0.125f * (up.z + down.z + mid.y + mid.w - 4 * mid.z),
            mid.w + 0.125f * (up.w + down.w + mid.z + right - 4 * mid.w));
        up = mid, mid = down;
    }
}
"""
