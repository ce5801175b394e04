#include "tests/unit/program/FieldMutator.h"

#include "runtime/program/FileFormat.h"
#include "runtime/program/ModelReader.h"
#include "sinter/generated/program_bfbs_generated.h"
#include "sinter/generated/program_generated.h"
#include "tests/unit/program/Reseal.h"

#include <algorithm>
#include <cstring>
#include <flatbuffers/reflection.h>
#include <random>
#include <string_view>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

using Random = std::mt19937_64;

/// Something in a flatbuffer that can be altered.
struct Place {
  enum Kind : uint8_t { number, length, offset, letters };
  Kind kind;
  uint8_t *at;
  size_t bytes;
  const reflection::Field *field; ///< that it is, or is an element of
};

/// Lists the places of a buffer that is well formed.
class Walker {
public:
  Walker(std::span<uint8_t> buffer, MutatedParts parts)
      : buffer(buffer), parts(parts),
        schema(*reflection::GetSchema(fb::ProgramBinarySchema::data())) {}

  std::vector<Place> walk(const char *root) {
    const reflection::Object *type = schema.objects()->LookupByKey(root);
    walkTable(*flatbuffers::GetAnyRoot(buffer.data()), *type);
    return std::move(places);
  }

private:
  void add(Place::Kind kind, const uint8_t *at, size_t bytes,
           const reflection::Field &field) {
    places.push_back({kind, const_cast<uint8_t *>(at), bytes, &field});
  }
  const reflection::Object &objectOf(const reflection::Field &field) const {
    return *schema.objects()->Get(field.type()->index());
  }
  bool isKnownUnion(const flatbuffers::Table &table,
                    const reflection::Object &type,
                    const reflection::Field &field) const;
  void walkTable(const flatbuffers::Table &table,
                 const reflection::Object &type);
  void walkField(const flatbuffers::Table &table,
                 const reflection::Object &type,
                 const reflection::Field &field);
  void walkStruct(const uint8_t *at, const reflection::Object &type);
  void walkVector(const uint8_t *at, const reflection::Field &field);
  void walkString(const uint8_t *at, const reflection::Field &field);
  static const uint8_t *follow(const uint8_t *at) {
    return at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at);
  }

  std::span<uint8_t> buffer;
  const MutatedParts parts;
  const reflection::Schema &schema;
  std::vector<Place> places;
};

void Walker::walkStruct(const uint8_t *at, const reflection::Object &type) {
  for (const reflection::Field *field : *type.fields())
    add(Place::number, at + field->offset(),
        flatbuffers::GetTypeSize(field->type()->base_type()), *field);
}

void Walker::walkString(const uint8_t *at, const reflection::Field &field) {
  uint32_t length = flatbuffers::ReadScalar<uint32_t>(at);
  add(Place::length, at, 4, field);
  if (length > 0)
    add(Place::letters, at + 4, length, field);
}

void Walker::walkVector(const uint8_t *at, const reflection::Field &field) {
  uint32_t length = flatbuffers::ReadScalar<uint32_t>(at);
  add(Place::length, at, 4, field);
  reflection::BaseType element = field.type()->element();
  for (uint32_t i = 0; i < length; ++i) {
    if (flatbuffers::IsScalar(element)) {
      size_t bytes = flatbuffers::GetTypeSize(element);
      add(Place::number, at + 4 + i * bytes, bytes, field);
    } else if (element == reflection::Obj && objectOf(field).is_struct()) {
      walkStruct(at + 4 + i * size_t(objectOf(field).bytesize()),
                 objectOf(field));
    } else {
      const uint8_t *own = at + 4 + i * 4;
      add(Place::offset, own, 4, field);
      if (element == reflection::String)
        walkString(follow(own), field);
      else
        walkTable(*reinterpret_cast<const flatbuffers::Table *>(follow(own)),
                  objectOf(field));
    }
  }
}

/// Whether a union holds a table that the schema has; a verifier lets others
/// be.
bool Walker::isKnownUnion(const flatbuffers::Table &table,
                          const reflection::Object &type,
                          const reflection::Field &field) const {
  auto *kind = type.fields()->LookupByKey(
      (field.name()->str() + flatbuffers::UnionTypeFieldSuffix()).c_str());
  const reflection::Enum *all = schema.enums()->Get(field.type()->index());
  auto *value = all->values()->LookupByKey(
      int64_t(flatbuffers::GetFieldI<uint8_t>(table, *kind)));
  return value && value->union_type()->index() >= 0;
}

void Walker::walkField(const flatbuffers::Table &table,
                       const reflection::Object &type,
                       const reflection::Field &field) {
  const uint8_t *at = table.GetAddressOf(field.offset());
  if (!at)
    return;
  reflection::BaseType base = field.type()->base_type();
  if (flatbuffers::IsScalar(base))
    return add(Place::number, at, flatbuffers::GetTypeSize(base), field);
  if (base == reflection::Obj && objectOf(field).is_struct())
    return walkStruct(at, objectOf(field));
  add(Place::offset, at, 4, field);
  if (base == reflection::String)
    return walkString(follow(at), field);
  if (base == reflection::Vector)
    return walkVector(follow(at), field);
  if (base == reflection::Union && !isKnownUnion(table, type, field))
    return;
  const reflection::Object &of =
      base == reflection::Union
          ? flatbuffers::GetUnionType(schema, type, field, table)
          : objectOf(field);
  walkTable(*reinterpret_cast<const flatbuffers::Table *>(follow(at)), of);
}

