/// Nodes: their blocks, their values, and their release.
#include "sinter/runtime/Node.h"

#include "runtime/device/Device.h"
#include "runtime/graph/NodeHeap.h"
#include "runtime/graph/NodeNotes.h"
#include "runtime/graph/RecordNumber.h"
#include "runtime/graph/ShapeChecks.h"
#include "runtime/support/ThreadOwner.h"
#include "sinter/runtime/Complex.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace sinter::graph {

void Node::setReady(runtime::BufferRef value) {
  assert(state() == NodeState::pending && "a value is given once");
  value->setOrigin({type, userSite});
  buffer = std::move(value);
  valueState.store(NodeState::ready, std::memory_order_release);
}

void Node::setFailed(ErrorInfo failure) {
  assert(state() == NodeState::pending && "a value is given once");
  error = std::make_unique<ErrorInfo>(std::move(failure));
  valueState.store(NodeState::failed, std::memory_order_release);
}

void Node::dropOperands() {
  NodeRef *first = firstOperand();
  unsigned count = std::exchange(numOperands, 0);
  std::destroy_n(first, count);
}

NodeNotes &Node::addNotes() {
  NodeNotes *there = notes();
  if (there)
    return *there;
  auto made = std::make_unique<NodeNotes>();
  if (attached.compare_exchange_strong(there, made.get(),
                                       std::memory_order_acq_rel))
    return *made.release();
  return *there;
}

void Node::destroyNotes() { delete attached.load(); }

RecordScope &recordScope() {
  static SINTER_THREAD_LOCAL RecordScope scope;
  return scope;
}

//===- Making nodes -------------------------------------------------------===//

/// 0: the thread has no number yet.
static SINTER_THREAD_LOCAL uint64_t lastOrder = 0;

/// So many threads later a number comes again, which only mixes up whose
/// pending work is whose.
[[gnu::noinline]] static void numberThread() {
  static std::atomic<uint64_t> threads{0};
  lastOrder = (threads.fetch_add(1, std::memory_order_relaxed) + 1)
              << RecordNumber::countBits;
}

static uint64_t nextOrder() {
  if (!lastOrder) [[unlikely]]
    numberThread();
  return ++lastOrder;
}

RecordNumber lastRecordNumber() {
  if (!lastOrder) [[unlikely]]
    numberThread();
  return {lastOrder};
}

Node *NodeFactory::allocate(DType dtype, std::span<const Dim> dims,
                            size_t numAttrs, size_t numOperands) {
  static_assert(sizeof(Node) % alignof(Dim) == 0);
  assert(dims.size() < 256 && numAttrs < 65536 && numOperands < 65536);
  size_t bytes = sizeof(Node) + dims.size() * sizeof(Dim) +
                 numAttrs * sizeof(uint64_t) + numOperands * sizeof(NodeRef);
  Node *node = new (allocateNodeBlock(static_cast<uint32_t>(bytes))) Node;
  node->blockBytes = static_cast<uint32_t>(bytes);
  node->type = dtype;
  node->numDims = static_cast<uint8_t>(dims.size());
  std::uninitialized_copy(dims.begin(), dims.end(), node->firstDim());
  return node;
}

/// A gradient flows to an op's result through its inputs, unless the result
/// counts instead of measures.
static bool recordsGradient(OpId op, DType dtype,
                            std::span<const NodeRef> operands) {
  bool wanted = false;
  for (const NodeRef &operand : operands)
    wanted |= operand->requiresGrad();
  return wanted && hasGradients(dtype) && recordScope().gradEnabled &&
         info(op).differentiable;
}

NodeRef NodeFactory::op(OpId op, DType dtype, std::span<const Dim> dims,
                        std::span<const NodeRef> operands,
                        std::span<const uint64_t> attrs, DeviceId device) {
  Node *node = allocate(dtype, dims, attrs.size(), operands.size());
  const RecordScope &scope = recordScope();
  node->opId = op;
  node->scalar = nextOrder();
  node->where = device;
  node->userSite = scope.site;
  node->numAttrWords = static_cast<uint16_t>(attrs.size());
  node->numOperands = static_cast<uint16_t>(operands.size());
  std::copy(attrs.begin(), attrs.end(), node->firstAttr());
  std::uninitialized_copy(operands.begin(), operands.end(),
                          node->firstOperand());
  node->wantsGrad = recordsGradient(op, dtype, operands);
  node->guarded = takeGuarded();
  NodeRef result = NodeRef::adopt(node);
  if (scope.region) [[unlikely]]
    node->addNotes().region = *scope.region;
  return result;
}

NodeRef NodeFactory::leaf(InputKind kind, DType dtype,
                          std::span<const Dim> dims, runtime::BufferRef value,
                          bool requiresGrad) {
  assert(value && "a leaf holds a value");
  DeviceId device = value->device().id();
  NodeRef result = lazyLeaf(dtype, dims, device, requiresGrad);
  result->kind = kind;
  result->setReady(std::move(value));
  return result;
}

NodeRef NodeFactory::lazyLeaf(DType dtype, std::span<const Dim> dims,
                              DeviceId device, bool requiresGrad) {
  Node *node = allocate(dtype, dims, 0, 0);
  node->kind = InputKind::parameter;
  node->where = device;
  node->userSite = recordScope().site;
  node->wantsGrad = requiresGrad;
  return NodeRef::adopt(node);
}

NodeRef NodeFactory::scalar(DType dtype, uint64_t bits, DeviceId device) {
  Node *node = allocate(dtype, {}, 0, 0);
  node->where = device;
  node->kind = InputKind::scalar;
  node->userSite = recordScope().site;
  node->scalar = bits;
  node->valueState.store(NodeState::ready, std::memory_order_release);
  return NodeRef::adopt(node);
}

NodeRef NodeFactory::detached(const NodeRef &node, bool requiresGrad) {
  assert(node->isReady() && "detached() of a pending node");
  if (node->isLeaf() && node->leafKind() == InputKind::scalar) {
    NodeRef copy = scalar(node->dtype(), node->scalarBits(), node->device());
    copy->wantsGrad = requiresGrad;
    return copy;
  }
  InputKind kind = node->isLeaf() ? node->leafKind() : InputKind::data;
  return leaf(kind, node->dtype(), node->dims(), node->value(), requiresGrad);
}

//===- Releasing nodes ----------------------------------------------------===//

/// Frees one node; operands that die with it are pushed on `dead`.
void NodeFactory::destroyOne(Node *node, Node *&dead) {
  for (const NodeRef &operand : node->operands()) {
    Node *used = operand.get();
    if (!used->isLastRelease())
      continue;
    used->nextDead = dead;
    dead = used;
  }
  uint32_t bytes = node->blockBytes;
  node->~Node();
  freeNodeBlock(node, bytes);
}

/// The dead nodes that this thread is freeing. What a node's notes hold (a
/// rule's captured tensors) joins them: it must not free a chain of its own
/// within this one.
static SINTER_THREAD_LOCAL Node **freeing = nullptr;

void NodeFactory::destroy(Node *node) {
  if (freeing) [[unlikely]] {
    node->nextDead = *freeing;
    *freeing = node;
    return;
  }
  Node *dead = nullptr;
  freeing = &dead;
  destroyOne(node, dead);
  while (dead) {
    Node *next = dead;
    dead = next->nextDead;
    destroyOne(next, dead);
  }
  freeing = nullptr;
}

std::string typeString(const Node &node) {
  return typeString(TensorType{node.dtype(), node.dims()});
}

} // namespace sinter::graph
