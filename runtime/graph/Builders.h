/// Graph builders: one function per op, generated from the records.
///
/// Each checks operand dtypes and devices, normalizes axes, calls the shape
/// rule, encodes the attributes and makes the node. No implicit broadcast or
/// promotion. An op without tensor operands also takes the device.
///
/// Those of ops/Elementwise.td, Math.td and Activations.td are not here, so
/// that a new op of these rebuilds little: sinter/generated/builders/Math.h.
#pragma once

#include "runtime/graph/ShapeRules.h"
#include "sinter/runtime/Dim.h"
#include "sinter/runtime/Node.h"
#include "sinter/runtime/Number.h"
#include "sinter/runtime/Result.h"

#include "sinter/generated/builders/Arithmetic.h"
#include "sinter/generated/builders/Attention.h"
#include "sinter/generated/builders/Contraction.h"
#include "sinter/generated/builders/Custom.h"
#include "sinter/generated/builders/Folds.h"
#include "sinter/generated/builders/Gather.h"
#include "sinter/generated/builders/Nn.h"
#include "sinter/generated/builders/Random.h"
#include "sinter/generated/builders/Reduce.h"
#include "sinter/generated/builders/Scan.h"
#include "sinter/generated/builders/Sort.h"
#include "sinter/generated/builders/View.h"
#include "sinter/generated/builders/Windows.h"

#include <span>

namespace sinter::graph {

/// The result's type of `context.op`: the checks and the shape rule that its
/// builder calls, from encoded (normalized) attributes.
Result<InferredType> inferType(const ShapeContext &context,
                               std::span<const uint64_t> attrs);

/// The builder of `op`, called with encoded attributes. Fails on a wrong
/// number of operands; the words must fit the op's schema.
Result<NodeRef> buildOp(OpId op, std::span<const NodeRef> operands,
                        std::span<const uint64_t> attrs, DeviceId device);

/// Zeros of any dtype that tensors have: `full`, and for one that is stored
/// only a cast of it.
Result<NodeRef> zeros(std::span<const Dim> dims, DType dtype, DeviceId device);

/// A composite written in primitives (and perhaps other composites).
Result<NodeRef> decompose(OpId op, std::span<const NodeRef> operands,
                          std::span<const uint64_t> attrs);

} // namespace sinter::graph
