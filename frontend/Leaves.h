/// Leaves: tensors made of bytes in host memory.
#pragma once

#include "runtime/device/Device.h"

#include <sinter/Creation.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace sinter::detail {

/// A leaf that copies `bytes`, which fill `dims`. What `from_bytes` learns of
/// its source line does not make an axis symbolic here.
/// `copied`, where it is given, is called with each part of `bytes`, at most 4
/// MiB, once that is not read any more: what is large need not be in memory
/// twice. It is called by several threads, in any order, and must not throw.
using Copied = std::function<void(std::span<const std::byte>)>;
Tensor leafOf(std::span<const std::byte> bytes, DType dtype, const Dims &dims,
              const Options &options, const SourceLine &where,
              const Copied &copied = nullptr);

/// A leaf whose elements stay where they are, as in a mapped file; none where
/// they cannot: they are not aligned, or `device` computes in other memory.
/// Nothing is written there. `release`, which keeps them as long as it lives,
/// is called once nobody needs them any more.
std::optional<Tensor> borrowedLeaf(std::span<const std::byte> bytes,
                                   DType dtype, const Dims &dims,
                                   DeviceId device,
                                   std::function<void()> release,
                                   const SourceLine &where);

/// A leaf of numbers that the library works out. `tensor` would take tables of
/// several lengths that one line makes for one whose length varies.
template <typename T>
Tensor tableOf(const std::vector<T> &numbers, const Dims &dims,
               const Options &options) {
  return leafOf(std::as_bytes(std::span<const T>(numbers)), dtype_of<T>(), dims,
                options, SourceLine());
}

/// A size as a scalar of i64; one with symbols is what they are in each run.
Tensor sizeScalar(Dim size, DeviceId device, const SourceLine &where);

/// While it lives, leaves that this thread makes of host values are of a batch
/// of `extent` items: where axis 0 has that extent, it is the batch's axis, a
/// symbol named after `site`. Where `isAhead`, they go to their device beside
/// the work that is queued there, not behind it.
class BatchScope {
public:
  BatchScope(int64_t extent, SiteId site, bool isAhead = false);
  ~BatchScope();
  BatchScope(const BatchScope &) = delete;

private:
  int64_t previousExtent;
  SiteId previousSite;
  bool previousIsAhead;
};

/// A leaf that its maker writes where its device takes it from, without a copy
/// on the way. Its dims are what `from_bytes` would make of the shape.
class LeafRoom {
public:
  LeafRoom(DType dtype, const Dims &shape, const Options &options,
           const SourceLine &where);
  /// Dense, row-major, aligned for every dtype; until `finish`.
  std::span<std::byte> bytes() const { return upload->room(); }
  /// The leaf, once.
  Tensor finish();

private:
  DType dtype;
  Dims dims;
  SourceLine line;
  std::unique_ptr<runtime::Upload> upload;
};

} // namespace sinter::detail
