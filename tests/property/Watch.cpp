/// A thread that looks at the clock once a second.
#include "tests/property/Watch.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sinter::property {

using Clock = std::chrono::steady_clock;

namespace {

/// What a thread is at, the innermost last, and since when.
struct Progress {
  std::vector<std::string> whats;
  Clock::time_point since;
};

struct Progresses {
  std::mutex mutex;
  std::map<std::thread::id, Progress> ofThreads;
};

} // namespace

// Never destroyed: the watching thread outlives main.
static Progresses &progresses() {
  static auto *instance = new Progresses;
  return *instance;
}

static std::chrono::seconds patience() {
  const char *text = std::getenv("SINTER_TEST_PATIENCE");
  return std::chrono::seconds(text ? std::strtoul(text, nullptr, 10) : 200);
}

static void printOwnStack(int) {
  void *frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
}

static void printStacks() {
  std::signal(SIGUSR2, printOwnStack);
  auto self = ::syscall(SYS_gettid);
  for (const auto &task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    long thread = std::strtol(task.path().filename().c_str(), nullptr, 10);
    if (thread == self)
      continue;
    std::fprintf(stderr, "thread %ld:\n", thread);
    ::syscall(SYS_tgkill, ::getpid(), thread, SIGUSR2);
    // The stacks are printed one after the other.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

[[noreturn]] static void endProcess(const Progress &progress) {
  std::fprintf(stderr, "stood still for %ld seconds\n",
               long(patience().count()));
  if (const auto *test = testing::UnitTest::GetInstance()->current_test_info())
    std::fprintf(stderr, "test %s.%s\n", test->test_suite_name(), test->name());
  for (const std::string &what : progress.whats)
    std::fprintf(stderr, "at %s\n", what.c_str());
  printStacks();
  std::abort();
}

static void keepWatch() {
  while (true) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    Progresses &all = progresses();
    std::lock_guard lock(all.mutex);
    for (const auto &[thread, progress] : all.ofThreads)
      if (Clock::now() - progress.since > patience())
        endProcess(progress);
  }
}

Watch::Watch(std::string what) {
  static std::once_flag started;
  std::call_once(started, [] { std::thread(keepWatch).detach(); });
  Progresses &all = progresses();
  std::lock_guard lock(all.mutex);
  Progress &mine = all.ofThreads[std::this_thread::get_id()];
  mine.whats.push_back(std::move(what));
  mine.since = Clock::now();
}

Watch::~Watch() {
  Progresses &all = progresses();
  std::lock_guard lock(all.mutex);
  auto mine = all.ofThreads.find(std::this_thread::get_id());
  mine->second.whats.pop_back();
  mine->second.since = Clock::now();
  if (mine->second.whats.empty())
    all.ofThreads.erase(mine);
}

} // namespace sinter::property
