/// CheckImage: what a CPU image may hold.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// Whether bytes are a shared object of kernels alone: no code that runs when
/// it is loaded or closed, no relocations, no other libraries, no symbols of
/// others, and tables that lie in it. The dynamic loader checks none of this
/// before it runs constructors. An error of kind `device` says what is wrong.
Status checkCpuImage(std::span<const std::byte> bytes);

/// A part of an image as it is in memory: `bytes`, then zeros.
struct CpuImageSegment {
  uint64_t address = 0; ///< from the image's beginning
  uint64_t size = 0;
  std::span<const std::byte> bytes;
  bool isWritable = false;
};
struct CpuImageSymbol {
  std::string name;
  uint64_t address = 0;
};
struct CpuImageContents {
  uint16_t machine = 0;                  ///< EM_X86_64, EM_AARCH64
  std::vector<CpuImageSegment> segments; ///< ascending, none shares a page
  std::vector<CpuImageSymbol> symbols;
};

/// What an image holds; `bytes` have to stay. An error as of checkCpuImage.
Result<CpuImageContents> readCpuImage(std::span<const std::byte> bytes);

} // namespace sinter::runtime
