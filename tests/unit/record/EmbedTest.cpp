/// A model whose bytes the linker put into this program.
#include "tests/unit/record/SmallModels.h"

#include <sinter/record/Embed.h>

#include <gtest/gtest.h>

#include <fstream>

SINTER_EMBED(embeddedModel, EMBEDDED)

using namespace record_test;

TEST(EmbeddedRecord, AModelIsLoadedFromTheBytesInTheProgram) {
  std::ifstream in(EMBEDDED, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  ASSERT_EQ(embeddedModel.size(), text.size());
  EXPECT_EQ(std::memcmp(embeddedModel.data(), text.data(), text.size()), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(embeddedModel.data()) % 64, 0u);
  auto model = sn::load_from_memory<Mlp>(embeddedModel);
  auto expected = sn::load_model<Mlp>(EMBEDDED);
  EXPECT_EQ(valuesOf(model), valuesOf(expected));
  Mlp other;
  EXPECT_TRUE(sn::load_from_memory(other, embeddedModel).complete());
  EXPECT_EQ(valuesOf(other), valuesOf(expected));
}
