/// Models: small files that the tests of the C interface open.
#pragma once

#include "sinter/c_api.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

namespace sinter::capi::test {

using runtime::test::ProgramBuilder;

template <typename T> T sized() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

/// A call has to fail so, with this in its text.
#define EXPECT_FAILS(call, expected, part)                                     \
  do {                                                                         \
    EXPECT_EQ(call, expected) << sinter_last_error();                          \
    EXPECT_EQ(sinter_last_status(), expected);                                 \
    EXPECT_NE(std::string(sinter_last_error()).find(part), std::string::npos)  \
        << sinter_last_error();                                                \
  } while (false)
#define ASSERT_OK(call) ASSERT_EQ(call, SINTER_OK) << sinter_last_error()
#define EXPECT_OK(call) EXPECT_EQ(call, SINTER_OK) << sinter_last_error()

/// An open model and a session of it, closed at the end.
struct Opened {
  sinter_model *model = nullptr;
  sinter_session *session = nullptr;

  explicit Opened(const ProgramBuilder &builder, const char *device = "cpu")
      : Opened(builder.file(), device) {}
  explicit Opened(const std::vector<std::byte> &file,
                  const char *device = "cpu") {
    auto options = sized<sinter_model_options>();
    options.device = device;
    EXPECT_OK(
        sinter_model_open_memory(file.data(), file.size(), &options, &model));
    EXPECT_OK(sinter_session_open(model, &session));
  }
  ~Opened() {
    EXPECT_OK(sinter_session_close(session));
    EXPECT_OK(sinter_model_close(model));
  }
  Opened(const Opened &) = delete;
};

/// Elements of the host's and the dims that go with them.
struct Host {
  std::vector<float> values;
  std::vector<int64_t> dims;

  explicit Host(std::vector<float> elements)
      : values(std::move(elements)), dims{int64_t(values.size())} {}
  Host(std::vector<float> elements, std::vector<int64_t> dims)
      : values(std::move(elements)), dims(std::move(dims)) {}
  sinter_tensor tensor() {
    auto tensor = sized<sinter_tensor>();
    tensor.data = values.data();
    tensor.dtype = SINTER_F32;
    tensor.ndim = int32_t(dims.size());
    tensor.dims = dims.data();
    return tensor;
  }
};

/// A number as a scalar input.
inline sinter_tensor number(float &value) {
  auto tensor = sized<sinter_tensor>();
  tensor.data = &value;
  tensor.dtype = SINTER_F32;
  return tensor;
}

inline std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

inline std::vector<float> valuesOf(const sinter_tensor &tensor) {
  const auto *first = static_cast<const float *>(tensor.data);
  int64_t count = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i)
    count *= tensor.dims[i];
  return {first, first + count};
}

/// Runs the first entry; its outputs are views then.
inline sinter_status runToViews(sinter_session *session,
                                const sinter_tensor *inputs, size_t numInputs,
                                sinter_tensor *outputs, size_t numOutputs) {
  sinter_status done =
      sinter_session_run(session, 0, inputs, numInputs, nullptr, 0, nullptr);
  for (uint32_t i = 0; i < numOutputs && done == SINTER_OK; ++i)
    done = sinter_session_output(session, 0, i, &outputs[i]);
  return done;
}

/// x and y times 2, the sum of both: two inputs, two outputs.
ProgramBuilder pairProgram();

} // namespace sinter::capi::test
