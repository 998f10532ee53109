from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    """Say of one number whether it is prime."""
    i = cuda.grid(1)
    if i < numbers.size:
        number = numbers[i]
        prime = number > 1  # 0 and 1 have no divisor to find, but are not primes
        divisor = 2
        # If there is a divisor above the square root, there is one below, too.
        while prime and divisor * divisor <= number:
            prime = number % divisor != 0
            divisor += 1
        is_prime[i] = 1 if prime else 0
