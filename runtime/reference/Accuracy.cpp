/// What a device and a mode of numerics leave to programs.
#include "runtime/reference/Accuracy.h"

namespace sinter::reference {

Accuracy accuracyOf(const runtime::CompileRequest &request) {
  constexpr uint8_t fast = 2;
  Accuracy accuracy;
  if (request.numerics == fast)
    accuracy.roundings = 32;
  accuracy.flushesDenormals =
      request.target.starts_with("vulkan") &&
      request.target.find("denormal32") == std::string::npos;
  return accuracy;
}

} // namespace sinter::reference
