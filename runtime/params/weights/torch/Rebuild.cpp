/// Reads the calls that tensors of PyTorch are pickled as.
#include "runtime/params/weights/torch/Rebuild.h"

#include "runtime/params/weights/Strided.h"
#include "runtime/params/weights/torch/PickleTexts.h"
#include "runtime/params/weights/torch/TorchTypes.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sinter::runtime::torch {

using pickle::Kind;
using pickle::Pickle;
using pickle::Value;

namespace {

ErrorInfo broken(std::string what, ErrorKind kind = ErrorKind::io) {
  return makeError(kind, std::move(what));
}

/// Calls whose first argument is what they give.
constexpr std::string_view wrappers[] = {
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
    "torch._utils._rebuild_device_tensor_from_cpu_tensor",
    "torch._utils._rebuild_device_tensor_from_numpy",
    "torch._utils._rebuild_xla_tensor",
    "torch.nn.parameter.Parameter",
    "torch.nn.parameter.Buffer",
    "torch.jit._pickle.restore_type_tag",
};

constexpr std::pair<std::string_view, std::string_view> refused[] = {
    {"torch._utils._rebuild_sparse_tensor", "sparse tensors"},
    {"torch._utils._rebuild_sparse_csr_tensor", "sparse tensors"},
    {"torch._utils._rebuild_nested_tensor", "nested tensors"},
    {"torch._utils._rebuild_qtensor", "quantized tensors of PyTorch"},
    {"torch._utils._rebuild_meta_tensor_no_storage", "tensors without data"},
    {"torch._utils._rebuild_wrapper_subclass", "wrapped tensors"},
};

bool isOne(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// NumPy moved its functions to `numpy._core`.
bool isNumpy(std::string_view name, std::string_view function) {
  for (std::string_view module : {"numpy.core.", "numpy._core."})
    if (name.starts_with(module) && name.substr(module.size()) == function)
      return true;
  return false;
}

Result<int64_t> integer(std::span<const Value> args, size_t at) {
  if (at >= args.size() || !args[at].is(Kind::integer))
    return broken("an argument is missing or no integer");
  return args[at].integer();
}

std::span<const std::byte> asBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

} // namespace

std::string calleeName(const Pickle &pickle, const Value &object) {
  Value callee = pickle.call(object).callee;
  if (callee.is(Kind::persistent)) { // `('module', class, file, source)`
    std::span<const Value> id = pickle.items(pickle.idOf(callee));
    if (id.size() > 1 && id[0].is(Kind::text) && id[0].text() == "module")
      callee = id[1];
  }
  return pickle.globalName(callee);
}

Result<std::optional<StorageId>> storageOf(const Pickle &pickle,
                                           const Value &persistent) {
  std::span<const Value> id = pickle.items(pickle.idOf(persistent));
  if (id.size() >= 2 && id[0].is(Kind::text) && id[0].text() == "module")
    return std::optional<StorageId>();
  if (id.size() < 5 || !id[0].is(Kind::text) || id[0].text() != "storage" ||
      !id[1].is(Kind::global) || !id[2].is(Kind::text) ||
      !id[4].is(Kind::integer))
    return broken("a reference that is no storage");
  StorageId storage;
  std::span<const Value> name = pickle.items(id[1]);
  std::string_view module = name[0].text();
  storage.className = name[1].text();
  bool isTorch =
      module == "torch" || module == "torch.cuda" || module == "torch.storage";
  std::optional<DType> dtype = storageType(storage.className);
  if (!isTorch || !dtype)
    return broken(fmt::format("storages of type {} are not supported",
                              printableName(pickle.globalName(id[1]))),
                  ErrorKind::unsupported);
  storage.key = id[2].text();
  storage.dtype = *dtype;
  storage.numel = id[4].integer();
  if (storage.numel < 0)
    return broken("a storage of negative length");
  // A part of a storage: its own key, where it begins and its length.
  if (id.size() > 5 && id[5].is(Kind::tuple)) {
    std::span<const Value> view = pickle.items(id[5]);
    SINTER_TRY_ASSIGN(storage.viewOffset, integer(view, 1));
    if (storage.viewOffset < 0)
      return broken("a storage that begins before another");
  }
  return std::optional(storage);
}

const Value *Rebuilder::find(const Value &dict, std::string_view key) {
  constexpr size_t few = 64;
  std::optional<size_t> node = pickle.nodeOf(dict);
  if (!node || pickle.pairs(dict).size() <= few)
    return pickle.find(dict, key);
  auto [place, isNew] = found.try_emplace({*node, key});
  if (isNew)
    place->second = pickle.find(dict, key);
  return place->second;
}

Result<std::vector<int64_t>> Rebuilder::integers(const Value &list) {
  Value of = list;
  if (list.is(Kind::object)) // torch.Size
    for (const Value &arg : pickle.items(pickle.call(list).args))
      of = arg;
  if (!of.is(Kind::tuple) && !of.is(Kind::list))
    return broken("a size or stride is no tuple");
  // Many tensors may share a tuple.
  if (pickle.items(of).size() > maxRank)
    return broken(fmt::format("a size or stride of {} axes is not possible",
                              pickle.items(of).size()));
  std::vector<int64_t> numbers;
  for (const Value &item : pickle.items(of)) {
    if (!item.is(Kind::integer))
      return broken("a size or stride is no integer");
    numbers.push_back(item.integer());
  }
  return numbers;
}

/// The arguments of `_rebuild_tensor`, `_v2` and `_v3`: storage, offset, size,
/// stride, requires_grad, hooks, and then dtype in `_v3` and metadata.
Result<RebuiltTensor> Rebuilder::tensor(Values args, bool hasType) {
  if (args.size() < 4 || (hasType && args.size() < 7))
    return broken("arguments of the tensor are missing");
  if (!args[0].is(Kind::persistent))
    return broken("the tensor has no storage");
  RebuiltTensor tensor;
  SINTER_TRY_ASSIGN(tensor.storage, storageOf(pickle, args[0]));
  if (!tensor.storage)
    return broken("the tensor has no storage");
  tensor.type = tensor.storage->className;
  tensor.dtype = tensor.storage->dtype;
  if (hasType) {
    std::string name = pickle.globalName(args[6]);
    std::string_view bare = name;
    bool isTorch = bare.starts_with("torch.");
    if (isTorch)
      bare.remove_prefix(6);
    std::optional<DType> dtype = scalarType(bare);
    if (!isTorch || !dtype)
      return broken(fmt::format("elements of type '{}' are not supported",
                                printableName(name)),
                    ErrorKind::unsupported);
    tensor.type = bare;
    tensor.dtype = *dtype;
  } else if (tensor.storage->className == "UntypedStorage") {
    return broken("a storage without a type");
  }
  SINTER_TRY_ASSIGN(tensor.offset, integer(args, 1));
  SINTER_TRY_ASSIGN(tensor.dims, integers(args[2]));
  SINTER_TRY_ASSIGN(tensor.strides, integers(args[3]));
  // Views that negate or conjugate when they are read.
  for (const Value &more : args.subspan(4))
    for (const char *bit : {"conj", "neg"})
      if (const Value *set = find(more, bit);
          set && set->is(Kind::boolean) && set->boolean())
        return broken("conjugated and negated views are not supported",
                      ErrorKind::unsupported);
  return tensor;
}

Result<std::span<const std::byte>> Rebuilder::bytesOf(const Value &value) {
  if (value.is(Kind::bytes) || value.is(Kind::text))
    return asBytes(value.text());
  // Protocol 2 has no bytes: `_codecs.encode(text, 'latin1')`.
  std::span<const Value> args = pickle.items(pickle.call(value).args);
  std::string name = calleeName(pickle, value);
  if (name == "_codecs.encode" && !args.empty() && args[0].is(Kind::text)) {
    auto known = madeOf.find(args[0].text().data());
    if (known != madeOf.end())
      return known->second;
    std::optional<std::vector<std::byte>> bytes =
        pickle::latin1Bytes(args[0].text());
    if (bytes) {
      std::span<const std::byte> own = made.emplace_back(std::move(*bytes));
      return madeOf.emplace(args[0].text().data(), own).first->second;
    }
  }
  // `bytes()` and `bytearray()` are without elements.
  bool isEmpty = name.ends_with(".bytes") && args.empty();
  if (isEmpty || (name.ends_with(".bytearray") && args.empty()))
    return std::span<const std::byte>();
  if (name.ends_with(".bytearray") && args[0].is(Kind::bytes))
    return asBytes(args[0].text());
  return broken("the bytes of an array cannot be read");
}

/// `numpy.dtype('f4', ...)`, whose state begins with a version and the byte
/// order.
Status Rebuilder::readNumpyType(const Value &type, RebuiltTensor &tensor) {
  std::string name = calleeName(pickle, type);
  std::span<const Value> args = pickle.items(pickle.call(type).args);
  if (name != "numpy.dtype" || args.empty() || !args[0].is(Kind::text))
    return broken("an array without a type that is known");
  std::string_view descr = args[0].text();
  std::string_view order = "<";
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != descr.npos) {
    order = descr.substr(0, 1);
    descr.remove_prefix(1);
  }
  std::span<const Value> state = pickle.items(pickle.call(type).state);
  if (state.size() > 1 && state[1].is(Kind::text))
    order = state[1].text();
  std::optional<DType> dtype = numpyType(descr);
  if (!dtype)
    return broken(fmt::format("arrays of type '{}' are not supported",
                              printableName(descr)),
                  ErrorKind::unsupported);
  tensor.type = sinter::name(*dtype);
  tensor.dtype = *dtype;
  tensor.swapped = order == ">" && byteWidth(*dtype) > 1;
  return {};
}

