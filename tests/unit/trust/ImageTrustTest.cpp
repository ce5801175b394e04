/// Native code that would run by itself is refused, whatever is trusted.
#include "runtime/model/Model.h"
#include "tests/unit/device/RefusedImage.h"
#include "tests/unit/program/ModelBuilder.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

// Opening one of these as a library runs code that ends the process.
TEST(ImageTrust, noModeTakesCodeThatRunsByItself) {
  Device *cpu = *getDevice({DeviceKind::cpu, 0});
  for (const char *kind : {"constructor", "relocation", "undefined"})
    for (ModelTrust trust :
         {ModelTrust::code, ModelTrust::graph, ModelTrust::signature}) {
      ModelBuilder builder = smallModel();
      builder.programs[1].image = refusedImage(kind);
      auto opened =
          Model::openMemory(builder.file(), {.device = cpu, .trust = trust});
      ASSERT_FALSE(opened.ok()) << kind;
      EXPECT_EQ(opened.error().kind, ErrorKind::device);
      EXPECT_NE(opened.error().message.find("cannot load an image"),
                std::string::npos)
          << opened.error().message;
    }
}

TEST(ImageTrust, namesOfModes) {
  EXPECT_EQ(*parseTrust("x", "code"), ModelTrust::code);
  EXPECT_EQ(*parseTrust("x", "graph"), ModelTrust::graph);
  EXPECT_EQ(*parseTrust("x", "signed"), ModelTrust::signature);
  EXPECT_EQ(parseTrust("SINTER_TRUST", "all").error().message,
            "SINTER_TRUST is code, signed or graph, not 'all'");
}
