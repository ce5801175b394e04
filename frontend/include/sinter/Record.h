/// Records of modules and of everything else that a run consists of.
#pragma once

#include <sinter/ForEach.h>
#include <sinter/Module.h>
#include <sinter/Random.h>
#include <sinter/Weights.h>
#include <sinter/record/RecordTree.h>
#include <sinter/record/RecordValues.h>

#include <cstddef>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sinter {

/// The record of a module: its parameters by path.
template <detail::Module T>
Record
into_record(const T &module,
            std::source_location where = std::source_location::current()) {
  return detail::moduleRecord(detail::allFieldsOf(module), where);
}

/// Gives a module the values of its record. Floats become what the module has,
/// and so do integers that fit. With `options` it takes a part, or one whose
/// names are others, as load_state does of files:
///
///     sn::load_record(encoder, record.at("model"),
///                     {.prefix = "encoder.", .strict = false});
///
/// No first value is made of parameters that get one here, and nothing is
/// compiled.
template <detail::Module T>
LoadReport
load_record(T &module, const Record &record,
            const LoadStateOptions &options = {},
            std::source_location where = std::source_location::current()) {
  return detail::loadModule(detail::allFieldsOf(module), record, options,
                            where);
}

/// Random numbers: the generator's key and counter.
Record into_record(const Generator &generator);
void load_record(Generator &generator, const Record &record,
                 std::source_location where = std::source_location::current());

//===- Records as members -------------------------------------------------===//

template <typename T>
void Record::put(std::string name, const T &x, Where where) {
  detail::RecordPath path(name);
  Record made = detail::recordOf(x, where);
  set(std::move(name), std::move(made), where);
}

template <typename T>
void Record::get(std::string_view name, T &x, Where where) const {
  const Record &entry = at(name, where);
  detail::RecordPath path(name);
  detail::readRecord(x, entry, where);
}

template <typename T>
LoadReport Record::get(std::string_view name, T &module,
                       const LoadStateOptions &options, Where where) const {
  const Record &entry = at(name, where);
  detail::RecordPath path(name);
  return sinter::load_record(module, entry, options, where);
}

template <typename T> T Record::get(std::string_view name, Where where) const {
  T x{};
  get(name, x, where);
  return x;
}

template <typename Optimizer, typename T>
  requires requires(Optimizer &optimizer, T &model, const Record &record,
                    std::source_location where) {
    optimizer.load_record(model, record, where);
  }
void Record::get(std::string_view name, Optimizer &optimizer, T &model,
                 Where where) const {
  const Record &entry = at(name, where);
  detail::RecordPath path(name);
  optimizer.load_record(model, entry, where);
}

//===- Models in files ----------------------------------------------------===//

/// Writes a module's record to a file and gives its path.
template <detail::Module T>
std::string
save_model(const T &module, const std::string &file,
           const SaveRecordOptions &options = default_record(),
           std::source_location where = std::source_location::current()) {
  return into_record(module, where).save(file, options, where);
}

/// Makes a module on a device, of these arguments, and gives it the values of a
/// file that save_model wrote; its own first values are never made:
///
///     auto mlp = sn::load_model<Mlp>("digits.mpk", "vulkan:0", config);
template <detail::Module T, typename... Arguments>
T load_model(const std::string &file, std::string_view device = "cpu",
             Arguments &&...arguments) {
  Record record = Record::load(file, {}, {});
  detail::DeviceHold hold(device);
  T module(std::forward<Arguments>(arguments)...);
  load_record(module, record, {}, {});
  return module;
}

/// Gives a module the values of a record in memory: of `to_bytes`, or a file of
/// any format that is embedded in the program (sinter/record/Embed.h).
template <detail::Module T>
LoadReport
load_from_memory(T &module, std::span<const std::byte> bytes,
                 const LoadStateOptions &options = {},
                 std::source_location where = std::source_location::current()) {
  return load_record(module, detail::borrowedRecord(bytes, where), options,
                     where);
}
/// The same of a module that is made here.
template <detail::Module T, typename... Arguments>
T load_from_memory(std::span<const std::byte> bytes,
                   std::string_view device = "cpu", Arguments &&...arguments) {
  detail::DeviceHold hold(device);
  T module(std::forward<Arguments>(arguments)...);
  load_from_memory(module, bytes, {}, {});
  return module;
}

} // namespace sinter

/// Stands at the end of a plain struct and makes its fields a record, which
/// `Record::put` and `get` take:
///
///     struct Progress {
///       int64_t epoch = 0;
///       std::vector<double> losses;
///       SINTER_RECORD(Progress, epoch, losses)
///     };
///
/// A field that the record has no entry for is an Error. Fields are read in
/// their order: where one does not fit, those before it have changed.
#define SINTER_RECORD(Type, ...)                                               \
public:                                                                        \
  ::sinter::Record into_record(std::source_location sinter_where =             \
                                   std::source_location::current()) const {    \
    ::sinter::Record sinter_record;                                            \
    SINTER_FOR_EACH(SINTER_RECORD_PUT, __VA_ARGS__)                            \
    return sinter_record;                                                      \
  }                                                                            \
  void load_record(const ::sinter::Record &sinter_record,                      \
                   std::source_location sinter_where =                         \
                       std::source_location::current()) {                      \
    SINTER_FOR_EACH(SINTER_RECORD_GET, __VA_ARGS__)                            \
  }
#define SINTER_RECORD_PUT(field)                                               \
  sinter_record.put(#field, this->field, sinter_where);
#define SINTER_RECORD_GET(field)                                               \
  sinter_record.get(#field, this->field, sinter_where);
