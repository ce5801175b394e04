/// Suite: a folder of golden cases, an index and one file of tensors a case.
#pragma once

#include "runtime/params/Json.h"
#include "runtime/params/Safetensors.h"
#include "sinter/runtime/Result.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::goldens {

using Json = runtime::json::Value;

/// One case. In its file `in.NAME` are inputs, `out.NAME` outputs, `cot.NAME`
/// the cotangents of outputs and `grad.NAME` what the gradient of
/// L = sum over outputs of sum(cot * out) must be.
///
/// The id is the entry's, or the name of its file. PyTorch's own samples have
/// no category; theirs is the name space of the function.
struct Case {
  std::string id, op, category, path;
  Json attrs;
  double rtol = 0, atol = 0;
  std::vector<std::string> inputs, outputs, gradients;
  /// Elements that the file has wrong: by their tensor's name and number, what
  /// is right.
  std::map<std::pair<std::string, size_t>, double> corrections;
};

/// The cases of FOLDER/index.json.
Result<std::vector<Case>> readSuite(const std::string &folder);

/// Where `got` is not `want`, as corrected, within the case's tolerances: empty
/// when nowhere.
/// NaN equals NaN, infinities must match, integers and bools are exact.
std::string differenceOf(const Case &golden, std::string_view name,
                         const runtime::NamedTensor &want,
                         std::span<const int64_t> dims,
                         std::span<const double> got);

/// Elements as f64.
std::vector<double> decode(const runtime::NamedTensor &tensor);

} // namespace sinter::goldens
