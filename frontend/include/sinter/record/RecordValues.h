/// What C++ values are in a record.
#pragma once

#include <sinter/Fields.h>
#include <sinter/IsOptional.h>
#include <sinter/Param.h>
#include <sinter/Tensor.h>
#include <sinter/Weights.h>
#include <sinter/record/RecordTree.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::detail {

Record moduleRecord(const Fields &fields, std::source_location where);
LoadReport loadModule(const Fields &fields, const Record &record,
                      const LoadStateOptions &options,
                      std::source_location where);
Record tensorRecord(const Tensor &tensor, uint64_t id,
                    std::source_location where);
/// On the device of `tensor`, or where it is empty the thread's default one.
void readTensorRecord(Tensor &tensor, const Record &record,
                      std::source_location where);
void readParamRecord(Param &param, const Record &record,
                     std::source_location where);
/// Refers to the bytes, which must outlive it.
Record borrowedRecord(std::span<const std::byte> bytes,
                      std::source_location where);

/// While it lives, this thread makes tensors on another device.
class DeviceHold {
public:
  explicit DeviceHold(
      std::string_view device,
      std::source_location where = std::source_location::current());
  DeviceHold(const DeviceHold &) = delete;
  ~DeviceHold();

private:
  DeviceId before;
};

template <typename T>
concept HasRecordMembers = requires(const T &from, T &to, const Record &record,
                                    std::source_location where) {
  { from.into_record(where) } -> std::same_as<Record>;
  to.load_record(record, where);
};
/// An optimizer: its state belongs to the parameters of a model.
template <typename T>
concept NeedsModel = requires(const T &from, std::source_location where) {
  { from.into_record(where) } -> std::same_as<Record>;
} && !HasRecordMembers<T>;
template <typename T>
concept HasRecordFunctions =
    requires(const T &from, T &to, const Record &record) {
      { into_record(from) } -> std::same_as<Record>;
      load_record(to, record);
    };

template <typename T> struct IsRecordList : std::false_type {};
template <typename T, typename A>
struct IsRecordList<std::vector<T, A>>
    : std::bool_constant<!std::is_same_v<T, std::byte>> {};
template <typename T, size_t n>
struct IsRecordList<std::array<T, n>> : std::true_type {};
template <typename T> struct IsRecordMap : std::false_type {};
template <typename T, typename C, typename A>
struct IsRecordMap<std::map<std::string, T, C, A>> : std::true_type {};

template <typename T> Record integerRecord(T x, std::source_location where) {
  if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(int64_t))
    if (x > uint64_t(std::numeric_limits<int64_t>::max()))
      throwRecord("is " + std::to_string(x) + ", which an int64 cannot be",
                  where);
  return Record(Record::Value(int64_t(x)));
}

template <typename T> Record recordOf(const T &x, std::source_location where) {
  if constexpr (std::is_same_v<T, Record>) {
    return x;
  } else if constexpr (std::is_same_v<T, bool>) {
    return Record(Record::Value(x));
  } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, std::byte>) {
    return integerRecord(static_cast<std::underlying_type_t<T>>(x), where);
  } else if constexpr (std::is_integral_v<T>) {
    return integerRecord(x, where);
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) <= sizeof(double), "a long double is too wide");
    return Record(Record::Value(double(x)));
  } else if constexpr (std::is_convertible_v<const T &, std::string_view>) {
    return Record(Record::Value(std::string(std::string_view(x))));
  } else if constexpr (std::is_same_v<T, Record::Bytes>) {
    return Record(Record::Value(x));
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return tensorRecord(x, 0, where);
  } else if constexpr (std::is_same_v<T, Param>) {
    return tensorRecord(x.mapper().saved(x.tensor(where)), x.record_id(),
                        where);
  } else if constexpr (Module<T>) {
    return moduleRecord(allFieldsOf(x), where);
  } else if constexpr (IsOptional<T>::value) {
    return x ? recordOf(*x, where) : Record(Record::Value());
  } else if constexpr (IsRecordList<T>::value) {
    Record::List list;
    for (size_t i = 0; i < x.size(); ++i) {
      std::string number = std::to_string(i);
      RecordPath path(number);
      list.push_back(
          recordOf(static_cast<const typename T::value_type &>(x[i]), where));
    }
    return Record(Record::Value(std::move(list)));
  } else if constexpr (IsRecordMap<T>::value) {
    Record::Map map;
    for (const auto &[name, element] : x) {
      RecordPath path(name);
      map.push_back({name, recordOf(element, where)});
    }
    return Record(Record::Value(std::move(map)));
  } else if constexpr (HasRecordMembers<T> || NeedsModel<T>) {
    return x.into_record(where);
  } else {
    static_assert(HasRecordFunctions<T>,
                  "a class takes part in records by SINTER_MODULE, "
                  "SINTER_RECORD, or functions `sn::Record into_record(const "
                  "T &)` and `void load_record(T &, const sn::Record &)` "
                  "beside it");
    return into_record(x);
  }
}

