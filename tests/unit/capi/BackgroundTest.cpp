/// Runs in the background: order, callbacks, cancelling, closing.
#include "tests/unit/capi/Models.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace sinter::capi::test;
using sinter::runtime::test::loopProgram;
using sinter::runtime::test::scaleProgram;

namespace {

/// A run of some million launches. The session goes first: closing it ends runs
/// that read what is above it.
struct LongRun {
  Host xs{std::vector<float>(4'000'000, 1), {4'000'000, 1}};
  Host init{{0}};
  sinter_tensor inputs[2] = {xs.tensor(), init.tensor()};
  Opened opened{loopProgram()};
};

struct Ended {
  std::atomic<int> count{0};
  std::atomic<sinter_status> status{-1};
  std::string error;
  static void callback(void *user, sinter_status status, const char *error) {
    auto &mine = *static_cast<Ended *>(user);
    mine.error = error;
    mine.status = status;
    ++mine.count;
  }
};

} // namespace

TEST(CapiBackground, runsInOrderAndTellsTheCallback) {
  Opened opened(scaleProgram());
  Host x(counting(100));
  std::vector<float> factors(20);
  std::iota(factors.begin(), factors.end(), 1.0f);
  std::vector<std::vector<float>> places(factors.size(),
                                         std::vector<float>(100));
  std::vector<sinter_tensor> outputs(factors.size(), x.tensor());
  std::vector<sinter_event *> events(factors.size());
  Ended ended;
  for (size_t i = 0; i < factors.size(); ++i) {
    outputs[i].data = places[i].data();
    // Dims and structs of inputs may go once the call is back.
    Host view(x);
    sinter_tensor inputs[] = {view.tensor(), number(factors[i])};
    inputs[0].data = x.values.data();
    ASSERT_OK(sinter_session_run_async(opened.session, 0, inputs, 2,
                                       &outputs[i], 1, nullptr, Ended::callback,
                                       &ended, &events[i]));
  }
  int32_t done = 0;
  EXPECT_OK(sinter_event_wait(events.back(), -1, &done));
  EXPECT_EQ(done, 1);
  EXPECT_EQ(ended.count, int(factors.size()));
  EXPECT_EQ(ended.status, SINTER_OK);
  EXPECT_EQ(ended.error, "");
  for (size_t i = 0; i < factors.size(); ++i) {
    EXPECT_OK(sinter_event_wait(events[i], 0, &done));
    EXPECT_EQ(done, 1) << i;
    EXPECT_EQ(places[i][9], 10 * factors[i]);
    EXPECT_OK(sinter_event_close(events[i]));
  }
  EXPECT_FAILS(sinter_event_wait(events[0], 0, &done), SINTER_INVALID_ARGUMENT,
               "this event was closed");
}

TEST(CapiBackground, outputsAreReadInTheCallback) {
  Opened opened(scaleProgram());
  Host x(counting(3));
  float factor = 4;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  struct Reader {
    sinter_session *session;
    std::vector<float> values;
  } reader{opened.session, {}};
  sinter_event *event = nullptr;
  ASSERT_OK(sinter_session_run_async(
      opened.session, 0, inputs, 2, nullptr, 0, nullptr,
      [](void *user, sinter_status, const char *) {
        auto &mine = *static_cast<Reader *>(user);
        auto view = sized<sinter_tensor>();
        if (sinter_session_output(mine.session, 0, 0, &view) == SINTER_OK)
          mine.values = valuesOf(view);
      },
      &reader, &event));
  int32_t done = 0;
  EXPECT_OK(sinter_event_wait(event, -1, &done));
  EXPECT_EQ(reader.values, (std::vector<float>{4, 8, 12}));
  EXPECT_OK(sinter_event_close(event));
}

