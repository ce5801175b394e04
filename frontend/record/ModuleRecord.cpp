/// Modules and tensors as records. What fits a module is decided as for other
/// weight files.
#include "frontend/DeviceScope.h"
#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/record/RecordForms.h"
#include "frontend/weights/LoadState.h"
#include "frontend/weights/Slots.h"
#include "runtime/params/weights/WeightFile.h"
#include "runtime/support/Printable.h"

#include <sinter/ModuleFile.h>
#include <sinter/Record.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

#include <bit>

namespace sinter {

namespace {

/// The tensors below a record, by path.
class RecordWeights final : public runtime::WeightFile {
public:
  static Result<runtime::WeightFileRef> make(const Record &record,
                                             std::string name) {
    auto made = std::make_shared<RecordWeights>(std::move(name));
    made->add({}, record);
    for (const auto &[path, tensor] : made->kept)
      made->entries.push_back({path,
                               std::string(sinter::name(tensor.dtype)),
                               tensor.dtype,
                               tensor.dims,
                               {},
                               tensor.data,
                               false,
                               {}});
    SINTER_TRY(made->finish());
    return runtime::WeightFileRef(std::move(made));
  }
  explicit RecordWeights(std::string name)
      : WeightFile(std::move(name), "record") {}

  Result<std::vector<std::byte>>
  read(const runtime::WeightTensor &tensor) const override {
    return std::vector<std::byte>(tensor.data.begin(), tensor.data.end());
  }

private:
  void add(const std::string &path, const Record &record) {
    if (const auto *map = std::get_if<Record::Map>(&record.held())) {
      for (const auto &[name, entry] : *map)
        add(path.empty() ? name : fmt::format("{}.{}", path, name), entry);
    } else if (const auto *own = std::get_if<RecordTensor>(&record.held())) {
      kept.emplace_back(path, *own);
      if (own->id)
        strings.emplace_back(fmt::format("{}{}", detail::recordKey, path),
                             record::hexText(own->id));
    } else {
      remarks.push_back(fmt::format("'{}' is no tensor", printableName(path)));
    }
  }

  std::vector<std::pair<std::string, RecordTensor>> kept;
};

} // namespace

static RecordTensor hostTensor(const Tensor &tensor, uint64_t id,
                               std::source_location where) {
  auto bytes = std::make_shared<std::vector<std::byte>>(
      detail::readBytes(tensor, where));
  return {tensor.dtype(), detail::extentsOf(tensor.shape()), id, *bytes, bytes};
}

Record detail::tensorRecord(const Tensor &tensor, uint64_t id,
                            std::source_location where) try {
  if (!tensor.defined())
    throwRecord("is an empty tensor", where);
  return Record(Record::Value(hostTensor(tensor, id, where)));
} catch (...) {
  raiseExhausted(where);
}

Record detail::moduleRecord(const Fields &fields,
                            std::source_location where) try {
  no_grad guard;
  std::vector<Tensor> values;
  for (const auto &[path, param] : fields.params)
    values.push_back(param->mapper().saved(param->tensor(where)));
  eval(values, where);
  Record::Map map;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto &[path, param] = fields.params[i];
    map.push_back({path, Record(Record::Value(hostTensor(
                             values[i], param->record_id(), where)))});
  }
  return Record(Record::Value(std::move(map)));
} catch (...) {
  raiseExhausted(where);
}

LoadReport detail::loadModule(const Fields &fields, const Record &record,
                              const LoadStateOptions &options,
                              std::source_location where) try {
  record.as_map(where);
  std::string path = RecordPath::text();
  runtime::WeightFileRef file = unwrap(
      RecordWeights::make(record, path.empty() ? std::string("the record")
                                               : fmt::format("'{}'", path)),
      where);
  LoadStateOptions own = options;
  own.integers = true;
  return loadFrom(fields, StateDict(std::move(file)), own, "load_record",
                  where);
} catch (...) {
  raiseExhausted(where);
}

void detail::readTensorRecord(Tensor &tensor, const Record &record,
                              std::source_location where) try {
  const RecordTensor &own = record.as_tensor(where);
  DeviceId device = tensor.defined() ? tensor.device() : default_device();
  Dims dims(own.dims.begin(), own.dims.end());
  tensor = leafOf(own.data, own.dtype, dims, {{}, device}, where);
} catch (...) {
  raiseExhausted(where);
}

void detail::readParamRecord(Param &param, const Record &record,
                             std::source_location where) try {
  record.as_tensor(where);
  if (!param.defined()) {
    Tensor value;
    readTensorRecord(value, record, where);
    param = Param(value, {}, true, where);
    param.set_record_id(record.as_tensor(where).id);
    return;
  }
  constexpr const char *only = "value";
  Fields fields;
  fields.params.push_back({only, &param});
  Record::Map map{{only, record}};
  loadModule(fields, Record(Record::Value(std::move(map))), {}, where);
} catch (...) {
  raiseExhausted(where);
}

detail::DeviceHold::DeviceHold(std::string_view device,
                               std::source_location where)
    : before(default_device()) {
  set_default_device(unwrap(parseDevice(device), where));
}
detail::DeviceHold::~DeviceHold() { set_default_device(before); }

//===- Random numbers -----------------------------------------------------===//

Record into_record(const Generator &generator) {
  Record record;
  record.put("key_low", std::bit_cast<int64_t>(generator.key_low()));
  record.put("key_high", std::bit_cast<int64_t>(generator.key_high()));
  record.put("counter", std::bit_cast<int64_t>(generator.counter()));
  return record;
}

void load_record(Generator &generator, const Record &record,
                 std::source_location where) {
  auto number = [&](std::string_view name) {
    return std::bit_cast<uint64_t>(record.get<int64_t>(name, where));
  };
  generator =
      Generator(number("key_low"), number("key_high"), number("counter"));
}

} // namespace sinter
