/// What a thread has by itself.
#pragma once

#include <utility>

/// `thread_local` that is read by one instruction, where a library's own way is
/// a call. Its libraries have to be loaded with the process, or fit into what
/// the loader keeps for those that come later: no more than words.
#define SINTER_THREAD_LOCAL                                                    \
  __attribute__((tls_model("initial-exec"))) thread_local

namespace sinter {

/// Frees what a thread-local pointer points to at the end of its thread.
///
/// A library's thread-local block is set aside when the library is loaded; late
/// in a process's life there are some hundred bytes left for the quick kind. So
/// what is larger than a few words is made by `new` at its first use:
///
///   static SINTER_THREAD_LOCAL Table *table = nullptr;
///   if (!table) {
///     table = new Table;
///     static thread_local ThreadOwner<Table> owner(table);
///   }
template <typename T> class ThreadOwner {
public:
  explicit ThreadOwner(T *&pointer) : pointer(pointer) {}
  ~ThreadOwner() { delete std::exchange(pointer, nullptr); }
  ThreadOwner(const ThreadOwner &) = delete;

private:
  T *&pointer;
};

} // namespace sinter