TEST(CapiBackground, errorsComeWithTheEvent) {
  Opened opened(scaleProgram());
  Host x(counting(3));
  float factor = 4;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  inputs[0].dtype = SINTER_I8;
  Ended ended;
  sinter_event *event = nullptr;
  ASSERT_OK(sinter_session_run_async(opened.session, 0, inputs, 2, nullptr, 0,
                                     nullptr, Ended::callback, &ended, &event));
  int32_t done = 0;
  EXPECT_FAILS(sinter_event_wait(event, -1, &done), SINTER_INVALID_ARGUMENT,
               "input 'x': expected f32[s0], got i8[3]");
  EXPECT_EQ(done, 1);
  EXPECT_EQ(ended.status, SINTER_INVALID_ARGUMENT);
  EXPECT_EQ(ended.error, sinter_last_error());
  EXPECT_FAILS(sinter_event_wait(event, -1, nullptr), SINTER_INVALID_ARGUMENT,
               "done is null");
  EXPECT_OK(sinter_event_close(event));

  event = nullptr;
  EXPECT_FAILS(sinter_session_run_async(opened.session, 4, inputs, 2, nullptr,
                                        0, nullptr, nullptr, nullptr, &event),
               SINTER_INVALID_ARGUMENT, "no entry point 4");
  auto options = sized<sinter_run_options>();
  options.use_stream = 1;
  EXPECT_FAILS(sinter_session_run_async(opened.session, 0, inputs, 2, nullptr,
                                        0, &options, nullptr, nullptr, &event),
               SINTER_INVALID_ARGUMENT, "takes no stream");
  EXPECT_EQ(event, nullptr);
}

/// Of one run that goes on and one that waits.
TEST(CapiBackground, cancelStopsWhatRunsAndWaits) {
  LongRun run;
  Ended ended;
  sinter_event *events[2] = {};
  for (sinter_event *&event : events)
    ASSERT_OK(sinter_session_run_async(run.opened.session, 0, run.inputs, 2,
                                       nullptr, 0, nullptr, Ended::callback,
                                       &ended, &event));
  int32_t done = 1;
  EXPECT_OK(sinter_event_wait(events[1], 1, &done));
  EXPECT_EQ(done, 0);
  ASSERT_OK(sinter_session_cancel(run.opened.session));
  for (sinter_event *event : events) {
    EXPECT_FAILS(sinter_event_wait(event, -1, &done), SINTER_CANCELLED,
                 "cancel");
    EXPECT_OK(sinter_event_close(event));
  }
  EXPECT_EQ(ended.count, 2);
  EXPECT_EQ(ended.status, SINTER_CANCELLED);
  // A later run is as any.
  Host few({1, 2}, {2, 1});
  sinter_tensor inputs[] = {few.tensor(), run.init.tensor()};
  EXPECT_OK(sinter_session_run(run.opened.session, 0, inputs, 2, nullptr, 0,
                               nullptr));
}

TEST(CapiBackground, anEventCancelsItsRunAlone) {
  LongRun run;
  Host few({1, 2}, {2, 1});
  sinter_tensor inputs[] = {few.tensor(), run.init.tensor()};
  sinter_event *first = nullptr, *second = nullptr;
  ASSERT_OK(sinter_session_run_async(run.opened.session, 0, run.inputs, 2,
                                     nullptr, 0, nullptr, nullptr, nullptr,
                                     &first));
  ASSERT_OK(sinter_session_run_async(run.opened.session, 0, inputs, 2, nullptr,
                                     0, nullptr, nullptr, nullptr, &second));
  ASSERT_OK(sinter_event_cancel(first));
  int32_t done = 0;
  EXPECT_EQ(sinter_event_wait(first, -1, &done), SINTER_CANCELLED);
  EXPECT_OK(sinter_event_wait(second, -1, &done));
  EXPECT_OK(sinter_event_close(first));
  EXPECT_OK(sinter_event_close(second));
}

