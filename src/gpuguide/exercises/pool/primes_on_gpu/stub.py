from numba import cuda


@cuda.jit
def primes_kernel(numbers, is_prime):
    """Say of all numbers whether they are prime."""
    if cuda.grid(1) == 0:  # one thread works, all others watch
        for i in range(numbers.size):
            number = numbers[i]
            prime = number > 1
            for divisor in range(2, number // 2 + 1):
                if number % divisor == 0:
                    prime = False
                    break
            is_prime[i] = 1 if prime else 0
