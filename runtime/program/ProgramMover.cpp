/// Moves programs, and the constants that they use.
#include "runtime/program/ProgramMover.h"

#include "runtime/program/VerifyProgram.h"

using namespace sinter;
using namespace sinter::runtime;

std::span<const std::byte> sinter::runtime::bytesOf(const ModelFile &model,
                                                    SectionKind kind,
                                                    uint32_t index) {
  const Section *section = model.find(kind, index);
  return section ? section->bytes : std::span<const std::byte>();
}

uint64_t ProgramMover::placeOf(std::span<const std::byte> constant) {
  uint64_t alignment = sectionAlignment(SectionKind::constants);
  uint64_t end = (constants.size() + alignment - 1) / alignment * alignment;
  auto [place, isNew] = places.emplace(digestOf(constant), end);
  if (isNew) {
    constants.resize(end);
    constants.insert(constants.end(), constant.begin(), constant.end());
  }
  return place->second;
}

Result<uint32_t> ProgramMover::add(const ModelFile &model, uint32_t index) {
  auto program = bytesOf(model, SectionKind::program, index);
  auto image = bytesOf(model, SectionKind::image, index);
  auto own = bytesOf(model, SectionKind::constants);
  SINTER_TRY(verifyProgram(program, own.size()));
  fb::ProgramT object;
  fb::GetProgram(program.data())->UnPackTo(&object);
  for (auto &constant : object.constants)
    constant->offset = placeOf(own.subspan(constant->offset, constant->bytes));
  return writer.addProgram(object, {image.begin(), image.end()});
}
