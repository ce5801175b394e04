#include "tests/unit/onnx/ModelMutator.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace sinter::onnx_test {

namespace {

/// Messages that have messages inside.
enum class Kind : uint8_t {
  none,
  model,
  graph,
  node,
  attribute,
  tensor,
  value,
  type,
  tensorType,
  elementType,
  shape,
  dim,
  opset,
  function,
  entry,
};

/// A field as it stands in a file.
struct Field {
  uint32_t number = 0;
  uint32_t wire = 0;
  uint64_t integer = 0;
  std::string bytes;
  Kind kind = Kind::none; ///< of the message that it is
  std::vector<Field> inner;
};

Kind kindOf(Kind around, uint32_t number) {
  using enum Kind;
  static const auto &kinds = *new std::map<std::pair<Kind, uint32_t>, Kind>{
      {{model, 7}, graph},        {{model, 8}, opset},
      {{model, 25}, function},    {{graph, 1}, node},
      {{graph, 5}, tensor},       {{graph, 11}, value},
      {{graph, 12}, value},       {{graph, 13}, value},
      {{node, 5}, attribute},     {{attribute, 5}, tensor},
      {{attribute, 6}, graph},    {{attribute, 10}, tensor},
      {{attribute, 11}, graph},   {{attribute, 14}, type},
      {{tensor, 13}, entry},      {{value, 2}, type},
      {{type, 1}, tensorType},    {{type, 4}, elementType},
      {{type, 9}, elementType},   {{elementType, 1}, type},
      {{tensorType, 2}, shape},   {{shape, 1}, dim},
      {{function, 7}, node},      {{function, 9}, opset},
      {{function, 11}, attribute}};
  auto found = kinds.find({around, number});
  return found == kinds.end() ? none : found->second;
}

std::optional<uint64_t> takeVarint(std::string_view &rest) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t(byte & 127) << shift;
    if (byte < 128)
      return value;
  }
  return std::nullopt;
}

/// The fields of a message; nothing where it is none.
std::optional<std::vector<Field>> fieldsOf(std::string_view rest, Kind kind,
                                           unsigned depth = 0) {
  constexpr unsigned deepest = 50;
  std::vector<Field> fields;
  while (!rest.empty() && depth < deepest) {
    auto tag = takeVarint(rest);
    if (!tag)
      return std::nullopt;
    Field field;
    field.number = uint32_t(*tag >> 3);
    field.wire = uint32_t(*tag & 7);
    uint64_t length = field.wire == 5 ? 4 : 8;
    if (field.wire == 0 || field.wire == 2) {
      auto value = takeVarint(rest);
      if (!value)
        return std::nullopt;
      field.integer = length = *value;
    } else if (field.wire != 1 && field.wire != 5) {
      return std::nullopt;
    }
    if (field.wire != 0) {
      if (length > rest.size())
        return std::nullopt;
      field.bytes = rest.substr(0, length);
      rest.remove_prefix(length);
    }
    Kind inner = field.wire == 2 ? kindOf(kind, field.number) : Kind::none;
    if (inner != Kind::none)
      if (auto parts = fieldsOf(field.bytes, inner, depth + 1)) {
        field.kind = inner;
        field.inner = std::move(*parts);
      }
    fields.push_back(std::move(field));
  }
  return fields;
}

void putVarint(std::string &to, uint64_t value) {
  for (; value > 127; value >>= 7)
    to += char(value | 128);
  to += char(value);
}

std::string bytesOf(const std::vector<Field> &fields) {
  std::string all;
  for (const Field &field : fields) {
    putVarint(all, uint64_t(field.number) << 3 | field.wire);
    if (field.wire == 0) {
      putVarint(all, field.integer);
      continue;
    }
    std::string bytes =
        field.kind == Kind::none ? field.bytes : bytesOf(field.inner);
    if (field.wire == 2)
      putVarint(all, bytes.size());
    all += bytes;
  }
  return all;
}

/// A field in the message around it.
struct Place {
  std::vector<Field> *fields;
  size_t index;
  Kind around;
  Field &field() const { return (*fields)[index]; }
};

void collect(std::vector<Field> &fields, Kind kind, std::vector<Place> &all) {
  for (size_t i = 0; i < fields.size(); ++i) {
    all.push_back({&fields, i, kind});
    collect(fields[i].inner, fields[i].kind, all);
  }
}

class Mutation {
public:
  explicit Mutation(uint64_t seed) : random(seed) {}