/// `_frombuffer(bytes, dtype, shape, order)` of protocol 5.
Result<RebuiltTensor> Rebuilder::bufferArray(Values args) {
  if (args.size() < 4 || !args[3].is(Kind::text))
    return broken("arguments of the array are missing");
  RebuiltTensor tensor;
  SINTER_TRY_ASSIGN(tensor.bytes, bytesOf(args[0]));
  SINTER_TRY(readNumpyType(args[1], tensor));
  SINTER_TRY_ASSIGN(tensor.dims, integers(args[2]));
  tensor.strides = weights::denseStrides(tensor.dims, args[3].text() == "F");
  return tensor;
}

/// An array, or a scalar of NumPy.
Result<std::optional<RebuiltTensor>> Rebuilder::array(const Value &value) {
  std::string name = calleeName(pickle, value);
  const pickle::Call &call = pickle.call(value);
  std::span<const Value> args = pickle.items(call.args);
  if (isNumpy(name, "numeric._frombuffer")) {
    SINTER_TRY_ASSIGN(RebuiltTensor tensor, bufferArray(args));
    return std::optional(std::move(tensor));
  }
  if (!isNumpy(name, "multiarray._reconstruct"))
    return std::optional<RebuiltTensor>();
  // Its state: version, shape, dtype, column-major, bytes.
  std::span<const Value> state = pickle.items(call.state);
  if (state.size() == 4)
    return broken("an array of an old version");
  if (state.size() != 5 || !state[3].is(Kind::boolean))
    return broken("an array without its state");
  RebuiltTensor tensor;
  SINTER_TRY_ASSIGN(tensor.dims, integers(state[1]));
  SINTER_TRY(readNumpyType(state[2], tensor));
  SINTER_TRY_ASSIGN(tensor.bytes, bytesOf(state[4]));
  tensor.strides = weights::denseStrides(tensor.dims, state[3].boolean());
  return std::optional(std::move(tensor));
}

