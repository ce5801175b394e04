/// Nvrtc: NVIDIA's run-time compiler for users' own CUDA C++.
#pragma once

#include "sinter/runtime/Result.h"

#include <span>
#include <string>

namespace sinter::compiler {

/// PTX of CUDA C++. `name` stands for the file in what the compiler says. The
/// library is opened on the first call; it and the headers of its toolkit are
/// looked for where the loader looks, in CUDA_HOME, CUDA_PATH and
/// /usr/local/cuda. An error of kind `compile` has the compiler's messages, one
/// of kind `unsupported` says that there is no library. May be called from many
/// threads (NVRTC, "Thread Safety").
Result<std::string> compileCuda(const std::string &source,
                                const std::string &name,
                                std::span<const std::string> options);

} // namespace sinter::compiler
