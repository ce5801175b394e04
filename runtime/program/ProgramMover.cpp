/// Moves programs, and the constants that they use.
#include "runtime/program/ProgramMover.h"

#include "runtime/program/VerifyProgram.h"

using namespace sinter;
using namespace sinter::runtime;

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
  SINTER_TRY(verifyProgram(model, index));
  auto program = model.bytesOf(SectionKind::program, index);
  auto image = model.bytesOf(SectionKind::image, index);
  auto own = model.bytesOf(SectionKind::constants);
  fb::ProgramT object;
  fb::GetProgram(program.data())->UnPackTo(&object);
  for (auto &constant : object.constants)
    constant->offset = placeOf(own.subspan(constant->offset, constant->bytes));
  return writer.addProgram(object, {image.begin(), image.end()});
}
