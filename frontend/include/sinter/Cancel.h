/// CancelToken: stopping what another thread computes.
#pragma once

#include <sinter/Error.h>

#include <atomic>
#include <memory>

namespace sinter {

/// A request to stop. Copies are one request; every function may be called from
/// any thread.
class CancelToken {
public:
  CancelToken();
  /// Has the work under each `cancel_scope` of this token stop soon: between
  /// two kernels, or between two passes of a compilation. What a device has
  /// begun it ends.
  void cancel() const { flag->store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return flag->load(std::memory_order_relaxed); }
  /// Takes the request back, for the next piece of work.
  void reset() const { flag->store(false, std::memory_order_relaxed); }

private:
  friend class cancel_scope;
  std::shared_ptr<std::atomic<bool>> flag;
};

/// While it lives, what this thread compiles and evaluates can be stopped by a
/// token: then the call that waits for it throws Cancelled. State keeps its old
/// values, and what was asked for may be asked for again. Under it, old values
/// of parameters are kept until the step has ended, which takes memory. Scopes
/// nest: the innermost counts.
///
///   sn::CancelToken token;
///   std::thread watch([&] { wait(); token.cancel(); });
///   sn::cancel_scope scope(token);
///   loss.eval(); // throws sn::Cancelled when the token is cancelled
class cancel_scope {
public:
  explicit cancel_scope(const CancelToken &token);
  ~cancel_scope();
  cancel_scope(const cancel_scope &) = delete;

private:
  std::shared_ptr<std::atomic<bool>> flag;
  const std::atomic<bool> *previous;
};

/// Thrown by a call whose work a token stopped.
class Cancelled : public Error {
public:
  using Error::Error;
};

} // namespace sinter