  void alter(std::vector<Field> &model, std::vector<Field> &other) {
    std::vector<Place> places, others;
    collect(model, Kind::model, places);
    collect(other, Kind::model, others);
    if (!places.empty())
      alter(choose(places), places, others);
  }
  size_t below(size_t count) { return count == 0 ? 0 : random() % count; }

private:
  template <typename T> T &choose(std::vector<T> &all) {
    return all[below(all.size())];
  }
  /// Of nodes, attributes and tensors more often than of all else.
  Place choose(std::vector<Place> &all) {
    Place place = all[below(all.size())];
    for (int again = 0; again < 4 && place.around != Kind::node &&
                        place.around != Kind::attribute;
         ++again)
      place = all[below(all.size())];
    return place;
  }
  void alter(Place place, std::vector<Place> &places,
             std::vector<Place> &others);
  void alterNumber(Field &field);
  void alterBytes(Field &field);
  void rename(Place place, const std::vector<Place> &places);
  void take(Place place, const std::vector<Place> &others, bool isMore);

  std::mt19937_64 random;
};

void Mutation::alterNumber(Field &field) {
  static constexpr std::array<uint64_t, 12> numbers = {0,
                                                       1,
                                                       2,
                                                       7,
                                                       255,
                                                       ~uint64_t(0),
                                                       uint64_t(1) << 31,
                                                       (uint64_t(1) << 31) - 1,
                                                       uint64_t(1) << 32,
                                                       uint64_t(1) << 62,
                                                       uint64_t(1) << 63,
                                                       (uint64_t(1) << 63) - 1};
  switch (below(3)) {
  case 0:
    field.integer = numbers[below(numbers.size())];
    break;
  case 1:
    field.integer += below(5) - 2;
    break;
  default:
    field.integer ^= uint64_t(1) << below(64);
  }
}

void Mutation::alterBytes(Field &field) {
  std::string &bytes = field.bytes;
  if (bytes.empty())
    return;
  if (below(2) == 0)
    bytes.resize(below(bytes.size()));
  else
    bytes[below(bytes.size())] ^= char(1 << below(8));
}

/// An operand or a result gets the name of another one.
void Mutation::rename(Place place, const std::vector<Place> &places) {
  auto isName = [](const Place &each) {
    return each.around == Kind::node && each.field().number <= 2;
  };
  std::vector<Place> names;
  std::ranges::copy_if(places, std::back_inserter(names), isName);
  if (isName(place))
    place.field().bytes = choose(names).field().bytes;
}

/// A field of the same message of the other model, or one more of it.
void Mutation::take(Place place, const std::vector<Place> &others,
                    bool isMore) {
  std::vector<Place> alike;
  std::ranges::copy_if(
      others, std::back_inserter(alike), [&](const Place &each) {
        return each.around == place.around &&
               (isMore || each.field().number == place.field().number);
      });
  if (alike.empty())
    return;
  Field taken = choose(alike).field();
  if (isMore)
    place.fields->push_back(std::move(taken));
  else
    place.field() = std::move(taken);
}

void Mutation::alter(Place place, std::vector<Place> &places,
                     std::vector<Place> &others) {
  Field &field = place.field();
  switch (below(8)) {
  case 0:
    place.fields->erase(place.fields->begin() + std::ptrdiff_t(place.index));
    return;
  case 1: {
    Field copy = field;
    size_t before = below(place.fields->size() + 1);
    place.fields->insert(place.fields->begin() + std::ptrdiff_t(before),
                         std::move(copy));
    return;
  }
  case 2:
    return take(place, others, false);
  case 3:
    return take(place, others, true);
  case 4:
    return rename(place, places);
  case 5: {
    Field &second = choose(*place.fields);
    if (&field != &second)
      std::swap(field, second);
    return;
  }
  default:
    if (field.wire == 0)
      alterNumber(field);
    else if (field.kind == Kind::none)
      alterBytes(field);
  }
}

} // namespace

std::string mutateModel(std::string_view model, std::string_view other,
                        uint64_t seed) {
  auto fields = fieldsOf(model, Kind::model);
  auto others = fieldsOf(other, Kind::model);
  if (!fields || !others)
    return std::string(model);
  Mutation mutation(seed);
  for (size_t count = 1 + mutation.below(4); count > 0; --count)
    mutation.alter(*fields, *others);
  return bytesOf(*fields);
}

} // namespace sinter::onnx_test
