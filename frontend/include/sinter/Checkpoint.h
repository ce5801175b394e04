/// checkpoint: a part of a model whose inner values are not kept.
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace sinter {

namespace detail {
/// What this thread records while it lives belongs to one region.
class CheckpointScope {
public:
  CheckpointScope();
  ~CheckpointScope();
  CheckpointScope(const CheckpointScope &) = delete;

private:
  struct Region;
  std::unique_ptr<Region> region;
};
} // namespace detail

/// Calls `function(args...)` and gives its result. What it records is computed
/// a second time for `backward()`, from the arguments and whatever else came
/// from outside, instead of being kept from one pass to the other: time for
/// memory. Only what goes in and comes out is kept. As torch.utils.checkpoint.
///
///     for (const Block &block : blocks)
///       x = sn::checkpoint(block, x);
///
/// The function is called once, with arguments and results of any type, and may
/// use parameters and tensors from outside. Gradients are those that they have
/// without it: from the same ops on the same values, random draws and dropout
/// included. In `exact` first derivatives are the same bits; in other modes a
/// last bit may differ: a product that one sum alone reads is rounded with that
/// sum, and fewer read it where others read one that is computed again. Regions
/// may hold regions. State that the function changes (running statistics)
/// changes once. A loop of `scan` in it is kept, and so is a value that is
/// read. Gradients with respect to inner tensors are there, but second
/// derivatives with respect to them are not.
template <typename F, typename... Args>
decltype(auto) checkpoint(F &&function, Args &&...args) {
  detail::CheckpointScope scope;
  return std::invoke(std::forward<F>(function), std::forward<Args>(args)...);
}

} // namespace sinter
