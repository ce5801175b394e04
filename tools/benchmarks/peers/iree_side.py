"""IREE's CPU compiler on what JAX lowers to StableHLO."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import iree.compiler  # noqa: E402
import iree.runtime  # noqa: E402
import jax  # noqa: E402
import jax_functions  # noqa: E402
import numpy  # noqa: E402
import worker  # noqa: E402

THREADS = int(os.environ.get("OMP_NUM_THREADS", "1"))


def load(text):
    code = iree.compiler.compile_str(
        text, input_type="stablehlo", target_backends=["llvm-cpu"],
        extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
    driver = "local-sync" if THREADS == 1 else "local-task"
    config = iree.runtime.Config(driver)
    context = iree.runtime.SystemContext(config=config)
    context.add_vm_module(
        iree.runtime.VmModule.copy_buffer(context.instance, code))
    return config, next(module for name, module in context.modules.items()
                        if name not in ("hal", "io_parameters"))


def make(case):
    function, inputs = jax_functions.function_of(case)
    text = str(jax.jit(function).lower(*inputs).compiler_ir("stablehlo"))
    config, module = load(text)
    arrays = [iree.runtime.asdevicearray(config.device, numpy.asarray(value))
              for value in inputs]
    return worker.Work(lambda: module["main"](*arrays),
                       lambda value: value.to_host())


if __name__ == "__main__":
    from importlib.metadata import version
    worker.serve(make,
                 lambda: f"version={version('iree-base-compiler')}")
