/// SpirvWords: instructions of a SPIR-V module as words.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <cstring>

namespace sinter::compiler {

// SPIR-V specification 1.6, sections 2.3 and 3.52.
inline constexpr size_t spirvHeaderWords = 5;
inline constexpr uint32_t opModuleProcessed = 330;

/// Whether an instruction stands before those that say what came of a module.
inline bool isBeforeProcessed(uint32_t opcode) {
  constexpr uint32_t first = 2, line = 8, last = 17, executionModeId = 331;
  return (opcode >= first && opcode <= last && opcode != line) ||
         opcode == opModuleProcessed || opcode == executionModeId;
}

/// Words of a text, which a zero byte ends.
inline void appendText(llvm::SmallVectorImpl<uint32_t> &words,
                       llvm::StringRef text) {
  size_t at = words.size();
  words.resize(at + text.size() / 4 + 1, 0);
  std::memcpy(words.data() + at, text.data(), text.size());
}

inline void appendInstruction(llvm::SmallVectorImpl<uint32_t> &to,
                              uint32_t opcode,
                              llvm::ArrayRef<uint32_t> operands) {
  to.push_back(uint32_t(operands.size() + 1) << 16 | opcode);
  to.append(operands.begin(), operands.end());
}

} // namespace sinter::compiler
