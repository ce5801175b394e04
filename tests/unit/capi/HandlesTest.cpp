/// Handles and errors: what is no handle is found out, errors are a thread's.
#include "tests/unit/capi/Models.h"

#include <thread>

using namespace sinter::capi::test;
using sinter::runtime::test::scaleProgram;

TEST(CapiHandles, nullIsAnError) {
  uint32_t entry = 0;
  auto info = sized<sinter_model_info>();
  EXPECT_FAILS(sinter_model_get_info(nullptr, &info), SINTER_INVALID_ARGUMENT,
               "the model is null");
  EXPECT_FAILS(sinter_model_find_entry(nullptr, "main", &entry),
               SINTER_INVALID_ARGUMENT, "the model is null");
  EXPECT_FAILS(sinter_session_cancel(nullptr), SINTER_INVALID_ARGUMENT,
               "the session is null");
  EXPECT_FAILS(sinter_event_cancel(nullptr), SINTER_INVALID_ARGUMENT,
               "the event is null");
  EXPECT_OK(sinter_model_close(nullptr));
  EXPECT_OK(sinter_session_close(nullptr));
  EXPECT_OK(sinter_event_close(nullptr));
}

TEST(CapiHandles, aClosedOneIsAnErrorAlsoWhenItsPlaceIsTaken) {
  Opened first(scaleProgram());
  sinter_session *closed = nullptr, *other = nullptr;
  ASSERT_OK(sinter_session_open(first.model, &closed));
  ASSERT_OK(sinter_session_close(closed));
  EXPECT_FAILS(sinter_session_cancel(closed), SINTER_INVALID_ARGUMENT,
               "this session was closed");
  ASSERT_OK(sinter_session_open(first.model, &other));
  EXPECT_NE(other, closed);
  EXPECT_FAILS(sinter_session_cancel(closed), SINTER_INVALID_ARGUMENT,
               "this session was closed");
  EXPECT_FAILS(sinter_session_close(closed), SINTER_INVALID_ARGUMENT,
               "this session was closed");
  EXPECT_OK(sinter_session_cancel(other));
  EXPECT_OK(sinter_session_close(other));
}

TEST(CapiHandles, anotherKindAndOtherPointersAreErrors) {
  Opened opened(scaleProgram());
  auto *wrong = reinterpret_cast<sinter_session *>(opened.model);
  EXPECT_FAILS(sinter_session_cancel(wrong), SINTER_INVALID_ARGUMENT,
               "a session was expected, this is a model");
  int local = 0;
  EXPECT_FAILS(sinter_model_close(reinterpret_cast<sinter_model *>(&local)),
               SINTER_INVALID_ARGUMENT, "model");
  EXPECT_FAILS(sinter_model_close(reinterpret_cast<sinter_model *>(~0ul)),
               SINTER_INVALID_ARGUMENT, "model");
}

TEST(CapiHandles, aSessionKeepsItsModel) {
  Opened opened(scaleProgram());
  sinter_session *session = nullptr;
  {
    Opened other(scaleProgram());
    ASSERT_OK(sinter_session_open(other.model, &session));
  }
  Host x(counting(3));
  float factor = 3;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  auto output = sized<sinter_tensor>();
  ASSERT_OK(runToViews(session, inputs, 2, &output, 1));
  EXPECT_EQ(valuesOf(output), (std::vector<float>{3, 6, 9}));
  EXPECT_OK(sinter_session_close(session));
}

TEST(CapiErrors, areEachThreadsOwnAndStay) {
  EXPECT_FAILS(sinter_device_count(nullptr), SINTER_INVALID_ARGUMENT,
               "count is null");
  std::thread([] {
    EXPECT_STREQ(sinter_last_error(), "");
    EXPECT_EQ(sinter_last_status(), SINTER_OK);
    EXPECT_FAILS(sinter_event_cancel(nullptr), SINTER_INVALID_ARGUMENT,
                 "event");
  }).join();
  EXPECT_STREQ(sinter_last_error(), "count is null");
  size_t count = 0;
  EXPECT_OK(sinter_device_count(&count));
  EXPECT_STREQ(sinter_last_error(), "count is null");
}

TEST(CapiErrors, haveNames) {
  EXPECT_STREQ(sinter_status_name(SINTER_OK), "ok");
  EXPECT_STREQ(sinter_status_name(SINTER_OUT_OF_MEMORY), "out_of_memory");
  EXPECT_STREQ(sinter_status_name(SINTER_INTERNAL), "internal");
  EXPECT_STREQ(sinter_status_name(-1), "unknown");
  EXPECT_STREQ(sinter_status_name(9), "unknown");
}
