/// ModuleCalls: who is told of what modules give while they are called.
#pragma once

#include <sinter/Tensor.h>

#include <type_traits>
#include <typeinfo>

namespace sinter::detail {

/// While it lives, this thread's calls of modules report to it, the innermost
/// one. A summary finds the shapes of all outputs so.
class ModuleObserver {
public:
  ModuleObserver();
  virtual ~ModuleObserver();
  ModuleObserver(const ModuleObserver &) = delete;

  /// The thread's, or null.
  static ModuleObserver *current();
  /// The module at `address` gave a tensor. A module and its first field stand
  /// at one address; their types differ.
  virtual void gave(const void *address, const std::type_info &type,
                    const Tensor &output) = 0;

private:
  ModuleObserver *outer;
};

/// What `forward` gives, reported.
template <typename Module, typename F>
auto called(const Module &module, F &&forward) {
  using Result = std::remove_cvref_t<decltype(forward())>;
  if constexpr (std::is_same_v<Result, Tensor>) {
    Tensor output = forward();
    if (ModuleObserver *observer = ModuleObserver::current()) [[unlikely]]
      observer->gave(&module, typeid(Module), output);
    return output;
  } else {
    return forward();
  }
}

} // namespace sinter::detail
