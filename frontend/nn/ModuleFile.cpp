/// What modules do with all their fields at once: files, devices, counting.
#include <sinter/ModuleFile.h>

#include "frontend/Raise.h"
#include "runtime/device/Device.h"
#include "runtime/params/Safetensors.h"
#include "runtime/support/Sites.h"

#include <sinter/Creation.h>
#include <sinter/KeptTies.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <map>

namespace sinter::detail {

namespace {

constexpr std::string_view recordKey = "sinter.record.";

std::vector<int64_t> extents(const Dims &dims) {
  std::vector<int64_t> values;
  for (Dim dim : dims)
    values.push_back(dim.value);
  return values;
}

/// A tensor below a module, as files see it.
struct Slot {
  std::string_view path;
  DType dtype;
  std::vector<int64_t> shape;
  DeviceId device;
  Param *param = nullptr; ///< one of the two
  Tensor *tensor = nullptr;

  /// Whether the file's tensor may be of another type than this.
  bool isMapped() const { return param && param->mapper().has_load(); }
};

/// What is saved, and what is read: of constants what a file happens to have.
/// Files held them once.
enum class Constants : uint8_t { no, yes };

std::vector<Slot> slotsOf(const Fields &fields, Constants constants) {
  std::vector<Slot> slots;
  slots.reserve(fields.params.size() + fields.tensors.size());
  for (const auto &[path, param] : fields.params)
    slots.push_back({path, param->dtype(), extents(param->shape()),
                     param->device(), param, nullptr});
  if (constants == Constants::no)
    return slots;
  for (const auto &[path, tensor] : fields.tensors)
    slots.push_back({path, tensor->dtype(), extents(tensor->shape()),
                     tensor->device(), nullptr, tensor});
  return slots;
}

std::string typeText(DType dtype, const std::vector<int64_t> &shape) {
  return fmt::format("{}[{}]", name(dtype), fmt::join(shape, ","));
}

/// What is wrong with `file` for these slots, a line each.
std::vector<std::string> compare(const std::vector<Slot> &slots,
                                 const runtime::SafetensorsFile &file) {
  std::vector<std::string> problems;
  std::map<std::string_view, const Slot *> byPath;
  for (const Slot &slot : slots) {
    byPath[slot.path] = &slot;
    const runtime::NamedTensor *found = file.find(slot.path);
    if (!found && slot.tensor)
      continue;
    if (!found)
      problems.push_back(fmt::format("missing '{}' {}", slot.path,
                                     typeText(slot.dtype, slot.shape)));
    else if (!slot.isMapped() &&
             (found->dtype != slot.dtype || found->shape != slot.shape))
      problems.push_back(fmt::format("'{}' is {}, the module has {}", slot.path,
                                     typeText(found->dtype, found->shape),
                                     typeText(slot.dtype, slot.shape)));
  }
  for (const runtime::NamedTensor &tensor : file.tensors())
    if (!byPath.contains(tensor.name))
      problems.push_back(fmt::format("unexpected '{}' {}", tensor.name,
                                     typeText(tensor.dtype, tensor.shape)));
  return problems;
}

/// The file's tensor as one of memory, on the slot's device.
Tensor upload(const Slot &slot, const runtime::NamedTensor &found,
              const SourceLine &where) {
  runtime::Device *device = unwrap(runtime::getDevice(slot.device), where);
  runtime::BufferRef buffer =
      unwrap(device->allocate(found.data.size()), where);
  unwrap(device->copyIn(*buffer, 0, found.data), where);
  Dims dims;
  for (int64_t extent : found.shape)
    dims.emplace_back(extent);
  return Tensor(graph::NodeFactory::leaf(graph::InputKind::data, found.dtype,
                                         dims, std::move(buffer)));
}

/// The tensors of the file that the slots become, through their mappers. A
/// mapper that makes another type is an error.
std::vector<Tensor> readSlots(const std::vector<Slot> &slots,
                              const runtime::SafetensorsFile &file,
                              std::source_location where) {
  std::vector<Tensor> values;
  for (const Slot &slot : slots) {
    if (!file.find(slot.path)) {
      values.push_back(*slot.tensor);
      continue;
    }
    Tensor value = upload(slot, *file.find(slot.path), where);
    if (slot.isMapped())
      value = slot.param->mapper().loaded(value);
    if (!value.defined() || value.dtype() != slot.dtype ||
        extents(value.shape()) != slot.shape || value.device() != slot.device)
      raise(makeError(ErrorKind::invalid_argument,
                      fmt::format("load: the load mapper of '{}' makes {}, the "
                                  "module has {}",
                                  slot.path,
                                  value.defined()
                                      ? graph::typeString(*value.node())
                                      : std::string("an empty tensor"),
                                  typeText(slot.dtype, slot.shape)),
                      "load"),
            where);
    values.push_back(std::move(value));
  }
  return values;
}

void readRecordIds(const std::vector<Slot> &slots,
                   const runtime::Metadata &metadata) {
  std::map<std::string_view, std::string_view> texts;
  for (const auto &[key, text] : metadata)
    if (key.starts_with(recordKey))
      texts[std::string_view(key).substr(recordKey.size())] = text;
  for (const Slot &slot : slots) {
    auto found = texts.find(slot.path);
    if (!slot.param || found == texts.end())
      continue;
    std::string_view text = found->second;
    uint64_t id = 0;
    auto end = std::from_chars(text.data(), text.data() + text.size(), id, 16);
    if (end.ec == std::errc() && end.ptr == text.data() + text.size() && id)
      slot.param->set_record_id(id);
  }
}

} // namespace

std::vector<std::byte> readBytes(const Tensor &tensor,
                                 std::source_location where) try {
  tensor.eval(where);
  const runtime::BufferRef &buffer = tensor.node()->value();
  std::vector<std::byte> bytes(tensor.numel() * byteWidth(tensor.dtype()));
  unwrap(buffer->device().copyOut(bytes, *buffer, 0), where);
  return bytes;
} catch (...) {
  detail::raiseExhausted(where);
}

void saveFields(const Fields &fields, const std::string &file,
                std::source_location where) try {
  no_grad guard;
  std::vector<Slot> slots = slotsOf(fields, Constants::no);
  std::vector<Tensor> values;
  runtime::Metadata metadata;
  for (const Slot &slot : slots) {
    values.push_back(slot.param->mapper().saved(slot.param->tensor(where)));
    metadata.emplace_back(fmt::format("{}{}", recordKey, slot.path),
                          fmt::format("{:016x}", slot.param->record_id()));
  }
  eval(values, where);
  std::vector<std::vector<std::byte>> bytes;
  std::vector<runtime::NamedTensor> tensors;
  for (size_t i = 0; i < slots.size(); ++i) {
    bytes.push_back(readBytes(values[i], where));
    tensors.push_back({std::string(slots[i].path), values[i].dtype(),
                       extents(values[i].shape()), bytes.back()});
  }
  unwrap(runtime::writeSafetensors(file, tensors, metadata), where);
} catch (...) {
  detail::raiseExhausted(where);
}

void loadFields(const Fields &fields, const std::string &file,
                std::source_location where) try {
  no_grad guard;
  auto opened = unwrap(runtime::SafetensorsFile::open(file), where);
  std::vector<Slot> slots = slotsOf(fields, Constants::yes);
  std::vector<std::string> problems = compare(slots, opened);
  if (!problems.empty())
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("load: {} does not fit the module: {}", file,
                                fmt::join(problems, "; ")),
                    "load"),
          where);
  std::vector<Tensor> values = readSlots(slots, opened, where);
  eval(values, where);
  SiteId site = internSite(where);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    if (slot.param)
      slot.param->cell()->assign(values[i].node()->value(), site);
    else
      *slot.tensor = std::move(values[i]);
  }
  readRecordIds(slots, opened.metadata());
} catch (...) {
  detail::raiseExhausted(where);
}

