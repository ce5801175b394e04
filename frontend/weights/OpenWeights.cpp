/// Readers of the runtime, and those that need the frontend.
#include "frontend/weights/OpenWeights.h"

#include "frontend/Raise.h"
#include "frontend/import/onnx/InitializerFile.h"
#include "frontend/import/torch/ArchivedWeights.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

namespace sinter::detail {

runtime::WeightFileRef openWeights(const std::string &path,
                                   std::source_location where) {
  if (path.ends_with(".onnx"))
    return onnx::openInitializers(path, where);
  if (path.ends_with(".pt2"))
    return torch::openArchivedWeights(path, where);
  return unwrap(runtime::WeightFile::open(path), where);
}

ErrorInfo nothingBelow(const char *call, const std::string &path,
                       const std::string &key) {
  return makeError(ErrorKind::invalid_argument,
                   fmt::format("{}: {} has no tensor below '{}'", call,
                               printable(path), printableName(key)),
                   call);
}

} // namespace sinter::detail
