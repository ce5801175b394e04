/// ThreadOwner: what a thread has by itself, behind a pointer.
#pragma once

#include <utility>

namespace sinter {

/// Frees what a thread-local pointer points to at the end of its thread.
///
/// A library's thread-local block is set aside when the library is loaded; late
/// in a process's life there are some hundred bytes left for the quick kind. So
/// what is larger than a few words is made by `new` at its first use:
///
///   static thread_local Table *table = nullptr;
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
