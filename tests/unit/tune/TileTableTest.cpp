#include "runtime/tune/TileTable.h"

#include <gtest/gtest.h>

using namespace sinter::runtime;

TEST(TileTable, TextsComeBack) {
  for (const TileChoices &tiles :
       {TileChoices{}, TileChoices{{"contraction_1", "fma 64x64"}},
        TileChoices{{"a", "b=c"}, {"d", "e f"}}})
    EXPECT_EQ(parseTiles(toText(tiles)), tiles);
}

TEST(TileTable, OtherTextsAreNone) {
  for (const char *text :
       {"", "sinter tiles 2\n", "sinter tiles 1", "sinter tiles 1\nx\n",
        "sinter tiles 1\na=b", "sinter tiles 1\n=b\n", "sinter tiles 1\na=\n",
        "sinter tiles 1\n\n"})
    EXPECT_EQ(parseTiles(text), std::nullopt) << text;
}
