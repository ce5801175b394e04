/// SpirvWords: instructions of a SPIR-V module as words.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <cstring>

namespace sinter::compiler {

// SPIR-V specification 1.6, sections 2.3 and 3.52.
inline constexpr size_t spirvHeaderWords = 5;

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

/// A module with an instruction that says the text, OpModuleProcessed.
llvm::SmallVector<uint32_t, 0> withText(llvm::ArrayRef<uint32_t> words,
                                        llvm::StringRef text);

} // namespace sinter::compiler
