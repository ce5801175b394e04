/// Windows of an image's space: what decompositions and gradient rules of
/// convolutions and pooling share.
#pragma once

#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Terms.h"

namespace sinter::graph {

/// How windows lie over an image's spatial axes; borrowed from a node's
/// attributes.
struct Windows {
  std::span<const int64_t> sizes, strides, low, high, dilations;
  Layout layout = Layout::channels_first;

  /// Reads the lists; `layout`, which stands last, is left to the caller.
  static Windows read(AttrReader &reader);

  size_t rank() const { return sizes.size(); }
  bool channelsFirst() const { return layout == Layout::channels_first; }
  size_t channelAxis() const { return channelsFirst() ? 1 : rank() + 1; }
  /// Of the spatial axes.
  size_t firstAxis() const { return channelsFirst() ? 2 : 1; }
  /// The spatial axes.
  term::IntList axes() const;
  /// How far a window reaches along spatial axis i.
  int64_t reach(size_t i) const { return (sizes[i] - 1) * dilations[i] + 1; }
};

/// The image with its padding; itself when there is none.
Result<NodeRef> padSpace(const NodeRef &x, const Windows &windows,
                         Number value);
/// The windows of the padded image: its dims with positions for space, and the
/// windows' axes after them.
Result<NodeRef> takeWindows(const NodeRef &x, const Windows &windows,
                            Number value);
/// As takeWindows, the windows' axes before the last axis that elements are
/// contiguous along: [n, c, k.., p..] or [n, p.., k.., c]. What sums over
/// windows can then run along it.
Result<NodeRef> takeWindowsInside(const NodeRef &x, const Windows &windows,
                                  Number value);
/// The windows' axes in the result of takeWindowsInside.
term::IntList insideAxes(const Windows &windows);

/// The first elements of each axis, as many as `shape` says; x itself when it
/// has no more.
Result<NodeRef> takeFirst(const NodeRef &x, std::span<const Dim> shape);
/// x's elements from `starts` on, `shape` of them.
Result<NodeRef> takeFrom(const NodeRef &x, std::span<const int64_t> starts,
                         std::span<const Dim> shape);

Dim product(std::span<const Dim> dims);

} // namespace sinter::graph
