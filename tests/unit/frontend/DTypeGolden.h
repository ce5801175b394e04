/// The golden files of dtypes (tests/goldens/dtypes).
#pragma once

#include "runtime/params/Safetensors.h"

#include <sinter/Basic.h>

#include <stdexcept>
#include <string>
#include <string_view>

/// The tensors of one golden file.
class Golden {
public:
  explicit Golden(std::string_view name)
      : file(sinter::runtime::SafetensorsFile::open(
            std::string(SINTER_DTYPE_GOLDENS "/") + std::string(name) +
            ".safetensors")) {}

  bool has(const std::string &name) const { return file->find(name); }
  std::span<const std::byte> bytes(const std::string &name) const {
    return found(name).data;
  }
  sinter::Tensor tensor(const std::string &name) const {
    const auto &one = found(name);
    return sinter::from_bytes(one.data, one.dtype, dimsOf(one));
  }
  /// The bytes of a tensor as a stored dtype.
  sinter::Tensor codes(const std::string &name, sinter::DType dtype) const {
    const auto &one = found(name);
    return sinter::from_bytes(one.data, dtype, dimsOf(one));
  }

private:
  const sinter::runtime::NamedTensor &found(const std::string &name) const {
    if (!file)
      throw std::runtime_error(file.error().message);
    const auto *one = file->find(name);
    if (!one)
      throw std::runtime_error("no tensor " + name);
    return *one;
  }
  static sinter::Dims dimsOf(const sinter::runtime::NamedTensor &one) {
    return sinter::Dims(one.shape.begin(), one.shape.end());
  }

  sinter::Result<sinter::runtime::SafetensorsFile> file;
};
