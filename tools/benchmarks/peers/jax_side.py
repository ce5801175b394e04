"""JAX on the CPU: jit, inputs already on the device."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jax  # noqa: E402
import jax_functions  # noqa: E402
import numpy  # noqa: E402
import worker  # noqa: E402


def make(case):
    function, inputs = jax_functions.function_of(case)
    inputs = [jax.device_put(value) for value in inputs]
    compiled = jax.jit(function)
    return worker.Work(lambda: compiled(*inputs).block_until_ready(),
                       lambda value: numpy.asarray(value, numpy.float32))


if __name__ == "__main__":
    worker.serve(make, lambda: f"version={jax.__version__}")
