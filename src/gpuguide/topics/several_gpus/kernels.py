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
extern "C" __global__
void heat(const float* now, const float* above, const float* below, float* then, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) return;
    size_t i = (size_t)row * cols + col;
    float up = row > 0 ? now[i - cols] : above[col];
    float down = row < rows - 1 ? now[i + cols] : below[col];
    float left = col > 0 ? now[i - 1] : 0.0f;
    float right = col < cols - 1 ? now[i + 1] : 0.0f;
    then[i] = now[i] + 0.125f * (up + down + left + right - 4 * now[i]);
}
"""
