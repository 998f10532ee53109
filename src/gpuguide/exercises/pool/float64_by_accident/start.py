from numba import cuda


@cuda.jit
def celsius_kernel(fahrenheit, celsius):
    """Turn one temperature from Fahrenheit to Celsius."""
    i = cuda.grid(1)
    if i < fahrenheit.size:
        celsius[i] = (fahrenheit[i] - 32.0) * 5.0 / 9.0
