/// Transforms: gradients, and the guards that switch recording of them off.
#pragma once

#include <sinter/Tensor.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <source_location>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace sinter {

/// What `backward` returns: leaf (or cell of a parameter) to gradient. A plain
/// value: touches no global state, moves cheaply, may be read by many threads.
/// A leaf that was not used is absent; tied parameters share one entry.
class Gradients {
public:
  struct Entry {
    uint64_t key = 0; ///< cell id, or the leaf's identity
    Tensor leaf;      ///< empty for a parameter
    Tensor gradient;
  };

  /// The gradient of a leaf tensor or a Param, or null when absent.
  const Tensor *find(const Tensor &leaf) const;
  template <typename T>
    requires requires(const T &param) { param.cell()->id(); }
  const Tensor *find(const T &param) const {
    return findKey(param.cell()->id());
  }
  template <typename T> bool contains(const T &leaf) const {
    return find(leaf) != nullptr;
  }
  /// As find, but an absent gradient is an error.
  template <typename T>
  const Tensor &operator()(
      const T &leaf,
      std::source_location where = std::source_location::current()) const {
    const Tensor *found = find(leaf);
    if (!found)
      throwAbsent(where);
    return *found;
  }
  template <typename T> const Tensor &operator[](const T &leaf) const {
    return (*this)(leaf);
  }
  const Tensor *findKey(uint64_t key) const;
  /// Replaces or adds the entry of a cell.
  void set(uint64_t key, Tensor gradient);
  /// Takes the entry of a leaf tensor or a Param out and gives it; an empty
  /// Tensor when absent.
  Tensor remove(const Tensor &leaf);
  template <typename T>
    requires requires(const T &param) { param.cell()->id(); }
  Tensor remove(const T &param) {
    return removeKey(param.cell()->id());
  }
  Tensor removeKey(uint64_t key);
  /// Adds the entries of `other` to those here (accumulation).
  void accumulate(const Gradients &other);
  /// The same gradients on a device, as `Tensor::to` takes them there.
  Gradients
  to(DeviceId device,
     std::source_location where = std::source_location::current()) const;

  size_t size() const { return entries.size(); }
  bool empty() const { return entries.empty(); }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }

  static uint64_t keyOf(const Tensor &leaf);
  void add(Entry entry);

private:
  [[noreturn]] static void throwAbsent(std::source_location where);

  std::vector<Entry> entries; ///< in the order the sweep met the leaves
  std::unordered_map<uint64_t, size_t> index;
};

/// Gradients of `y` with respect to any recorded tensors, leaves or not. One
/// result per `wrt`; zeros where `y` does not depend on it.
std::vector<Tensor>
grad(const Tensor &y, std::span<const Tensor> wrt, const Tensor &cotangent = {},
     std::source_location where = std::source_location::current());
inline std::vector<Tensor>
grad(const Tensor &y, std::initializer_list<Tensor> wrt,
     const Tensor &cotangent = {},
     std::source_location where = std::source_location::current()) {
  return grad(y, std::span<const Tensor>(wrt.begin(), wrt.size()), cotangent,
              where);
}

/// A function of tensors, for `vjp`.
using VjpFunction =
    std::function<std::vector<Tensor>(std::span<const Tensor> primals)>;

/// What `vjp` gives.
struct Vjp {
  std::vector<Tensor> outputs;
  /// The product of the outputs' cotangents and the function's Jacobian: one
  /// gradient a primal, zeros where no output depends on it. One cotangent an
  /// output, of its dtype and shape; an empty Tensor counts as zeros, and is
  /// the only one for an output that is not float. May be called often, also
  /// from several threads.
  std::vector<Tensor> operator()(
      std::span<const Tensor> cotangents,
      std::source_location where = std::source_location::current()) const;
  std::vector<Tensor> operator()(
      std::initializer_list<Tensor> cotangents,
      std::source_location where = std::source_location::current()) const {
    return (*this)(
        std::span<const Tensor>(cotangents.begin(), cotangents.size()), where);
  }

  std::vector<Tensor> inputs; ///< stand for the primals in what was recorded
};

/// The value of a function and its vector-Jacobian product, as jax.vjp.
///
///     sn::Vjp f = sn::vjp([](std::span<const sn::Tensor> in) {
///       return sn::sin(in[0]) * in[1]; }, {a, b});
///     sn::Tensor value = f.outputs[0];
///     std::vector<sn::Tensor> gradients = f({cotangent}); // of a and b
///
/// The function is called once, with stand-ins for the primals, which are
/// float and need not require gradients. Gradients are those that flow through
/// the arguments: what it captures is constant here, and keeps its part in
/// `backward()`. Both directions only record, under `no_grad`, too, and can be
/// differentiated again.
Vjp vjp(const VjpFunction &function, std::span<const Tensor> primals,
        std::source_location where = std::source_location::current());
inline Vjp vjp(const VjpFunction &function,
               std::initializer_list<Tensor> primals,
               std::source_location where = std::source_location::current()) {
  return vjp(function, std::span<const Tensor>(primals.begin(), primals.size()),
             where);
}
/// The same of a function with one result.
template <typename F>
  requires std::same_as<std::invoke_result_t<F &, std::span<const Tensor>>,
                        Tensor>
Vjp vjp(F function, std::initializer_list<Tensor> primals,
        std::source_location where = std::source_location::current()) {
  return vjp(VjpFunction([&](std::span<const Tensor> inputs) {
               return std::vector{function(inputs)};
             }),
             primals, where);
}

/// While it lives, what this thread records needs no gradient.
class no_grad {
public:
  no_grad();
  ~no_grad();
  no_grad(const no_grad &) = delete;

private:
  bool previous;
};

} // namespace sinter
