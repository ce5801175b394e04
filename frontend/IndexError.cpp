/// Finds the index that was out of range, by the reference.
#include "frontend/IndexError.h"

#include "frontend/HostBytes.h"
#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Slice.h"
#include "runtime/reference/Reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace sinter::detail {

using graph::Node;
using graph::NodeRef;
using graph::PatternKind;
using reference::HostTensor;

namespace {
/// A tensor of positions along an axis, as a primitive reads it.
struct Positions {
  NodeRef tensor;
  int64_t extent;
};
} // namespace

// Gathers and scatters alike: x, positions along an axis of it, ...
static constexpr size_t positionsOperand = 1;

/// What would take long to evaluate once more is left alone.
static constexpr size_t mostNodes = 256;
static constexpr int64_t mostElements = int64_t(1) << 24;

/// The positions that `node` reads. A composite's are those of its parts.
static void collect(const NodeRef &node, std::vector<Positions> &found,
                    std::unordered_set<const Node *> &seen) {
  if (node->isLeaf() || !seen.insert(node.get()).second)
    return;
  PatternKind kind = graph::info(node->op()).kind;
  if (kind == PatternKind::gather || kind == PatternKind::scatter) {
    size_t axis = graph::AttrReader(node->attrs()).integer();
    found.push_back({node->operands()[positionsOperand],
                     node->operands()[0]->dims()[axis].value});
  }
  for (const NodeRef &operand : node->operands())
    collect(operand, found, seen);
  if (!graph::info(node->op()).composite)
    return;
  auto parts = graph::decompose(node->op(), node->operands(), node->attrs());
  if (parts)
    collect(*parts, found, seen);
}

static bool isCheap(const graph::Slice &slice) {
  return slice.nodes.size() <= mostNodes &&
         std::ranges::all_of(slice.nodes, [](const NodeRef &node) {
           return node->elements() <= mostElements;
         });
}

/// The value of `node` where `given(leaf)` are those of its leaves.
template <typename F>
static std::optional<HostTensor> evaluate(const NodeRef &node, F &&given) {
  if (node->isLeaf())
    return given(node);
  auto slice = graph::slice({&node, 1});
  if (!slice || !isCheap(*slice))
    return std::nullopt;
  std::vector<HostTensor> inputs;
  for (const NodeRef &input : slice->inputs) {
    std::optional<HostTensor> value = given(input);
    if (!value)
      return std::nullopt;
    inputs.push_back(std::move(*value));
  }
  auto results = reference::evaluate(slice->graph, inputs);
  if (!results)
    return std::nullopt;
  return std::move(results->front());
}

static HostTensor emptyHost(const Node &node) {
  HostTensor host{node.dtype(), {}, {}};
  for (Dim dim : node.dims())
    host.dims.push_back(dim.value);
  return host;
}

/// The value of an operand, which may be pending.
static std::optional<HostTensor> valueOf(const NodeRef &operand) {
  return evaluate(operand, [](const NodeRef &leaf) {
    std::optional<HostTensor> host;
    if (leaf->elements() > mostElements)
      return host;
    if (auto bytes = readBytes(*leaf)) {
      host = emptyHost(*leaf);
      host->data = std::move(*bytes);
    }
    return host;
  });
}

static int64_t integerAt(const HostTensor &host, size_t element) {
  const std::byte *from = host.data.data() + element * byteWidth(host.dtype);
  if (host.dtype == DType::i32) {
    int32_t value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  int64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// 0, 1, 2, ... in the shape of `like`.
static HostTensor counted(const HostTensor &like) {
  HostTensor host = like;
  for (int64_t i = 0; i < host.elements(); ++i) {
    auto narrow = static_cast<int32_t>(i);
    std::byte *to = host.data.data() + i * byteWidth(host.dtype);
    if (host.dtype == DType::i32)
      std::memcpy(to, &narrow, sizeof(narrow));
    else
      std::memcpy(to, &i, sizeof(i));
  }
  return host;
}

static std::string positionText(int64_t element,
                                const std::vector<int64_t> &dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0; element /= dims[d])
    index[d] = element % dims[d];
  if (index.empty())
    return "";
  if (index.size() == 1)
    return fmt::format(" at position {}", index[0]);
  return fmt::format(" at position [{}]", fmt::join(index, ","));
}

/// The dims in which the user gave `operand`: those before it was reshaped.
static std::vector<int64_t> givenDims(NodeRef operand) {
  while (!operand->isLeaf() && operand->op() == graph::OpId::reshape &&
         !operand->operands().empty())
    operand = operand->operands()[0];
  return emptyHost(*operand).dims;
}

/// The first of these positions that is out of range, in terms of the operand
/// that they were made of where moving elements was all that happened to it.
static std::optional<std::string> describe(const Positions &positions,
                                           std::span<const NodeRef> leaves,
                                           std::span<const NodeRef> operands) {
  std::optional<HostTensor> own;
  std::vector<int64_t> ownDims;
  auto given = [&](const NodeRef &leaf) -> std::optional<HostTensor> {
    auto at = std::ranges::find(leaves, leaf);
    if (at == leaves.end())
      return std::nullopt;
    const NodeRef &operand = operands[at - leaves.begin()];
    own = valueOf(operand);
    ownDims = givenDims(operand);
    return own;
  };
  std::optional<HostTensor> values = evaluate(positions.tensor, given);
  if (!values || !isInteger(values->dtype))
    return std::nullopt;
  int64_t element = 0, value = 0;
  for (; element < values->elements(); ++element) {
    value = integerAt(*values, element);
    if (value < 0 || value >= positions.extent)
      break;
  }
  if (element == values->elements())
    return std::nullopt;
  std::vector<int64_t> dims = values->dims;
  auto places = evaluate(positions.tensor, [&](const NodeRef &) {
    return std::optional(counted(*own));
  });
  if (places) {
    int64_t place = integerAt(*places, element);
    if (place >= 0 && place < own->elements() &&
        integerAt(*own, place) == value) {
      element = place;
      dims = ownDims;
    }
  }
  return fmt::format("index {}{}, not in [0,{})", value,
                     positionText(element, dims), positions.extent);
}

std::optional<std::string> describeBadIndex(const Node &node) {
  std::vector<NodeRef> leaves;
  for (const NodeRef &operand : node.operands()) {
    std::vector<Dim> dims;
    for (Dim dim : operand->dims())
      dims.emplace_back(dim.value);
    leaves.push_back(graph::NodeFactory::lazyLeaf(operand->dtype(), dims,
                                                  DeviceId(), false));
  }
  std::vector<Positions> found;
  const graph::OpInfo &info = graph::info(node.op());
  if (info.kind == PatternKind::gather || info.kind == PatternKind::scatter) {
    size_t axis = graph::AttrReader(node.attrs()).integer();
    found.push_back(
        {leaves[positionsOperand], node.operands()[0]->dims()[axis].value});
  } else if (info.composite) {
    auto parts = graph::decompose(node.op(), leaves, node.attrs());
    std::unordered_set<const Node *> seen;
    if (parts)
      collect(*parts, found, seen);
  }
  for (const Positions &positions : found)
    if (auto text = describe(positions, leaves, node.operands()))
      return text;
  return std::nullopt;
}

} // namespace sinter::detail
