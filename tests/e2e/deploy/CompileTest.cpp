/// Compiling in the background, through the C interface: what is built here
/// finds the compiler beside the runtime.
#include "sinter/c_api.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr const char *graph =
    "#rows = affine_map<()[s0] -> (s0, 2)>\n"
    "func.func @main(%x: tensor<?x2xf32, #rows> {sinter.name = \"x\"}) -> "
    "tensor<?x2xf32, #rows> {\n"
    "  %0 = sinter.exp %x : (tensor<?x2xf32, #rows>) -> "
    "tensor<?x2xf32, #rows>\n"
    "  return %0 : tensor<?x2xf32, #rows>\n"
    "}\n";

struct Compiled {
  std::atomic<int> calls{0};
  sinter_status status = -1;
  std::string error;
  sinter_model *model = nullptr;

  static void ready(void *user, sinter_status status, const char *error,
                    sinter_model *model) {
    auto &mine = *static_cast<Compiled *>(user);
    mine.status = status;
    mine.error = error;
    mine.model = model;
    ++mine.calls;
  }
};

sinter_compile_options forCpu() {
  sinter_compile_options options{};
  options.struct_size = sizeof(options);
  options.device = "cpu";
  return options;
}

} // namespace

TEST(Compile, givesAModelThatRuns) {
  Compiled compiled;
  sinter_compile_options options = forCpu();
  sinter_event *event = nullptr;
  ASSERT_EQ(sinter_compile(graph, std::strlen(graph), &options, Compiled::ready,
                           &compiled, &event),
            SINTER_OK)
      << sinter_last_error();
  int32_t done = 0;
  ASSERT_EQ(sinter_event_wait(event, -1, &done), SINTER_OK)
      << sinter_last_error();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(compiled.calls, 1);
  ASSERT_EQ(compiled.status, SINTER_OK) << compiled.error;
  EXPECT_EQ(sinter_event_close(event), SINTER_OK);

  sinter_session *session = nullptr;
  ASSERT_EQ(sinter_session_open(compiled.model, &session), SINTER_OK);
  for (int64_t rows : {3, 29}) {
    std::vector<float> x(size_t(rows) * 2, 1);
    int64_t dims[] = {rows, 2};
    sinter_tensor input{}, output{};
    input.struct_size = output.struct_size = sizeof(input);
    input.data = x.data();
    input.dtype = SINTER_F32;
    input.ndim = 2;
    input.dims = dims;
    ASSERT_EQ(sinter_session_run(session, 0, &input, 1, nullptr, 0, nullptr),
              SINTER_OK)
        << sinter_last_error();
    ASSERT_EQ(sinter_session_output(session, 0, 0, &output), SINTER_OK);
    EXPECT_EQ(output.dims[0], rows);
    EXPECT_NEAR(static_cast<float *>(output.data)[rows * 2 - 1], std::exp(1.0f),
                1e-6f);
  }
  EXPECT_EQ(sinter_session_close(session), SINTER_OK);
  EXPECT_EQ(sinter_model_close(compiled.model), SINTER_OK);
}

TEST(Compile, tellsWhatIsWrongWithAText) {
  Compiled compiled;
  sinter_compile_options options = forCpu();
  sinter_event *event = nullptr;
  ASSERT_EQ(sinter_compile("func.func @main(", 16, &options, Compiled::ready,
                           &compiled, &event),
            SINTER_OK);
  int32_t done = 0;
  EXPECT_EQ(sinter_event_wait(event, -1, &done), SINTER_INVALID_ARGUMENT);
  EXPECT_EQ(compiled.status, SINTER_INVALID_ARGUMENT);
  EXPECT_EQ(compiled.error, sinter_last_error());
  EXPECT_NE(compiled.error, "");
  EXPECT_EQ(compiled.model, nullptr);
  EXPECT_EQ(sinter_event_close(event), SINTER_OK);
}

TEST(Compile, isCancelledBeforeItsEnd) {
  std::array<Compiled, 4> all;
  std::vector<sinter_event *> events(all.size());
  sinter_compile_options options = forCpu();
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(sinter_compile(graph, std::strlen(graph), &options,
                             Compiled::ready, &all[i], &events[i]),
              SINTER_OK);
    ASSERT_EQ(sinter_event_cancel(events[i]), SINTER_OK);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    int32_t done = 0;
    sinter_status status = sinter_event_wait(events[i], -1, &done);
    EXPECT_TRUE(status == SINTER_CANCELLED || status == SINTER_OK);
    EXPECT_EQ(status, all[i].status);
    EXPECT_EQ(status == SINTER_OK, all[i].model != nullptr);
    EXPECT_EQ(sinter_model_close(all[i].model), SINTER_OK);
    EXPECT_EQ(sinter_event_close(events[i]), SINTER_OK);
  }
}

/// A file for another device is compiled from its graph, or refused.
TEST(Compile, AnEntryForAnotherDeviceIsCompiled) {
  Compiled compiled;
  sinter_compile_options options = forCpu();
  options.target = "cuda:sm_80";
  sinter_event *event = nullptr;
  ASSERT_EQ(sinter_compile(graph, std::strlen(graph), &options, Compiled::ready,
                           &compiled, &event),
            SINTER_OK);
  int32_t done = 0;
  ASSERT_EQ(sinter_event_wait(event, -1, &done), SINTER_OK)
      << sinter_last_error();
  EXPECT_EQ(sinter_event_close(event), SINTER_OK);
  sinter_port_info port{};
  port.struct_size = sizeof(port);
  EXPECT_EQ(sinter_model_input(compiled.model, 0, 0, &port), SINTER_OK)
      << sinter_last_error();
  EXPECT_STREQ(port.name, "x");
  EXPECT_EQ(sinter_model_close(compiled.model), SINTER_OK);
}

/// A process may end while it compiles: that waits, and what the compiler made
/// for earlier models is still there.
TEST(Compile, goesOnWhenNobodyWaits) {
  auto atEnd = [](void *, sinter_status status, const char *error,
                  sinter_model *model) {
    if (status == SINTER_OK && sinter_model_close(model) == SINTER_OK)
      return;
    std::fprintf(stderr, "at the end of the process: %s\n", error);
    std::_Exit(EXIT_FAILURE);
  };
  sinter_compile_options options = forCpu();
  EXPECT_EQ(sinter_compile(graph, std::strlen(graph), &options, atEnd, nullptr,
                           nullptr),
            SINTER_OK);
}
