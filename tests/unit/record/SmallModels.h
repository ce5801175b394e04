/// SmallModels: what the tests of records keep.
#pragma once

#include <sinter/Basic.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

namespace record_test {

namespace sn = sinter;
namespace fs = std::filesystem;

struct Mlp {
  sn::nn::Linear fc1, fc2;
  sn::nn::Dropout dropout{0.25};
  explicit Mlp(int64_t hidden = 5) : fc1(4, hidden), fc2(hidden, 3) {}
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(dropout(sn::relu(fc1(x))));
  }
  SINTER_MODULE(Mlp, fc1, fc2, dropout)
};

/// The values of all parameters, by path.
template <typename T> std::vector<double> valuesOf(const T &module) {
  std::vector<double> values;
  module.visit([&](const std::string &, const sn::Param &param) {
    for (double value : param.tensor().template to_vector<double>())
      values.push_back(value);
  });
  return values;
}

/// A folder of the test's own.
class Folder {
public:
  Folder() {
    std::string pattern = fs::temp_directory_path() / "sinter-record-XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  Folder(const Folder &) = delete;
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string &name) const { return path / name; }

  fs::path path;
};

/// What `call` throws, or an empty text.
template <typename F> std::string errorOf(F &&call) {
  try {
    call();
  } catch (const sn::Error &error) {
    return error.message();
  }
  return {};
}

/// The eighth form of a record is bytes in memory.
inline constexpr sn::RecordFormat fileFormats[] = {
    sn::RecordFormat::safetensors,  sn::RecordFormat::named_mpk,
    sn::RecordFormat::named_mpk_gz, sn::RecordFormat::bin,
    sn::RecordFormat::bin_gz,       sn::RecordFormat::json_gz,
    sn::RecordFormat::pretty_json};

inline constexpr sn::RecordPrecision precisions[] = {
    sn::RecordPrecision::as_is, sn::RecordPrecision::double_precision,
    sn::RecordPrecision::full_precision, sn::RecordPrecision::half_precision};

/// A tensor of a record without a device.
inline sn::Record hostTensor(sn::DType dtype, std::vector<int64_t> dims,
                             std::vector<std::byte> bytes, uint64_t id = 0) {
  auto own = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  return sn::Record(sn::Record::Value(
      sn::RecordTensor{dtype, std::move(dims), id, *own, own}));
}
template <typename T>
sn::Record hostTensor(sn::DType dtype, std::vector<int64_t> dims,
                      const std::vector<T> &values, uint64_t id = 0) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return hostTensor(dtype, std::move(dims), std::move(bytes), id);
}

} // namespace record_test
