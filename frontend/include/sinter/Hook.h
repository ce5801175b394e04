/// Hook: a function of the user's that sees a tensor's gradient.
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace sinter {

namespace graph {
struct GradientHook;
} // namespace graph
class Tensor;

namespace detail {
/// Given a gradient, gives another or an empty Tensor.
using HookFunction = std::function<Tensor(const Tensor &gradient)>;
} // namespace detail

/// Takes a hook away again. The hook stays when its handle goes.
class HookHandle {
public:
  HookHandle() = default;
  explicit HookHandle(std::shared_ptr<graph::GradientHook> hook)
      : hook(std::move(hook)) {}
  /// No later `backward` calls the hook. From any thread.
  void remove();

private:
  std::shared_ptr<graph::GradientHook> hook;
};

} // namespace sinter