void moveFields(const Fields &from, const Fields &copy, std::string_view device,
                std::source_location where) try {
  DeviceId id = unwrap(parseDevice(device), where);
  mapParams(from, copy, [&](const std::string &, const Param &param) {
    return param.to(id, where);
  });
  for (size_t i = 0; i < from.tensors.size(); ++i)
    *copy.tensors[i].value = from.tensors[i].value->to(id, where);
} catch (...) {
  detail::raiseExhausted(where);
}

void castFields(const Fields &from, const Fields &copy, DType dtype,
                std::source_location where) try {
  mapParams(from, copy, [&](const std::string &, const Param &param) {
    return param.cast(dtype, where);
  });
  for (size_t i = 0; i < from.tensors.size(); ++i)
    if (const Tensor &tensor = *from.tensors[i].value; isFloat(tensor.dtype()))
      *copy.tensors[i].value = tensor.to(dtype, where);
} catch (...) {
  detail::raiseExhausted(where);
}

void evalFields(const Fields &fields, std::source_location where) try {
  std::vector<Tensor> values;
  for (const auto &[path, param] : fields.params)
    values.push_back(param->tensor(where));
  for (const auto &[path, tensor] : fields.tensors)
    values.push_back(*tensor);
  eval(values, where);
} catch (...) {
  detail::raiseExhausted(where);
}

