/// Reading golden cases, and comparing with them.
#include "tests/goldens/Suite.h"

#include "runtime/reference/HostValue.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace sinter::goldens {

static std::string textOf(const Json &object, std::string_view key) {
  const Json *value = object.find(key);
  return value && value->is(runtime::json::Kind::string) ? value->string : "";
}

/// The keys of an object, or the strings of a list.
static std::vector<std::string> namesOf(const Json &object,
                                        std::string_view key) {
  const Json *value = object.find(key);
  if (!value)
    return {};
  if (value->is(runtime::json::Kind::object))
    return value->keys;
  std::vector<std::string> names;
  for (const Json &element : value->elements)
    names.push_back(element.string);
  return names;
}

/// PyTorch's name space of a function.
static std::string namespaceOf(std::string_view op) {
  for (std::string_view name : {"nn.functional", "linalg", "special", "fft"})
    if (op.starts_with(name) && op.substr(name.size()).starts_with('.'))
      return std::string(name);
  return "torch";
}

static Result<Case> readCase(const std::string &folder, const Json &entry) {
  Case result;
  result.op = textOf(entry, "op");
  result.category = textOf(entry, "category");
  result.path = folder + "/" + textOf(entry, "file");
  const Json *id = entry.find("id"), *attrs = entry.find("attrs");
  const Json *rtol = entry.find("rtol"), *atol = entry.find("atol");
  if (result.op.empty() || !attrs || !rtol || !atol)
    return makeError(ErrorKind::io, folder + "/index.json: a case lacks its "
                                             "op, attrs or tolerances");
  result.id = id ? std::to_string(id->integer)
                 : std::filesystem::path(result.path).stem().string();
  if (result.category.empty())
    result.category = namespaceOf(result.op);
  result.attrs = *attrs;
  result.rtol = rtol->number;
  result.atol = atol->number;
  result.inputs = namesOf(entry, "inputs");
  result.outputs = namesOf(entry, "outputs");
  result.gradients = namesOf(entry, "grads");
  return result;
}

Result<std::vector<Case>> readSuite(const std::string &folder) {
  std::ifstream stream(folder + "/index.json", std::ios::binary);
  if (!stream)
    return makeError(ErrorKind::io, folder + "/index.json cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  SINTER_TRY_ASSIGN(Json index, runtime::json::parse(text.str()));
  const Json *cases = index.find("cases");
  if (!cases)
    return makeError(ErrorKind::io, folder + "/index.json has no cases");
  std::vector<Case> result;
  for (const Json &entry : cases->elements) {
    SINTER_TRY_ASSIGN(Case golden, readCase(folder, entry));
    result.push_back(std::move(golden));
  }
  return result;
}

std::vector<double> decode(const runtime::NamedTensor &tensor) {
  reference::HostValue value = reference::decode(
      {tensor.dtype, tensor.shape, {tensor.data.begin(), tensor.data.end()}});
  if (value.isReal())
    return value.reals;
  return {value.ints.begin(), value.ints.end()};
}

static bool isClose(const Case &golden, DType dtype, double got, double want) {
  if (!isFloat(dtype))
    return got == want;
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got))
    return got == want;
  return std::abs(got - want) <= golden.atol + golden.rtol * std::abs(want);
}

std::string differenceOf(const Case &golden, std::string_view name,
                         const runtime::NamedTensor &want,
                         std::span<const int64_t> dims,
                         std::span<const double> got) {
  std::ostringstream text;
  if (!std::ranges::equal(dims, want.shape)) {
    text << name << " has another shape";
    return text.str();
  }
  std::vector<double> expected = decode(want);
  for (const auto &[place, right] : golden.corrections)
    if (place.first == name && place.second < expected.size())
      expected[place.second] = right;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (isClose(golden, want.dtype, got[i], expected[i]))
      continue;
    text << name << "[" << i << "] is " << got[i] << " instead of "
         << expected[i];
    return text.str();
  }
  return "";
}

} // namespace sinter::goldens
