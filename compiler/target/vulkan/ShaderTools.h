/// ShaderTools: the compilers of users' own shaders, run as programs.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::compiler {

/// SPIR-V 1.5 of GLSL, a compute shader, by glslangValidator. `name` stands for
/// the file in what the program says. An error of kind `compile` has the
/// program's messages, one of kind `unsupported` says that there is none.
Result<std::vector<uint32_t>> compileGlsl(const std::string &source,
                                          const std::string &name);

/// SPIR-V 1.6 of an assembly, by spirv-as.
Result<std::vector<uint32_t>> assembleSpirv(const std::string &source,
                                            const std::string &name);

} // namespace sinter::compiler