/// `scalar(dtype, bytes)`.
std::optional<std::string> Rebuilder::numberText(const Value &value) {
  std::span<const Value> args = pickle.items(pickle.call(value).args);
  if (!isNumpy(calleeName(pickle, value), "multiarray.scalar") ||
      args.size() != 2)
    return std::nullopt;
  RebuiltTensor scalar;
  auto bytes = bytesOf(args[1]);
  if (!bytes || !readNumpyType(args[0], scalar) || scalar.swapped ||
      bytes->size() != byteWidth(scalar.dtype))
    return std::string("a number of NumPy");
  auto as = [&]<typename T>(T number) {
    std::memcpy(&number, bytes->data(), sizeof(T));
    return fmt::to_string(number);
  };
  switch (scalar.dtype) {
  case DType::f64:
    return as(double());
  case DType::f32:
    return as(float());
  case DType::i64:
    return as(int64_t());
  case DType::i32:
    return as(int32_t());
  case DType::boolean:
    return std::string((*bytes)[0] == std::byte{0} ? "false" : "true");
  default:
    return fmt::format("a number of type {}", scalar.type);
  }
}

Result<std::optional<RebuiltTensor>> Rebuilder::tensorOf(Value value) {
  constexpr int mostWrappers = 16;
  for (int depth = 0; value.is(Kind::object); ++depth) {
    if (depth == mostWrappers)
      return broken("a tensor within too many others");
    std::string name = calleeName(pickle, value);
    std::span<const Value> args = pickle.items(pickle.call(value).args);
    if (isOne(wrappers, name) && !args.empty()) {
      value = args[0];
      continue;
    }
    // `(function, type, its arguments, state)` of tensors with attributes.
    bool isTyped = name == "torch._tensor._rebuild_from_type_v2" ||
                   name == "torch._tensor._rebuild_from_type";
    if (isTyped && args.size() >= 3) {
      name = pickle.globalName(args[0]);
      args = pickle.items(args[2]);
      if (isOne(wrappers, name) && !args.empty()) {
        value = args[0];
        continue;
      }
    }
    for (const auto &[function, what] : refused)
      if (name == function)
        return broken(fmt::format("{} are not supported", what),
                      ErrorKind::unsupported);
    bool hasType = name == "torch._utils._rebuild_tensor_v3";
    if (hasType || name == "torch._utils._rebuild_tensor_v2" ||
        name == "torch._utils._rebuild_tensor") {
      SINTER_TRY_ASSIGN(RebuiltTensor rebuilt, tensor(args, hasType));
      return std::optional(std::move(rebuilt));
    }
    return array(value);
  }
  return std::optional<RebuiltTensor>();
}

} // namespace sinter::runtime::torch
