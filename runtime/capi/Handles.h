/// Handles: what C callers hold instead of pointers, so that one which was
/// closed, or is of another kind, is found out.
#pragma once

#include "runtime/capi/Guard.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <memory>

namespace sinter::capi {

enum class HandleKind : uint8_t { none, model, session, event };

/// What the handles of a type stand for: its `kind`, and the C type.
template <typename T> struct HandleOf;

/// A handle of the object, never 0. Throws std::bad_alloc.
uint64_t addHandle(HandleKind kind, std::shared_ptr<void> object);
/// The object, which lives at least as long as what is returned. An error where
/// the handle is none of that kind, or was closed.
Result<std::shared_ptr<void>> findHandle(HandleKind kind, uint64_t handle);
/// The same, and closes the handle.
Result<std::shared_ptr<void>> takeHandle(HandleKind kind, uint64_t handle);

template <typename T> auto *toHandle(std::shared_ptr<T> object) {
  uint64_t handle = addHandle(HandleOf<T>::kind, std::move(object));
  return reinterpret_cast<typename HandleOf<T>::Type *>(uintptr_t(handle));
}

template <typename T>
Result<std::shared_ptr<T>>
fromHandle(const typename HandleOf<T>::Type *handle) {
  SINTER_TRY_ASSIGN(
      auto object,
      findHandle(HandleOf<T>::kind, reinterpret_cast<uintptr_t>(handle)));
  return std::static_pointer_cast<T>(std::move(object));
}

template <typename T>
Result<std::shared_ptr<T>>
closeHandle(const typename HandleOf<T>::Type *handle) {
  SINTER_TRY_ASSIGN(
      auto object,
      takeHandle(HandleOf<T>::kind, reinterpret_cast<uintptr_t>(handle)));
  return std::static_pointer_cast<T>(std::move(object));
}

} // namespace sinter::capi