void setTraining(const Fields &fields, bool on) try {
  for (Mode *mode : fields.modes)
    mode->training = on;
  for (const auto &[path, param] : fields.params)
    if (on)
      param->set_predicting(false);
} catch (...) {
  detail::raiseExhausted({});
}

void stopTraining(const Fields &fields) try {
  setTraining(fields, false);
  for (const auto &[path, param] : fields.params)
    param->set_predicting(true);
} catch (...) {
  detail::raiseExhausted({});
}

size_t firstWithCell(const std::vector<Fields::Field<Param>> &params,
                     size_t index) try {
  const runtime::CellRef &cell = params[index].value->cell();
  for (size_t i = 0; i < index; ++i)
    if (params[i].value->cell() == cell)
      return i;
  return index;
} catch (...) {
  detail::raiseExhausted({});
}

Tensor tensorOf(const Arg &arg) try {
  return arg.isTensor() ? Tensor(arg.node()) : full({}, arg);
} catch (...) {
  detail::raiseExhausted(arg.where);
}

/// The Param of `copy` that all those tied to the one at `index` are tied to:
/// one that the two modules share, else the first.
static size_t centerOfTie(const Fields &from, const Fields &copy,
                          size_t index) {
  const runtime::CellRef &cell = from.params[index].value->cell();
  size_t first = index;
  for (size_t i = from.params.size(); i-- > 0;) {
    if (from.params[i].value->cell() != cell)
      continue;
    if (from.params[i].value == copy.params[i].value)
      return i;
    first = i;
  }
  return first;
}

void keepTies(const Fields &from, const Fields &copy) try {
  if (from.params.size() != copy.params.size())
    return;
  for (size_t i = 0; i < from.params.size(); ++i) {
    size_t center = centerOfTie(from, copy, i);
    Param &param = *copy.params[i].value;
    if (&param == copy.params[center].value || &param == from.params[i].value)
      continue;
    bool isFrozen = param.frozen, isPredicting = param.predicting;
    ParamMapper mapper = param.fileMapper;
    param.tie(*copy.params[center].value);
    param.frozen = isFrozen;
    param.predicting = isPredicting;
    param.fileMapper = std::move(mapper);
  }
} catch (...) {
  detail::raiseExhausted({});
}

void ownParams(const Fields &from, const Fields &copy) try {
  if (from.params.size() != copy.params.size())
    return;
  for (size_t i = 0; i < from.params.size(); ++i) {
    const Param *before = from.params[i].value;
    Param &param = *copy.params[i].value;
    if (&param != before && param.cell() == before->cell())
      param = Param(std::as_const(param));
  }
  keepTies(from, copy);
} catch (...) {
  detail::raiseExhausted({});
}

int64_t countElements(const Fields &fields) try {
  int64_t count = 0;
  for (size_t i = 0; i < fields.params.size(); ++i)
    if (firstWithCell(fields.params, i) == i &&
        fields.params[i].value->cell()->requiresGrad())
      count += fields.params[i].value->numel();
  return count;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::detail
