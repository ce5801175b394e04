/// Shape rules of users' kernels.
#include "runtime/graph/ShapeChecks.h"
#include "runtime/graph/ShapeRules.h"

#include <algorithm>

namespace sinter::graph::shape {

/// Long texts would not be part of a node.
static constexpr size_t longestSource = 256 * 1024;

/// What every CUDA device from compute capability 5.0 on takes.
static constexpr int64_t mostBlocks[] = {INT32_MAX, 65535, 65535};
static constexpr int64_t mostThreads[] = {1024, 1024, 64};
static constexpr int64_t threadsOfBlock = 1024;

static Status checkCode(const ShapeContext &context,
                        std::initializer_list<std::string_view> sources,
                        std::string_view function) {
  if (std::ranges::all_of(sources, &std::string_view::empty))
    return shapeError(context, "there is no source");
  for (std::string_view source : sources)
    if (source.size() > longestSource)
      return shapeError(context, "the source has more than " +
                                     std::to_string(longestSource) + " bytes");
  auto isNamePart = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  };
  bool isName = !function.empty() &&
                !(function[0] >= '0' && function[0] <= '9') &&
                function.size() <= longestSource &&
                std::ranges::all_of(function, isNamePart);
  if (!isName)
    return shapeError(context, "the function '" + std::string(function) +
                                   "' is no name of C");
  return {};
}

static Status checkCounts(const ShapeContext &context, std::string what,
                          std::span<const int64_t> counts,
                          std::span<const int64_t> most) {
  bool fits = counts.size() == most.size();
  for (size_t i = 0; fits && i < counts.size(); ++i)
    fits = counts[i] >= 1 && counts[i] <= most[i];
  if (fits)
    return {};
  std::string text;
  for (int64_t count : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count);
  return shapeError(context,
                    "no device takes a " + what + " of {" + text + "}");
}

/// The kernel is made for operands of these dims.
static Status checkExtents(const ShapeContext &context,
                           std::span<const int64_t> extents) {
  for (const TensorType &operand : context.operands) {
    if (operand.dims.size() > extents.size())
      return shapeError(context, "there are fewer extents than dims");
    for (Dim dim : operand.dims) {
      if (!sameDim(context, dim, Dim(extents.front())))
        return shapeError(context, "an extent is not the operand's dim");
      extents = extents.subspan(1);
    }
  }
  if (!extents.empty())
    return shapeError(context, "there are more extents than dims");
  return {};
}

Result<InferredType>
customOp(const ShapeContext &context, std::string_view source,
         std::string_view glsl, std::string_view spirv,
         std::string_view function, std::span<const int64_t> extents,
         std::span<const int64_t> grid, std::span<const int64_t> block,
         int64_t sharedBytes, DType dtype, std::span<const int64_t> shape) {
  SINTER_TRY(checkCode(context, {source, glsl, spirv}, function));
  if (!glsl.empty() && !spirv.empty())
    return shapeError(context, "both GLSL and SPIR-V are given");
  SINTER_TRY(checkExtents(context, extents));
  SINTER_TRY(checkCounts(context, "grid", grid, mostBlocks));
  SINTER_TRY(checkCounts(context, "block", block, mostThreads));
  if (block[0] * block[1] * block[2] > threadsOfBlock)
    return shapeError(context, "a block has at most 1024 threads");
  if (sharedBytes < 0 || sharedBytes > INT32_MAX)
    return shapeError(context, "no device has " + std::to_string(sharedBytes) +
                                   " bytes of shared memory");
  SINTER_TRY(checkComputable(context, dtype));
  InferredType result;
  result.dtype = dtype;
  for (int64_t extent : shape)
    result.dims.push_back(Dim(extent));
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

} // namespace sinter::graph::shape
