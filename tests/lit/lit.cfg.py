"""How lit runs the files below tests/lit.

RUN lines call the build's programs (sinter, sinter-opt, sinter-tblgen) and
LLVM's (FileCheck, not, split-file) by name. Each test has its own empty cache.
"""

import os
import sys

import lit.formats
import lit.util

config.name = "sinter"
config.suffixes = [".mlir", ".td", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_root, "tests", "lit")

# NVIDIA's assembler is in no package of Debian.
config.ptxas = lit.util.which("ptxas", config.environment.get("PATH")) or \
    lit.util.which("ptxas", "/usr/local/cuda/bin")
if config.ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", config.ptxas))

if lit.util.which("glslangValidator", config.environment.get("PATH")):
    config.available_features.add("glslang")

# Kernels of `sinter inspect --stage asm`, one at least, as the validator has
# them.
config.substitutions.append(
    ("%spirv_val", f"{config.source_root}/tests/lit/spirv-val.sh "
     f"{config.llvm_bin}"))

config.substitutions.append(("%python", sys.executable))

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.build_root, "bin"), config.llvm_bin,
     config.environment.get("PATH", "")])
config.environment["SINTER_CACHE_DIR"] = os.path.join(
    config.test_exec_root, "cache")
for variable in ("SINTER_DEVICE", "SINTER_THREADS", "SINTER_SUITES",
                 "ASAN_OPTIONS", "TSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

config.substitutions.append(("%root", config.source_root))
# Without the CUDA toolkit.
config.substitutions.append(
    ("%llvm_path", os.path.join(config.build_root, "bin") + os.pathsep +
     config.llvm_bin))
config.substitutions.append(
    ("%td_includes", f"-I {config.source_root} -I "
     f"{config.source_root}/dialects/sinter -I {config.llvm_bin}/../include"))
