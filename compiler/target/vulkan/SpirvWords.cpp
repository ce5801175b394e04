/// SpirvWords: a text goes where the specification (2.4) has it.
#include "compiler/target/vulkan/SpirvWords.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace sinter::compiler {

constexpr uint32_t opModuleProcessed = 330;

// Whether an instruction stands before those that say what came of a module.
static bool isBeforeProcessed(uint32_t opcode) {
  constexpr uint32_t first = 2, line = 8, last = 17, executionModeId = 331;
  return (opcode >= first && opcode <= last && opcode != line) ||
         opcode == opModuleProcessed || opcode == executionModeId;
}

SmallVector<uint32_t, 0> withText(ArrayRef<uint32_t> words, StringRef text) {
  size_t place = spirvHeaderWords;
  while (place < words.size() && isBeforeProcessed(words[place] & 0xffff))
    place += words[place] >> 16;
  SmallVector<uint32_t, 0> all(words.take_front(place)), note;
  appendText(note, text);
  appendInstruction(all, opModuleProcessed, note);
  append_range(all, words.drop_front(place));
  return all;
}

} // namespace sinter::compiler
