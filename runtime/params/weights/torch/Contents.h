/// Contents: the tensors of a pickle by their names, and what is beside them.
#pragma once

#include "runtime/params/Safetensors.h"
#include "runtime/params/weights/torch/Rebuild.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace sinter::runtime::torch {

struct Contents {
  /// In the order of the pickle, a dotted name each.
  std::vector<std::pair<std::string, RebuiltTensor>> tensors;
  Metadata metadata;
  std::vector<std::string> notes;
  std::deque<std::vector<std::byte>> made; ///< bytes of some of the tensors
};

/// Walks the value of a pickle: dictionaries and attributes give names, lists
/// numbers, modules the names of their `state_dict()`. Numbers and texts are
/// metadata. A tensor without a name is called `rootName`. Errors name the
/// tensor.
Result<Contents> contentsOf(const pickle::Pickle &pickle,
                            const std::string &rootName);

} // namespace sinter::runtime::torch