TEST(CapiBackground, aRunInTheForegroundIsCancelledFromAnotherThread) {
  LongRun run;
  std::atomic<bool> isOver{false};
  std::thread other([&] {
    while (!isOver) {
      EXPECT_OK(sinter_session_cancel(run.opened.session));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_FAILS(sinter_session_run(run.opened.session, 0, run.inputs, 2, nullptr,
                                  0, nullptr),
               SINTER_CANCELLED, "cancel");
  isOver = true;
  other.join();
}

/// Closing stops what runs, and waits for its callback.
TEST(CapiBackground, closingASessionEndsItsRuns) {
  Ended ended;
  sinter_event *event = nullptr;
  {
    LongRun run;
    for (int i = 0; i < 3; ++i)
      ASSERT_OK(sinter_session_run_async(run.opened.session, 0, run.inputs, 2,
                                         nullptr, 0, nullptr, Ended::callback,
                                         &ended, i == 0 ? &event : nullptr));
    int32_t done = 1;
    EXPECT_OK(sinter_event_wait(event, 10, &done)); // it has begun by now
    EXPECT_EQ(done, 0);
  }
  EXPECT_EQ(ended.count, 3);
  EXPECT_EQ(ended.status, SINTER_CANCELLED);
  EXPECT_OK(sinter_event_close(event));
}

/// A child has no thread of the parent's sessions: it is told, and can run and
/// close them, and open others.
TEST(CapiBackground, aChildProcessRunsInTheForeground) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer lets no child process start threads";
#endif
  Opened opened(scaleProgram());
  Host x(counting(3));
  float factor = 4;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  auto wait = [](sinter_event *event) {
    int32_t done = 0;
    return sinter_event_wait(event, -1, &done) == SINTER_OK &&
           sinter_event_close(event) == SINTER_OK;
  };
  auto begin = [&](sinter_session *session, sinter_event **event) {
    return sinter_session_run_async(session, 0, inputs, 2, nullptr, 0, nullptr,
                                    nullptr, nullptr, event);
  };
  sinter_event *event = nullptr;
  ASSERT_OK(begin(opened.session, &event));
  ASSERT_TRUE(wait(event));
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60); // a child that waits for ever is none
    sinter_session *own = nullptr;
    bool isRight =
        begin(opened.session, &event) == SINTER_INVALID_ARGUMENT &&
        std::string(sinter_last_error()).find("parent") != std::string::npos &&
        sinter_session_run(opened.session, 0, inputs, 2, nullptr, 0, nullptr) ==
            SINTER_OK &&
        sinter_session_close(opened.session) == SINTER_OK &&
        sinter_session_open(opened.model, &own) == SINTER_OK &&
        begin(own, &event) == SINTER_OK && wait(event) &&
        sinter_session_close(own) == SINTER_OK;
    ::_exit(isRight ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

namespace {
struct Closer {
  sinter_session *session = nullptr;
  std::atomic<sinter_event *> event{nullptr};
  sinter_status waited = SINTER_OK;
  std::atomic<bool> isOver{false};
};
} // namespace

/// A callback may close the session that it is of; it cannot wait for itself.
TEST(CapiBackground, aCallbackMayCloseItsSession) {
  Opened opened(scaleProgram());
  Closer closer;
  ASSERT_OK(sinter_session_open(opened.model, &closer.session));
  Host x(counting(3));
  float factor = 4;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  sinter_event *event = nullptr;
  ASSERT_OK(sinter_session_run_async(
      closer.session, 0, inputs, 2, nullptr, 0, nullptr,
      [](void *user, sinter_status, const char *) {
        auto &mine = *static_cast<Closer *>(user);
        while (!mine.event)
          std::this_thread::yield();
        int32_t done = 0;
        mine.waited = sinter_event_wait(mine.event, -1, &done);
        sinter_session_close(mine.session);
        mine.isOver = true;
      },
      &closer, &event));
  closer.event = event;
  int32_t done = 0;
  EXPECT_OK(sinter_event_wait(event, -1, &done));
  EXPECT_TRUE(closer.isOver);
  EXPECT_EQ(closer.waited, SINTER_INVALID_ARGUMENT);
  EXPECT_FAILS(sinter_session_cancel(closer.session), SINTER_INVALID_ARGUMENT,
               "was closed");
  EXPECT_OK(sinter_event_close(event));
}

namespace {
struct Waiter {
  std::atomic<sinter_event *> own{nullptr}, later{nullptr};
  sinter_status waited = SINTER_OK, looked = SINTER_INTERNAL;
  int32_t isDone = 1;
  std::string error;
  static void callback(void *user, sinter_status, const char *) {
    auto &mine = *static_cast<Waiter *>(user);
    while (!mine.later)
      std::this_thread::yield();
    mine.looked = sinter_event_wait(mine.later, 0, &mine.isDone);
    mine.waited = sinter_event_wait(mine.later, -1, &mine.isDone);
    mine.error = sinter_last_error();
  }
};

/// A callback that waits for another session's, or closes that session.
struct Across {
  std::atomic<sinter_event *> other{nullptr};
  sinter_session *closes = nullptr;
  sinter_status waited = SINTER_INTERNAL;
  static void callback(void *user, sinter_status, const char *) {
    auto &mine = *static_cast<Across *>(user);
    while (!mine.other)
      std::this_thread::yield();
    int32_t done = 0;
    mine.waited = mine.closes ? sinter_session_close(mine.closes)
                              : sinter_event_wait(mine.other, -1, &done);
  }
};
} // namespace

/// Callbacks of three sessions in a circle: the one that comes last does not
/// wait, and the others' waits end.
TEST(CapiBackground, callbacksCannotWaitForEachOther) {
  Opened opened(scaleProgram());
  Host x(counting(3));
  float factor = 4;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  for (int round = 0; round < 40; ++round) {
    constexpr size_t count = 3;
    sinter_session *sessions[count];
    sinter_event *events[count];
    Across across[count];
    for (size_t i = 0; i < count; ++i)
      ASSERT_OK(sinter_session_open(opened.model, &sessions[i]));
    bool closes = round % 2 == 1;
    if (closes)
      across[0].closes = sessions[1];
    for (size_t i = 0; i < count; ++i)
      ASSERT_OK(sinter_session_run_async(sessions[i], 0, inputs, 2, nullptr, 0,
                                         nullptr, Across::callback, &across[i],
                                         &events[i]));
    for (size_t i = 0; i < count; ++i)
      across[i].other = events[(i + 1) % count];
    int refused = 0;
    for (size_t i = 0; i < count; ++i) {
      int32_t done = 0;
      sinter_status ended = sinter_event_wait(events[i], -1, &done);
      EXPECT_TRUE(ended == SINTER_OK ||
                  (closes && i == 1 && ended == SINTER_CANCELLED));
      EXPECT_EQ(done, 1);
    }
    for (size_t i = 0; i < count; ++i) {
      refused += across[i].waited == SINTER_INVALID_ARGUMENT;
      EXPECT_OK(sinter_event_close(events[i]));
      if (!closes || i != 1)
        EXPECT_OK(sinter_session_close(sessions[i]));
    }
    if (closes)
      EXPECT_LE(refused, 1); // none where the closing came last
    else
      EXPECT_EQ(refused, 1);
  }
}

/// A run that its session begins later waits for this callback in turn.
TEST(CapiBackground, aCallbackCannotWaitForALaterRun) {
  Opened opened(scaleProgram()), other(scaleProgram());
  Host x(counting(3));
  float factor = 4;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  auto begin = [&](sinter_session *session, Waiter *waiter) {
    sinter_event *event = nullptr;
    EXPECT_OK(sinter_session_run_async(
        session, 0, inputs, 2, nullptr, 0, nullptr,
        waiter ? Waiter::callback : nullptr, waiter, &event));
    return event;
  };
  int32_t done = 0;
  Waiter waiter;
  waiter.own = begin(opened.session, &waiter);
  waiter.later = begin(opened.session, nullptr);
  EXPECT_OK(sinter_event_wait(waiter.own, -1, &done));
  EXPECT_OK(sinter_event_wait(waiter.later, -1, &done));
  EXPECT_EQ(waiter.looked, SINTER_OK);
  EXPECT_EQ(waiter.isDone, 0);
  EXPECT_EQ(waiter.waited, SINTER_INVALID_ARGUMENT);
  EXPECT_NE(waiter.error.find("once this callback is over"), std::string::npos)
      << waiter.error;
  // One of another session is not.
  Waiter across;
  across.own = begin(opened.session, &across);
  across.later = begin(other.session, nullptr);
  EXPECT_OK(sinter_event_wait(across.own, -1, &done));
  EXPECT_EQ(across.waited, SINTER_OK);
  EXPECT_EQ(across.isDone, 1);
  for (sinter_event *event : {waiter.own.load(), waiter.later.load(),
                              across.own.load(), across.later.load()})
    EXPECT_OK(sinter_event_close(event));
}

/// Without the compiler, or with a text that is none.
TEST(CapiBackground, compilingSaysWhatIsWrong) {
  sinter_event *event = nullptr;
  auto ignore = [](void *, sinter_status, const char *, sinter_model *model) {
    EXPECT_EQ(model, nullptr);
  };
  EXPECT_FAILS(sinter_compile(nullptr, 0, nullptr, ignore, nullptr, &event),
               SINTER_INVALID_ARGUMENT, "graph is null");
  EXPECT_FAILS(sinter_compile("", 0, nullptr, nullptr, nullptr, &event),
               SINTER_INVALID_ARGUMENT, "callback is null");
  auto options = sized<sinter_compile_options>();
  options.numerics = "sloppy";
  EXPECT_FAILS(sinter_compile("", 0, &options, ignore, nullptr, &event),
               SINTER_INVALID_ARGUMENT, "sloppy");
  options.numerics = nullptr;
  options.device = "tpu";
  EXPECT_FAILS(sinter_compile("", 0, &options, ignore, nullptr, &event),
               SINTER_INVALID_ARGUMENT, "tpu");
  EXPECT_EQ(event, nullptr);
}
