/// ModelBuilder: small whole models, with entry points, weights and state.
#pragma once

#include "runtime/program/ModelInfo.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <cstddef>
#include <vector>

namespace sinter::runtime::test {

/// What a model file is made of; tests alter it.
struct ModelBuilder {
  ModelInfo info;
  std::vector<std::vector<std::byte>> data; ///< per tensor
  std::vector<ProgramBuilder> programs;
  std::vector<std::string> graphs; ///< per entry
  std::vector<std::vector<std::string>> sites;

  /// The writer, which needs this to live.
  ModelWriter writer() const;
  std::vector<std::byte> file() const;
};

/// Three entries over the kernels in Kernels.c:
/// - predict: y = x * scale + weight, eight numbers each;
/// - train: weight = weight + x, total = total + x, given is the new total;
/// - draw: out[n] = x[n] * factor, with a key and a counter that it draws from.
ModelBuilder smallModel();

/// An entry of copies for the null device: out = state + nothing, state = x.
ModelBuilder copyModel();

/// y = the first k of eight numbers x, in two programs of copies for the null
/// device: the first gives x and k, the second takes as many rows.
ModelBuilder partsModel();

/// The bytes of numbers.
std::vector<std::byte> bytesOf(const std::vector<float> &values);

} // namespace sinter::runtime::test
