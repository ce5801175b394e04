/// Many threads: one model, a session each, and one session for all.
#include "runtime/device/ThreadPool.h"
#include "tests/unit/capi/Models.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace sinter::capi::test;
using sinter::runtime::test::scaleProgram;

namespace {

void inThreads(int count, const std::function<void(int)> &work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
}

/// Whether the session's run gives what it has to, in memory of the thread's.
bool runs(sinter_session *session, int n, float factor) {
  Host x(counting(size_t(n))), out(counting(size_t(n)));
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  sinter_tensor output = out.tensor();
  if (sinter_session_run(session, 0, inputs, 2, &output, 1, nullptr) !=
      SINTER_OK)
    return false;
  for (int i = 0; i < n; ++i)
    if (out.values[size_t(i)] != float(i + 1) * factor)
      return false;
  return true;
}

/// Whether it runs on numbers that it has to copy, as they are not aligned.
bool runsUnaligned(sinter_session *session, int n) {
  Host x(counting(size_t(n))), out(counting(size_t(n)));
  std::vector<char> moved(size_t(n) * 4 + 1);
  std::memcpy(moved.data() + 1, x.values.data(), size_t(n) * 4);
  float factor = 2;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  inputs[0].data = moved.data() + 1;
  sinter_tensor output = out.tensor();
  return sinter_session_run(session, 0, inputs, 2, &output, 1, nullptr) ==
             SINTER_OK &&
         out.values.back() == float(n) * factor;
}

/// Threads of a child process that has run a model of that option on some and
/// on many numbers; 0 where it could not.
int threadsOfARun(int32_t threads) {
  std::vector<std::byte> file = scaleProgram().file();
  pid_t child = ::fork(); // without its parent's pool
  if (child == 0) {
    ::alarm(60);
    auto options = sized<sinter_model_options>();
    options.device = "cpu";
    options.threads = threads;
    sinter_model *model = nullptr;
    sinter_session *session = nullptr;
    bool isRight = sinter_model_open_memory(file.data(), file.size(), &options,
                                            &model) == SINTER_OK &&
                   sinter_session_open(model, &session) == SINTER_OK &&
                   runs(session, 300 * 256, 3) &&
                   runsUnaligned(session, 2 << 20);
    std::filesystem::directory_iterator tasks("/proc/self/task"), end;
    ::_exit(isRight ? int(std::distance(tasks, end)) : 0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

} // namespace

/// The first runs of all load the program at once.
TEST(CapiThreads, sessionsOfOneModelRunAtOnce) {
  Opened opened(scaleProgram());
  std::atomic<int> wrong{0};
  inThreads(6, [&](int thread) {
    sinter_session *session = nullptr;
    if (sinter_session_open(opened.model, &session) != SINTER_OK)
      ++wrong;
    for (int i = 0; i < 50; ++i)
      wrong += !runs(session, 1 + 97 * thread + i, float(thread + 1));
    wrong += sinter_session_close(session) != SINTER_OK;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(CapiThreads, threadsShareASession) {
  Opened opened(scaleProgram());
  std::atomic<int> wrong{0};
  inThreads(4, [&](int thread) {
    for (int i = 0; i < 50; ++i)
      wrong += !runs(opened.session, 20 + thread, float(thread + 1));
  });
  EXPECT_EQ(wrong, 0);
}

TEST(CapiThreads, areAsManyAsTheModelMayTake) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer lets no child process start threads";
#endif
  EXPECT_EQ(threadsOfARun(1), 1);
  int all = threadsOfARun(0);
  EXPECT_EQ(all, int(sinter::runtime::defaultThreads()));
  EXPECT_EQ(all, threadsOfARun(INT32_MAX));
}

/// Somebody closes what others use: these are told, or end well.
TEST(CapiThreads, closingWhileOthersRun) {
  for (int round = 0; round < 20; ++round) {
    Opened opened(scaleProgram());
    sinter_session *session = nullptr;
    ASSERT_OK(sinter_session_open(opened.model, &session));
    std::atomic<int> wrong{0};
    inThreads(4, [&](int thread) {
      if (thread == 0) {
        wrong += sinter_session_close(session) != SINTER_OK;
        return;
      }
      for (int i = 0; i < 10; ++i)
        if (!runs(session, 300, 2) &&
            sinter_last_status() != SINTER_INVALID_ARGUMENT &&
            sinter_last_status() != SINTER_CANCELLED)
          ++wrong;
    });
    EXPECT_EQ(wrong, 0);
  }
}

TEST(CapiThreads, handlesComeAndGo) {
  Opened opened(scaleProgram());
  std::atomic<int> wrong{0};
  inThreads(4, [&](int) {
    std::vector<sinter_session *> sessions(30);
    for (int round = 0; round < 10; ++round) {
      for (sinter_session *&session : sessions)
        wrong += sinter_session_open(opened.model, &session) != SINTER_OK;
      for (sinter_session *session : sessions)
        wrong += sinter_session_close(session) != SINTER_OK;
    }
  });
  EXPECT_EQ(wrong, 0);
}
