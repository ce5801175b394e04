/// Blocks: GGML's quantized formats, and the numbers that their blocks stand
/// for.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sinter::runtime::gguf {

/// Writes the elements of one block.
using Dequantize = void (*)(const uint8_t *block, float *to);

/// A format of blocks: rows of a tensor are whole blocks.
struct BlockFormat {
  uint32_t code = 0;          ///< `ggml_type`
  std::string_view name;      ///< `Q4_1`
  size_t elements = 0;        ///< of a block
  size_t bytes = 0;           ///< of a block
  Dequantize dequantize = {}; ///< null where no numbers are made of it
};

/// All that are known, bf16 as blocks of one element among them.
std::span<const BlockFormat> blockFormats();
/// The format of that code or name, or null.
const BlockFormat *findBlockFormat(uint32_t code);
const BlockFormat *findBlockFormat(std::string_view name);

/// The numbers of whole blocks, bit for bit as the Python package `gguf` gives
/// them. A length that is not of whole blocks is an `invalid_argument` error,
/// a format without numbers (`Q8_K`) an `unsupported` one.
Status dequantize(const BlockFormat &format, std::span<const std::byte> blocks,
                  std::span<float> to);

// One function a format. d, m and the like are what llama.cpp calls them.

void dequantizeBf16(const uint8_t *block, float *to);

void dequantizeQ40(const uint8_t *block, float *to);
void dequantizeQ41(const uint8_t *block, float *to);
void dequantizeQ50(const uint8_t *block, float *to);
void dequantizeQ51(const uint8_t *block, float *to);
void dequantizeQ80(const uint8_t *block, float *to);

void dequantizeQ2K(const uint8_t *block, float *to);
void dequantizeQ3K(const uint8_t *block, float *to);
void dequantizeQ4K(const uint8_t *block, float *to);
void dequantizeQ5K(const uint8_t *block, float *to);
void dequantizeQ6K(const uint8_t *block, float *to);

void dequantizeTq10(const uint8_t *block, float *to);
void dequantizeTq20(const uint8_t *block, float *to);

void dequantizeMxfp4(const uint8_t *block, float *to);
void dequantizeNvfp4(const uint8_t *block, float *to);

void dequantizeIq2Xxs(const uint8_t *block, float *to);
void dequantizeIq2Xs(const uint8_t *block, float *to);
void dequantizeIq2S(const uint8_t *block, float *to);
void dequantizeIq3Xxs(const uint8_t *block, float *to);
void dequantizeIq3S(const uint8_t *block, float *to);
void dequantizeIq1S(const uint8_t *block, float *to);
void dequantizeIq1M(const uint8_t *block, float *to);
void dequantizeIq4Nl(const uint8_t *block, float *to);
void dequantizeIq4Xs(const uint8_t *block, float *to);

} // namespace sinter::runtime::gguf
