/// WeightFiles: files of tensors in a folder of their own.
#pragma once

#include "runtime/params/Npz.h"
#include "runtime/params/Safetensors.h"

#include <sinter/Error.h>

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace sinter::weights_test {

/// Tensors that own their elements.
class StoredTensors {
public:
  template <typename T>
  StoredTensors &add(std::string name, DType dtype, std::vector<int64_t> shape,
                     const std::vector<T> &values) {
    auto *first = reinterpret_cast<const std::byte *>(values.data());
    auto &own = bytes.emplace_back(first, first + values.size() * sizeof(T));
    tensors.push_back({std::move(name), dtype, std::move(shape), own});
    return *this;
  }
  StoredTensors &floats(std::string name, std::vector<int64_t> shape,
                        const std::vector<float> &values) {
    return add(std::move(name), DType::f32, std::move(shape), values);
  }

  std::vector<runtime::NamedTensor> tensors;

private:
  std::deque<std::vector<std::byte>> bytes;
};

class WeightFiles : public testing::Test {
protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string write(const StoredTensors &stored,
                    const runtime::Metadata &metadata = {},
                    const std::string &name = "w.safetensors") const {
    std::string path = folder / name;
    Status done =
        name.ends_with(".npz")
            ? runtime::writeNpz(path, stored.tensors)
            : runtime::writeSafetensors(path, stored.tensors, metadata);
    EXPECT_TRUE(done.ok()) << done.error().message;
    return path;
  }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("sinter-weights-" + std::to_string(::getpid()));
};

/// The message of the Error that `call` throws, after its kind.
template <typename F> std::string problem(F &&call) {
  try {
    call();
  } catch (const Error &error) {
    return std::string(toString(error.kind())) + ": " + error.message();
  }
  return {};
}

} // namespace sinter::weights_test
