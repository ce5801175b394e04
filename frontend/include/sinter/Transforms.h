/// Transforms: gradients, and the guards that switch recording of them off.
#pragma once

#include <sinter/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>
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
