/// Stored tensors as leaves.
#include "frontend/weights/ReadTensor.h"

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "runtime/params/FloatCasts.h"
#include "runtime/params/IntegerCasts.h"
#include "runtime/params/weights/Strided.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace sinter::detail {

using runtime::WeightFile;
using runtime::WeightFileRef;
using runtime::WeightTensor;

Result<DenseElements> denseElements(const WeightFile &file,
                                    const WeightTensor &stored) {
  DenseElements dense;
  dense.bytes = file.view(stored);
  if (!dense.bytes.empty()) {
    SINTER_TRY(file.check(stored));
    return dense;
  }
  SINTER_TRY_ASSIGN(dense.own, file.read(stored));
  dense.bytes = dense.own;
  return dense;
}

std::vector<int64_t> orderedDims(std::span<const int64_t> dims,
                                 std::span<const int64_t> axes) {
  if (axes.empty())
    return {dims.begin(), dims.end()};
  std::vector<int64_t> ordered;
  for (int64_t axis : axes)
    ordered.push_back(dims[size_t(axis)]);
  return ordered;
}

static void order(DenseElements &dense, const WeightTensor &stored,
                  std::span<const int64_t> axes) {
  std::vector<int64_t> strides = runtime::weights::denseStrides(stored.dims);
  std::vector<std::byte> ordered(dense.bytes.size());
  if (!ordered.empty())
    runtime::weights::gather(dense.bytes, orderedDims(stored.dims, axes),
                             orderedDims(strides, axes),
                             byteWidth(stored.dtype), ordered);
  dense.own = std::move(ordered);
  dense.bytes = dense.own;
}

static Status cast(DenseElements &dense, const WeightTensor &stored, DType to) {
  DType from = stored.dtype;
  size_t count = dense.bytes.size() / byteWidth(from);
  std::vector<std::byte> result(count * byteWidth(to));
  if (isFloat(from))
    runtime::castFloats(dense.bytes, from, result, to);
  else if (auto odd = runtime::castIntegers(dense.bytes, from, result, to))
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("'{}' has the number {}, for which {} has no "
                                 "room",
                                 printableName(stored.name), *odd, name(to)));
  dense.own = std::move(result);
  dense.bytes = dense.own;
  return {};
}

Result<DenseElements> denseElements(const WeightFile &file,
                                    const WeightTensor &stored,
                                    const TensorForm &form) {
  SINTER_TRY_ASSIGN(DenseElements dense, denseElements(file, stored));
  std::span<const std::byte> mapped = file.view(stored);
  if (!form.axes.empty())
    order(dense, stored, form.axes);
  if (form.dtype != stored.dtype)
    SINTER_TRY(cast(dense, stored, form.dtype));
  // What was copied is left: large weights are in memory once.
  if (!dense.own.empty())
    file.leave(mapped);
  return dense;
}

Tensor readTensor(const WeightFileRef &file, const WeightTensor &stored,
                  const TensorForm &form, const TensorPlace &place,
                  std::source_location where) {
  std::vector<int64_t> extents = orderedDims(stored.dims, form.axes);
  Dims dims(extents.begin(), extents.end());
  bool isAsStored = form.axes.empty() && form.dtype == stored.dtype;
  std::span<const std::byte> view = file->view(stored);
  if (place.mmap && isAsStored && !view.empty()) {
    auto keep = [file] { (void)file; };
    if (auto leaf =
            borrowedLeaf(view, form.dtype, dims, place.device, keep, where))
      return *leaf;
  }
  DenseElements dense = unwrap(denseElements(*file, stored, form), where);
  Copied leave;
  if (dense.own.empty())
    leave = [&](std::span<const std::byte> part) { file->leave(part); };
  return leafOf(dense.bytes, form.dtype, dims, {{}, place.device}, where,
                leave);
}

} // namespace sinter::detail
