/// Runs lld. This file is compiled with exceptions: the lock is given up when
/// memory runs out.
#include "compiler/link/RunLinker.h"
#include "compiler/guard/Guarded.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

LLD_HAS_DRIVER(elf)

namespace sinter::compiler {

ErrorInfo linkError(std::string message) {
  return makeError(ErrorKind::compile, "link: " + std::move(message));
}

namespace {
/// One run of lld: what it is told, and how it ended.
struct Link {
  std::vector<std::string> arguments;
  std::promise<Status> promise;
  bool hasReturned = false; ///< else it was broken off
};
} // namespace

static Status callLinker(Link &link) {
  return guarded([&]() -> Status {
    std::vector<const char *> arguments;
    for (const std::string &argument : link.arguments)
      arguments.push_back(argument.c_str());
    std::string text;
    llvm::raw_string_ostream messages(text);
    lld::Result result = lld::lldMain(arguments, messages, messages,
                                      {{lld::Gnu, &lld::elf::link}});
    link.hasReturned = true;
    if (result.retCode != 0)
      return linkError(text);
    return {};
  });
}

/// Many times what a link takes.
static constexpr std::chrono::seconds patience{20};

/// Nothing when lld does not come back: its thread waits for ever, and what it
/// uses stays.
static std::optional<Status>
callLinkerAside(const std::shared_ptr<Link> &link) {
  std::future<Status> ended = link->promise.get_future();
  std::thread([link] { link->promise.set_value(callLinker(*link)); }).detach();
  if (ended.wait_for(patience) != std::future_status::ready)
    return std::nullopt;
  return ended.get();
}

namespace {
enum class LinkerState {
  sound,
  suspect, ///< broken off: a lock of it may have stayed taken
  lost     ///< one has
};
} // namespace

Status runLinker(std::vector<std::string> arguments) {
  static std::mutex mutex;
  static LinkerState state = LinkerState::sound;
  std::lock_guard<std::mutex> lock(mutex);
  auto link = std::make_shared<Link>(std::move(arguments));
  std::optional<Status> status;
  if (state == LinkerState::sound)
    status = callLinker(*link);
  else if (state == LinkerState::suspect)
    status = callLinkerAside(link);
  if (!status) {
    state = LinkerState::lost;
    return linkError("the linker does not answer since memory ran out in it; "
                     "a new process can link");
  }
  state = link->hasReturned ? LinkerState::sound : LinkerState::suspect;
  return *std::move(status);
}

} // namespace sinter::compiler
