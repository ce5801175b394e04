/// Recording: what the generated op functions call.
///
/// A generated function is three lines:
///
///   Tensor add(const Arg &lhs, const Arg &rhs) {
///     detail::Recorder recorder(graph::OpId::add, lhs);
///     auto [l, r] = recorder.operands(detail::Promotion::match, 0b11, true,
///                                     lhs, rhs);
///     return recorder.result(graph::add(l, r));
///   }
///
/// Attributes arrive as the user wrote them: `Axes` for lists of integers,
/// `const Dims &` for dims (with -1), plain numbers, dtypes and enumerations
/// for the rest. `recorder.axes(axes, rank)` turns "every axis" into a list.
///
/// These have no generated function, they are written by hand: `matmul`
/// (vectors, batch broadcast; Matmul.cpp), `full`, `iota`, `extent`
/// (Creation.cpp), `random_uniform` and `random_normal` (Random.cpp), `conv`
/// and `conv_transpose` (Convolution.cpp), `max_pool` and `avg_pool`
/// (Pooling.cpp), `scaled_dot_product_attention` (Attention.cpp), `sort` and
/// `argsort` (Sorting.cpp).
#pragma once

#include "runtime/graph/Builders.h"
#include "runtime/support/Sites.h"
#include "runtime/support/SmallVector.h"

#include <sinter/SourceScope.h>
#include <sinter/Tensor.h>

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace sinter::detail {

/// How operands are brought to one dtype.
enum class Promotion : uint8_t {
  none,     ///< left alone; a plain number takes its C++ type's dtype
  match,    ///< the promoted dtype of all (docs/semantics.md)
  floating, ///< as match; integers and bool become f32
  first,    ///< the first promoted operand's dtype
};

/// The line's id; 0 for a default-constructed line.
inline SiteId siteOf(const SourceLine &line) {
  return line.line() == 0 ? 0 : internSite(line);
}

/// The line that errors and flushes at `where` name: `where`, reached from the
/// innermost open scope, or that scope's own line if `where` is the library's.
SiteId userSite(const SourceLine &where);

/// What this thread records next belongs to that line.
void enterLine(const SourceLine &where);

/// The dtype of a plain number that meets no tensor.
DType ownDType(ArgKind kind);

/// An error of `op` where an integer dtype does not hold the number, or what a
/// real one has before its point.
Status checkHeld(std::string_view op, DType dtype, Number number);

/// A dynamic scalar of rank 0.
graph::NodeRef scalarNode(DType dtype, Number value, DeviceId device);

/// The shape that shapes broadcast to: aligned at the last axis, constant dims
/// of size 1 expand. Empty when they do not fit.
std::optional<SmallVector<Dim, 6>> broadcastShape(std::span<const Dim> lhs,
                                                  std::span<const Dim> rhs);
/// `node` in that shape: itself, or a recorded `broadcast`.
Result<graph::NodeRef> broadcastTo(const graph::NodeRef &node,
                                   std::span<const Dim> shape);

/// The operands of one op: borrowed from the caller's tensors, or made for it.
template <size_t N> class Operands {
public:
  const graph::NodeRef &operator[](size_t i) const { return *used[i]; }
  /// Owned copies, for those who go on changing them.
  std::array<graph::NodeRef, N> copies() const {
    std::array<graph::NodeRef, N> nodes;
    for (size_t i = 0; i < N; ++i)
      nodes[i] = *used[i];
    return nodes;
  }

private:
  friend class Recorder;
  const graph::NodeRef *used[N];
  graph::NodeRef made[N];
};

/// The recording of one call of a public op. Sets the thread's source lines.
/// All functions throw sinter::Error at the caller's line.
class Recorder {
public:
  Recorder(graph::OpId op, const Arg &first) : Recorder(op, first.where) {}
  Recorder(graph::OpId op, const SourceLine &where);
  Recorder(const Recorder &) = delete;

  /// Brings the operands to nodes: numbers become scalars of the right dtype,
  /// dtypes are promoted by a recorded `cast`, shapes by a recorded
  /// `broadcast`. Bit N of `promoted` says that operand N takes part in
  /// promotion; the others keep their dtype.
  template <typename... Args>
  Operands<sizeof...(Args)> operands(Promotion promotion, uint32_t promoted,
                                     bool broadcasts, const Args &...args) {
    const Arg *list[] = {&args...};
    Operands<sizeof...(Args)> nodes;
    resolve(promotion, promoted, broadcasts, list, nodes.used, nodes.made);
    return nodes;
  }
  /// The same for a variadic op.
  SmallVector<graph::NodeRef, 4> operands(Promotion promotion,
                                          uint32_t promoted, bool broadcasts,
                                          std::span<const Arg> args);

  /// The axes as a list: every axis of `rank` when the user named none.
  Axes axes(const Axes &axes, int64_t rank) const;

  /// The recorded op, or its error thrown with the user's line.
  Tensor result(Result<graph::NodeRef> node) {
    if (!node) [[unlikely]]
      fail(node.takeError());
    return finish(std::move(*node));
  }
  /// Throws `error` at the call's line.
  [[noreturn]] void fail(ErrorInfo error) const;
  /// Throws an invalid_argument error `MNEMONIC: WHAT: TYPE x TYPE`.
  [[noreturn]] void fail(std::string what,
                         std::span<const graph::NodeRef> operands) const;

private:
  /// Points `used` at each operand: the caller's, or one put in `made`.
  void resolve(Promotion promotion, uint32_t promoted, bool broadcasts,
               std::span<const Arg *const> args, const graph::NodeRef **used,
               graph::NodeRef *made);
  void convert(Promotion promotion, uint32_t promoted, bool broadcasts,
               std::span<const Arg *const> args, const graph::NodeRef **used,
               graph::NodeRef *made);
  /// Nothing brings a stored dtype to another one but a cast that is asked for.
  void refuseStored(uint32_t promoted, DType common,
                    std::span<const Arg *const> args);
  Tensor finish(graph::NodeRef node);

  graph::OpId op;
  SourceLine where;
};

} // namespace sinter::detail
