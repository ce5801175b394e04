/// Statuses, and the last error of each thread.
#include "runtime/capi/Guard.h"

#include "runtime/support/Exhausted.h"
#include "runtime/support/Printable.h"
#include "runtime/support/ThreadOwner.h"

#include <exception>
#include <new>
#include <string>

#include <sinter/version.h>

using namespace sinter;
using namespace sinter::capi;

namespace {

/// `text` is used where `message` could not be kept.
struct LastError {
  sinter_status status = SINTER_OK;
  std::string message;
  const char *text = nullptr;
};

} // namespace

static thread_local LastError *last = nullptr;

static LastError &lastError() {
  if (!last) {
    last = new LastError;
    static thread_local ThreadOwner<LastError> owner(last);
  }
  return *last;
}

sinter_status capi::statusOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::invalid_argument:
    return SINTER_INVALID_ARGUMENT;
  case ErrorKind::unsupported:
    return SINTER_UNSUPPORTED;
  case ErrorKind::compile:
    return SINTER_COMPILE;
  case ErrorKind::device:
    return SINTER_DEVICE;
  case ErrorKind::out_of_memory:
    return SINTER_OUT_OF_MEMORY;
  case ErrorKind::io:
    return SINTER_IO;
  case ErrorKind::cancelled:
    return SINTER_CANCELLED;
  case ErrorKind::internal:
    return SINTER_INTERNAL;
  }
  return SINTER_INTERNAL;
}

sinter_status capi::fail(const ErrorInfo &error) noexcept {
  sinter_status status = statusOf(error.kind);
  try {
    LastError &mine = lastError();
    mine.status = status;
    mine.text = "out of memory, for the error's text, too";
    mine.message = printable(error.message);
    mine.text = nullptr;
  } catch (...) {
    return status;
  }
  return status;
}

ErrorInfo capi::caught() noexcept {
  try {
    try {
      return exhausted();
    } catch (const std::exception &other) {
      return makeError(ErrorKind::internal, other.what());
    }
  } catch (...) {
    return makeError(ErrorKind::internal, "an exception");
  }
}

sinter_status capi::failCaught() noexcept { return fail(caught()); }

ErrorInfo capi::invalid(std::string message) {
  return makeError(ErrorKind::invalid_argument, std::move(message));
}

extern "C" {

const char *sinter_version(void) { return SINTER_VERSION; }

const char *sinter_last_error(void) {
  if (!last)
    return "";
  return last->text ? last->text : last->message.c_str();
}

sinter_status sinter_last_status(void) {
  return last ? last->status : SINTER_OK;
}

const char *sinter_status_name(sinter_status status) {
  static constexpr const char *names[] = {
      "ok",      "invalid_argument", "unsupported",
      "compile", "device",           "out_of_memory",
      "io",      "cancelled",        "internal"};
  bool isKnown = status >= SINTER_OK && status <= SINTER_INTERNAL;
  return isKnown ? names[status] : "unknown";
}

} // extern "C"
