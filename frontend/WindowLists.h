/// What convolutions and pooling share in reading their options.
#pragma once

#include "frontend/Recording.h"

#include <sinter/BasicOps.h>

namespace sinter::detail {

using IntList = SmallVector<int64_t, 8>;

/// A call's recorder and its image, which has a batch axis of 1 where the
/// caller's had none.
class ImageCall {
public:
  /// `x` has `rank` spatial axes.
  ImageCall(Recorder &recorder, const graph::NodeRef &x, size_t rank,
            Layout layout);

  graph::NodeRef image;
  Recorder &recorder;
  size_t rank;
  Layout layout;

  size_t firstAxis() const { return layout == Layout::channels_first ? 2 : 1; }
  size_t channelAxis() const {
    return layout == Layout::channels_first ? 1 : rank + 1;
  }
  /// `given` with an entry for each spatial axis; `otherwise` without any.
  IntList list(const Axes &given, const char *name, int64_t otherwise) const;
  /// Guards the spatial dims to be what they are, and gives them.
  IntList fixSpace();
  /// The result of the op, without the batch axis that was added.
  Tensor result(Result<graph::NodeRef> node);

private:
  bool addsBatch = false;
};

} // namespace sinter::detail
