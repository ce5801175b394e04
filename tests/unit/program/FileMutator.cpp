#include "tests/unit/program/FileMutator.h"

#include "runtime/program/FileFormat.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"

#include <cstring>
#include <random>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// Values that sit on borders.
uint32_t interesting(std::mt19937_64 &random) {
  static constexpr uint32_t values[] = {
      0,    1,     2,     3,          4,          7,          8,      15,
      16,   31,    32,    127,        128,        255,        256,    4095,
      4096, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 20};
  return values[random() % std::size(values)];
}

void alter(std::vector<std::byte> &bytes, std::mt19937_64 &random) {
  if (bytes.size() < 8)
    return;
  size_t at = random() % (bytes.size() - 4);
  uint32_t word = interesting(random);
  switch (random() % 4) {
  case 0:
    bytes[at] ^= std::byte(1u << random() % 8);
    break;
  case 1:
    bytes[at] = std::byte(random());
    break;
  case 2:
    std::memcpy(&bytes[at & ~size_t(3)], &word, 4);
    break;
  default: { // a word from elsewhere: an offset that points, wrongly
    size_t from = random() % (bytes.size() - 4) & ~size_t(3);
    std::memmove(&bytes[at & ~size_t(3)], &bytes[from], 4);
    break;
  }
  }
}

} // namespace

std::vector<std::byte> test::mutateModel(std::span<const std::byte> file,
                                         uint64_t seed) {
  std::mt19937_64 random(seed);
  auto model = readModel(file);
  auto copyOf = [&](SectionKind kind) {
    const Section *section = model->find(kind);
    return section ? std::vector<std::byte>(section->bytes.begin(),
                                            section->bytes.end())
                   : std::vector<std::byte>();
  };
  std::vector<std::byte> program = copyOf(SectionKind::program);
  for (uint64_t changes = random() % 6 + 1; changes > 0; --changes)
    alter(program, random);
  if (random() % 16 == 0)
    program.resize(random() % (program.size() + 1));
  ModelWriter writer;
  writer.addProgram(std::move(program), copyOf(SectionKind::image));
  writer.setConstants(copyOf(SectionKind::constants));
  return *writer.finish();
}