template <typename T>
void readInteger(T &x, const Record &record, std::source_location where) {
  int64_t integer = record.as_integer(where);
  bool fits = true;
  if constexpr (std::is_unsigned_v<T>)
    fits = integer >= 0 && uint64_t(integer) <= std::numeric_limits<T>::max();
  else
    fits = integer >= std::numeric_limits<T>::min() &&
           integer <= std::numeric_limits<T>::max();
  if (!fits)
    throwRecord("is " + std::to_string(integer) + ", for which an integer of " +
                    std::to_string(8 * sizeof(T)) + " bits has no room",
                where);
  x = static_cast<T>(integer);
}

template <typename T>
void readRecord(T &x, const Record &record, std::source_location where);

template <typename T>
void readList(T &x, const Record &record, std::source_location where) {
  const Record::List &list = record.as_list(where);
  T made{};
  if constexpr (requires { made.resize(list.size()); })
    made.resize(list.size());
  if (made.size() != list.size())
    throwRecord("has " + std::to_string(list.size()) + " elements, not " +
                    std::to_string(made.size()),
                where);
  for (size_t i = 0; i < list.size(); ++i) {
    std::string number = std::to_string(i);
    RecordPath path(number);
    typename T::value_type element{};
    readRecord(element, list[i], where);
    made[i] = std::move(element);
  }
  x = std::move(made);
}

template <typename T>
void readRecord(T &x, const Record &record, std::source_location where) {
  if constexpr (std::is_same_v<T, Record>) {
    x = record;
  } else if constexpr (std::is_same_v<T, bool>) {
    x = record.as_bool(where);
  } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, std::byte>) {
    std::underlying_type_t<T> number{};
    readInteger(number, record, where);
    x = static_cast<T>(number);
  } else if constexpr (std::is_integral_v<T>) {
    readInteger(x, record, where);
  } else if constexpr (std::is_floating_point_v<T>) {
    x = static_cast<T>(record.as_real(where));
  } else if constexpr (std::is_same_v<T, std::string>) {
    x = record.as_text(where);
  } else if constexpr (std::is_same_v<T, Record::Bytes>) {
    x = record.as_bytes(where);
  } else if constexpr (std::is_same_v<T, Tensor>) {
    readTensorRecord(x, record, where);
  } else if constexpr (std::is_same_v<T, Param>) {
    readParamRecord(x, record, where);
  } else if constexpr (Module<T>) {
    loadModule(allFieldsOf(x), record, {}, where);
  } else if constexpr (IsOptional<T>::value) {
    if (record.is(Record::Kind::none)) {
      x.reset();
    } else {
      typename T::value_type element{};
      readRecord(element, record, where);
      x = std::move(element);
    }
  } else if constexpr (IsRecordList<T>::value) {
    readList(x, record, where);
  } else if constexpr (IsRecordMap<T>::value) {
    T made;
    for (const Record::Entry &entry : record.as_map(where)) {
      RecordPath path(entry.name);
      readRecord(made[entry.name], entry.value, where);
    }
    x = std::move(made);
  } else if constexpr (HasRecordMembers<T>) {
    x.load_record(record, where);
  } else {
    static_assert(!NeedsModel<T>, "an optimizer is read for a model: "
                                  "record.get(name, optimizer, model)");
    static_assert(HasRecordFunctions<T>,
                  "a class takes part in records by SINTER_MODULE, "
                  "SINTER_RECORD, or functions `sn::Record into_record(const "
                  "T &)` and `void load_record(T &, const sn::Record &)` "
                  "beside it");
    load_record(x, record);
  }
}

} // namespace sinter::detail
