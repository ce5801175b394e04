/// Leaves and unwrapping for tests that record graphs.
#pragma once

#include "runtime/graph/Builders.h"
#include "sinter/runtime/Node.h"

#include <gtest/gtest.h>

namespace sinter::graph {

/// A leaf whose value is made later.
inline NodeRef testLeaf(std::vector<Dim> dims, DType dtype = DType::f32,
                        bool requiresGrad = false) {
  return NodeFactory::lazyLeaf(dtype, dims, DeviceId(), requiresGrad);
}

/// The value of a recording that must succeed.
inline NodeRef ok(Result<NodeRef> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  return std::move(*result);
}

/// A symbolic dim of these tests.
inline Dim testSymbol(uint32_t axis, int64_t value) {
  return Dim(value, dim_exprs::symbol(4242, axis, value));
}

} // namespace sinter::graph
