/// What modules do with all their fields at once: files, devices, counting.
#include <sinter/ModuleFile.h>

#include "frontend/Raise.h"
#include "frontend/weights/LoadState.h"
#include "frontend/weights/Slots.h"
#include "runtime/device/Device.h"
#include "runtime/params/Safetensors.h"
#include "runtime/params/weights/Readers.h"

#include <sinter/Creation.h>
#include <sinter/KeptTies.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

namespace sinter::detail {

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
    values.push_back(slot.param->mapper().saved(slot.param->own_value(where)));
    metadata.emplace_back(fmt::format("{}{}", recordKey, slot.path),
                          fmt::format("{:016x}", slot.param->record_id()));
  }
  eval(values, where);
  std::vector<std::vector<std::byte>> bytes;
  std::vector<runtime::NamedTensor> tensors;
  for (size_t i = 0; i < slots.size(); ++i) {
    bytes.push_back(readBytes(values[i], where));
    tensors.push_back({std::string(slots[i].path), values[i].dtype(),
                       extentsOf(values[i].shape()), bytes.back()});
  }
  unwrap(runtime::writeSafetensors(file, tensors, metadata), where);
} catch (...) {
  detail::raiseExhausted(where);
}

void loadFields(const Fields &fields, const std::string &file,
                std::source_location where) try {
  auto mapped = unwrap(runtime::MappedFile::open(file), where);
  auto opened =
      unwrap(runtime::weights::openSafetensors(file, std::move(mapped)), where);
  loadFrom(fields, StateDict(std::move(opened)), {.convert = false}, "load",
           where);
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
    values.push_back(param->own_value(where));
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
    param.share(*copy.params[center].value, {});
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
      param.become(Param(std::as_const(param)));
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
