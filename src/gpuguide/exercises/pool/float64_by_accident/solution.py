from numba import cuda, float32


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    """Turn one temperature from Fahrenheit to Celsius."""
    i = cuda.grid(1)
    if i < fahrenheit.size:
        # A bare 32.0 has 64 bits and would widen everything that it touches.
        celsius[i] = (fahrenheit[i] - float32(32.0)) * float32(5 / 9)
