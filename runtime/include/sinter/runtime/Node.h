/// Node: one recorded op (or leaf). Small, immutable but for its value.
#pragma once

#include <sinter/runtime/Buffer.h>
#include <sinter/runtime/DType.h>
#include <sinter/runtime/DeviceId.h>
#include <sinter/runtime/Dim.h>
#include <sinter/runtime/Error.h>
#include <sinter/runtime/Graph.h>
#include <sinter/runtime/OpTable.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace sinter::graph {

class Node;
class NodeNotes;
struct CheckpointRegion;

/// Owning pointer to a Node. Releasing a deep graph does not recurse.
class NodeRef {
public:
  NodeRef() = default;
  static NodeRef adopt(Node *node) {
    NodeRef ref;
    ref.pointer = node;
    return ref;
  }
  explicit NodeRef(Node *node);
  NodeRef(const NodeRef &other);
  NodeRef(NodeRef &&other) noexcept
      : pointer(std::exchange(other.pointer, nullptr)) {}
  NodeRef &operator=(NodeRef other) noexcept {
    std::swap(pointer, other.pointer);
    return *this;
  }
  ~NodeRef();
  Node *get() const { return pointer; }
  Node *operator->() const { return pointer; }
  Node &operator*() const { return *pointer; }
  explicit operator bool() const { return pointer != nullptr; }
  bool operator==(const NodeRef &) const = default;

private:
  Node *pointer = nullptr;
};

/// Whether a node's value exists.
enum class NodeState : uint8_t { pending, ready, failed };

/// A recorded op or a leaf. Op, attributes, operands, dtype, dims, device and
/// site never change; the value is given once, by evaluation, and evaluation
/// may drop the operands. Allocated from a thread-local slab, one block with
/// its operands, dims and attributes behind it; the count is atomic.
class Node {
public:
  OpId op() const { return opId; }
  bool isLeaf() const { return opId == leafOp; }
  InputKind leafKind() const { return kind; } ///< of a leaf
  DType dtype() const { return type; }
  DeviceId device() const { return where; }
  /// The user's line, with the calls that led to it.
  SiteId site() const { return userSite; }
  unsigned rank() const { return numDims; }
  std::span<const Dim> dims() const;
  std::span<const uint64_t> attrs() const; ///< encoded as info(op()).attrs
  /// Empty once evaluation dropped the history.
  std::span<const NodeRef> operands() const;
  /// Product of the dims' values.
  int64_t elements() const {
    int64_t count = 1;
    for (Dim dim : dims())
      count *= dim.value;
    return count;
  }

  /// A leaf that asked for gradients, or an op over one recorded outside
  /// no_grad.
  bool requiresGrad() const { return wantsGrad; }

  /// Whether its shape rule relied on equalities of symbolic dims.
  bool hasGuards() const { return guarded; }

  NodeState state() const { return valueState.load(std::memory_order_acquire); }
  bool isReady() const { return state() == NodeState::ready; }
  /// The value; only when ready and not a scalar leaf.
  const runtime::BufferRef &value() const { return buffer; }
  /// A scalar leaf's payload: the bits of its dtype in the low bytes.
  uint64_t scalarBits() const { return scalar; }
  /// The cell that a parameter leaf belongs to; 0 for every other node.
  uint64_t cellId() const {
    return isLeaf() && kind == InputKind::parameter ? scalar : 0;
  }
  /// Why evaluation failed; only when failed.
  const ErrorInfo &failure() const { return *error; }

  /// Gives the value. Called by evaluation only, once, under its lock.
  void setReady(runtime::BufferRef value);
  void setFailed(ErrorInfo failure);
  /// Forgets the operands (history). Called by evaluation only, under its
  /// lock; recorders never read operands of a ready node.
  void dropOperands();

  /// What users attached to the node; null when nothing.
  NodeNotes *notes() const { return attached.load(std::memory_order_acquire); }
  /// The same, made if there is none. Thread-safe.
  NodeNotes &addNotes();

  uint32_t useCount() const { return refs.load(std::memory_order_acquire); }

private:
  friend class NodeRef;
  friend struct NodeFactory;
  Node() = default;
  ~Node() {
    if (attached.load(std::memory_order_relaxed)) [[unlikely]]
      destroyNotes();
  }
  void destroyNotes();