void Walker::walkTable(const flatbuffers::Table &table,
                       const reflection::Object &type) {
  if (parts == MutatedParts::exceptKernels &&
      type.name()->string_view() == "sinter.fb.Kernel")
    return;
  for (const reflection::Field *field : *type.fields())
    walkField(table, type, *field);
}

/// Values that sit on borders.
uint64_t interesting(Random &random) {
  static constexpr uint64_t values[] = {0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        8,
                                        16,
                                        64,
                                        127,
                                        128,
                                        255,
                                        256,
                                        4095,
                                        4096,
                                        65535,
                                        65536,
                                        1u << 20,
                                        1u << 24,
                                        0x7fffffff,
                                        1u << 31,
                                        UINT32_MAX,
                                        1ull << 32,
                                        1ull << 40,
                                        uint64_t(INT64_MAX),
                                        uint64_t(INT64_MIN),
                                        UINT64_MAX};
  return values[random() % std::size(values)];
}

uint64_t readNumber(const Place &place) {
  uint64_t value = 0;
  std::memcpy(&value, place.at, place.bytes);
  return value;
}

void writeNumber(const Place &place, uint64_t value) {
  std::memcpy(place.at, &value, place.bytes);
}

const Place &other(const std::vector<Place> &places, const Place &than,
                   Random &random) {
  std::vector<const Place *> alike;
  for (const Place &each : places)
    if (each.kind == than.kind && each.field == than.field)
      alike.push_back(&each);
  return *alike[random() % alike.size()];
}

void alter(const std::vector<Place> &places, Random &random) {
  const Place &place = places[random() % places.size()];
  const Place &like = other(places, place, random);
  switch (place.kind) {
  case Place::number:
  case Place::length: {
    uint64_t value = readNumber(place);
    uint64_t choices[] = {value + 1,           value - 1, readNumber(like),
                          interesting(random), value * 2, -value};
    return writeNumber(place, choices[random() % std::size(choices)]);
  }
  case Place::offset: {
    // Names what another one names, if that lies behind it.
    auto target = reinterpret_cast<uintptr_t>(like.at) + readNumber(like);
    auto own = reinterpret_cast<uintptr_t>(place.at);
    if (target > own)
      writeNumber(place, target - own);
    return;
  }
  case Place::letters: {
    static constexpr char letters[] = {'\x1b', '\n', '\0', '\x7f', '/', 'a'};
    place.at[random() % place.bytes] = uint8_t(
        random() % 2 ? letters[random() % std::size(letters)] : char(random()));
    return;
  }
  }
}

/// Whether tables can be walked: a fuzzer alters what was altered before.
template <typename Table> bool isWhole(const std::vector<std::byte> &bytes) {
  auto *start = reinterpret_cast<const uint8_t *>(bytes.data());
  return flatbuffers::Verifier(start, bytes.size())
      .VerifyBuffer<Table>(nullptr);
}

template <typename Table>
void alterTables(std::vector<std::byte> &bytes, const char *root,
                 MutatedParts parts, Random &random) {
  if (!isWhole<Table>(bytes))
    return;
  std::span buffer(reinterpret_cast<uint8_t *>(bytes.data()), bytes.size());
  // Listed once: later changes may go astray, which is well, too.
  std::vector<Place> places = Walker(buffer, parts).walk(root);
  for (uint64_t changes = random() % 4 + 1; changes > 0 && !places.empty();
       --changes)
    alter(places, random);
}

void alterEntry(Part &part, Random &random) {
  uint64_t value = interesting(random);
  switch (random() % 6) {
  case 0:
    part.entry.index = uint32_t(value);
    break;
  case 1:
    part.entry.kind = SectionKind(value % (lastSectionKind + 3));
    break;
  case 2:
    part.entry.alignment = value;
    break;
  case 3:
    part.entry.optional = uint8_t(value);
    break;
  case 4:
    part.entry.name[random() % part.entry.name.size()] = char(value);
    break;
  default:
    part.bytes.resize(random() % (part.bytes.size() + 1));
    break;
  }
}

} // namespace

std::vector<std::byte> test::mutateFields(std::span<const std::byte> file,
                                          uint64_t seed, MutatedParts parts) {
  Random random(seed);
  auto model = readModel(file);
  std::vector<Part> all;
  for (const Section &section : model->sections) {
    all.push_back({makeEntry(section.kind, section.index),
                   {section.bytes.begin(), section.bytes.end()}});
  }
  bool isTable = random() % 32 == 0;
  // Where entries have to fit programs, most changes are theirs.
  const bool hasModel = model->find(SectionKind::model) != nullptr;
  for (Part &part : all) {
    // Another section for a program of the same code would be one of others.
    if (part.entry.kind == SectionKind::program && !isTable &&
        (!hasModel || random() % 8 == 0))
      alterTables<fb::Program>(part.bytes, "sinter.fb.Program", parts, random);
    else if (part.entry.kind == SectionKind::debug && random() % 8 == 0)
      alterTables<fb::DebugInfo>(part.bytes, "sinter.fb.DebugInfo", parts,
                                 random);
    else if (part.entry.kind == SectionKind::model && !isTable)
      alterTables<fb::Model>(part.bytes, "sinter.fb.Model", parts, random);
    else if (isLargeSection(part.entry.kind) && random() % 16 == 0)
      part.bytes.resize(random() % (2 * part.bytes.size() + 1));
  }
  Part &any = all[random() % all.size()];
  bool isCode = any.entry.kind == SectionKind::image;
  if (isTable && !(isCode && parts == MutatedParts::exceptKernels))
    alterEntry(any, random);
  return assemble(all);
}
