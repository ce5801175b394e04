/// The table of GGML's formats.
#include "runtime/params/weights/gguf/Blocks.h"

#include "runtime/params/weights/gguf/BlockBytes.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::runtime::gguf {

namespace {

constexpr BlockFormat formats[] = {
    {2, "Q4_0", 32, 18, dequantizeQ40},
    {3, "Q4_1", 32, 20, dequantizeQ41},
    {6, "Q5_0", 32, 22, dequantizeQ50},
    {7, "Q5_1", 32, 24, dequantizeQ51},
    {8, "Q8_0", 32, 34, dequantizeQ80},
    {9, "Q8_1", 32, 40, nullptr},
    {10, "Q2_K", 256, 84, dequantizeQ2K},
    {11, "Q3_K", 256, 110, dequantizeQ3K},
    {12, "Q4_K", 256, 144, dequantizeQ4K},
    {13, "Q5_K", 256, 176, dequantizeQ5K},
    {14, "Q6_K", 256, 210, dequantizeQ6K},
    {15, "Q8_K", 256, 292, nullptr},
    {16, "IQ2_XXS", 256, 66, dequantizeIq2Xxs},
    {17, "IQ2_XS", 256, 74, dequantizeIq2Xs},
    {18, "IQ3_XXS", 256, 98, dequantizeIq3Xxs},
    {19, "IQ1_S", 256, 50, dequantizeIq1S},
    {20, "IQ4_NL", 32, 18, dequantizeIq4Nl},
    {21, "IQ3_S", 256, 110, dequantizeIq3S},
    {22, "IQ2_S", 256, 82, dequantizeIq2S},
    {23, "IQ4_XS", 256, 136, dequantizeIq4Xs},
    {29, "IQ1_M", 256, 56, dequantizeIq1M},
    {30, "BF16", 1, 2, dequantizeBf16},
    {34, "TQ1_0", 256, 54, dequantizeTq10},
    {35, "TQ2_0", 256, 66, dequantizeTq20},
    {39, "MXFP4", 32, 17, dequantizeMxfp4},
    {40, "NVFP4", 64, 36, dequantizeNvfp4},
    {41, "Q1_0", 128, 18, nullptr},
};

const BlockFormat *orNull(const BlockFormat *found) {
  return found == std::end(formats) ? nullptr : found;
}

} // namespace

std::span<const BlockFormat> blockFormats() { return formats; }

const BlockFormat *findBlockFormat(uint32_t code) {
  return orNull(std::ranges::find(formats, code, &BlockFormat::code));
}

const BlockFormat *findBlockFormat(std::string_view name) {
  return orNull(std::ranges::find(formats, name, &BlockFormat::name));
}

Status dequantize(const BlockFormat &format, std::span<const std::byte> blocks,
                  std::span<float> to) {
  size_t count = blocks.size() / format.bytes;
  if (blocks.size() % format.bytes || to.size() != count * format.elements)
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("{} bytes of {} are not {} elements",
                                 blocks.size(), format.name, to.size()));
  if (!format.dequantize)
    return makeError(
        ErrorKind::unsupported,
        fmt::format("numbers of {} blocks are not supported", format.name));
  auto *block = reinterpret_cast<const uint8_t *>(blocks.data());
  for (size_t i = 0; i < count; ++i)
    format.dequantize(block + i * format.bytes, &to[i * format.elements]);
  return {};
}

void dequantizeBf16(const uint8_t *block, float *to) {
  *to = fromBfloat16(u16At(block));
}

} // namespace sinter::runtime::gguf