  // One block: the node, its dims, its attribute words, its operands. Operands
  // come last, so that dropping them moves nothing.
  Dim *firstDim() const {
    return reinterpret_cast<Dim *>(const_cast<Node *>(this + 1));
  }
  uint64_t *firstAttr() const {
    return reinterpret_cast<uint64_t *>(firstDim() + numDims);
  }
  NodeRef *firstOperand() const {
    return reinterpret_cast<NodeRef *>(firstAttr() + numAttrWords);
  }
  /// Gives up one reference; whether it was the last.
  bool isLastRelease() {
    // Who holds the only reference needs no atomic write to give it up.
    return refs.load(std::memory_order_acquire) == 1 ||
           refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  std::atomic<uint32_t> refs{1};
  OpId opId = leafOp;
  DType type = DType::f32;
  InputKind kind = InputKind::data;
  DeviceId where;
  uint8_t numDims = 0;
  bool wantsGrad = false;
  bool guarded = false;
  std::atomic<NodeState> valueState{NodeState::pending};
  uint16_t numOperands = 0;
  uint16_t numAttrWords = 0;
  SiteId userSite = 0;
  uint32_t blockBytes = 0;
  runtime::BufferRef buffer;
  union {
    uint64_t scalar = 0;
    Node *nextDead;
  };
  std::unique_ptr<ErrorInfo> error;
  std::atomic<NodeNotes *> attached{nullptr};
};

/// What newly recorded nodes of this thread get.
struct RecordScope {
  SiteId site = 0;
  bool gradEnabled = true;
  /// What is recorded belongs to it; null for none.
  const std::shared_ptr<const CheckpointRegion> *region = nullptr;
};
RecordScope &recordScope();

/// Makes nodes. The generated graph builders check, infer and call `op`.
struct NodeFactory {
  /// A pending op node with the thread's current site.
  static NodeRef op(OpId op, DType dtype, std::span<const Dim> dims,
                    std::span<const NodeRef> operands,
                    std::span<const uint64_t> attrs, DeviceId device);
  /// A leaf that holds a value.
  static NodeRef leaf(InputKind kind, DType dtype, std::span<const Dim> dims,
                      runtime::BufferRef value, bool requiresGrad = false);
  /// A leaf whose value is made later (a lazy parameter): pending until
  /// setReady.
  static NodeRef lazyLeaf(DType dtype, std::span<const Dim> dims,
                          DeviceId device, bool requiresGrad);
  /// Marks a parameter leaf, not yet shared, as belonging to a cell.
  static void setCell(const NodeRef &leaf, uint64_t cellId) {
    leaf->kind = InputKind::parameter;
    leaf->scalar = cellId;
  }
  /// For parts of loops, not yet shared: what their operands do not tell.
  static void setRequiresGrad(const NodeRef &node, bool requiresGrad) {
    node->wantsGrad = requiresGrad;
  }
  /// A dynamic scalar: rank 0, payload by value. Works on every device; ops on
  /// scalars alone are placed on `device`.
  static NodeRef scalar(DType dtype, uint64_t bits, DeviceId device = {});
  /// A ready leaf that shares `node`'s value, without history.
  static NodeRef detached(const NodeRef &node, bool requiresGrad);

private:
  friend class NodeRef;
  static Node *allocate(DType dtype, std::span<const Dim> dims, size_t numAttrs,
                        size_t numOperands);
  static void destroy(Node *node);
  static void destroyOne(Node *node, Node *&dead);
};

inline NodeRef::NodeRef(Node *node) : pointer(node) {
  if (pointer)
    pointer->refs.fetch_add(1, std::memory_order_relaxed);
}
inline NodeRef::NodeRef(const NodeRef &other) : NodeRef(other.pointer) {}
inline NodeRef::~NodeRef() {
  if (pointer && pointer->isLastRelease())
    NodeFactory::destroy(pointer);
}

inline std::span<const Dim> Node::dims() const { return {firstDim(), numDims}; }
inline std::span<const uint64_t> Node::attrs() const {
  return {firstAttr(), numAttrWords};
}
inline std::span<const NodeRef> Node::operands() const {
  return {firstOperand(), numOperands};
}

/// `f32[4,8]`; symbolic dims print their value.
std::string typeString(const Node &node);

} // namespace sinter::graph
