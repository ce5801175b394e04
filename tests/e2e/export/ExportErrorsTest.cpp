/// What cannot be exported is an error that says why.
#include <sinter/Basic.h>
#include <sinter/Convolution.h>
#include <sinter/Export.h>

#include <functional>
#include <gtest/gtest.h>

namespace sn = sinter;

namespace {

std::string refusal(const std::function<void(sn::ModelExport &)> &work) {
  sn::ModelExport file;
  try {
    work(file);
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
    std::string text = error.what();
    return text.substr(0, text.find(" ("));
  }
  return "";
}

sn::Tensor twice(const sn::Tensor &x) { return x * 2; }

} // namespace

TEST(ExportErrors, namesAreThereAndUnique) {
  sn::Tensor x = sn::zeros({3, 4});
  EXPECT_EQ(refusal([&](auto &f) { f.add("f", twice, x).add("f", twice, x); }),
            "export: a file has one function named 'f'");
  EXPECT_EQ(
      refusal([&](auto &f) { f.add("f", twice, x, {.inputs = {"a", "b"}}); }),
      "export: 2 names for 1 inputs");
  EXPECT_EQ(refusal([&](auto &f) {
              f.add("f", [](auto a, auto b) { return a + b; }, std::tuple{x, x},
                    {.inputs = {"a", "a"}});
            }),
            "export: two inputs are named 'a', or it has no name");
  EXPECT_EQ(refusal([&](auto &f) { f.write("/tmp/nothing.sinter"); }),
            "export: no function was added");
  EXPECT_EQ(refusal([&](auto &f) {
              f.add("f", twice, x);
              f.write("/tmp/nothing.sinter",
                      {.metadata = {{"by", "me"}, {"by", "you"}}});
            }),
            "export: the metadata has two values for 'by'");
  EXPECT_EQ(refusal([&](auto &f) {
              f.add("f", twice, x, {.descriptions = {{"y", "what it is"}}});
            }),
            "export: no input or output is named 'y', which is described");
}

TEST(ExportErrors, dynamicAxesAreNamedRight) {
  sn::Tensor x = sn::zeros({3, 4});
  auto dynamic = [&](const char *text) {
    return refusal([&](auto &f) {
      f.add("f", twice, x, {.inputs = {"x"}, .dynamic = {text}});
    });
  };
  EXPECT_EQ(dynamic("x:0=n"), "");
  EXPECT_EQ(dynamic("x0=n"),
            "export: dynamic 'x0=n': expected INPUT:AXIS=NAME");
  EXPECT_EQ(dynamic("x:first=n"),
            "export: dynamic 'x:first=n': expected INPUT:AXIS=NAME");
  EXPECT_EQ(dynamic("y:0=n"),
            "export: dynamic 'y:0=n': no input has that name");
  for (const char *name : {"3", "2n", "a+b", "a b", "-n"})
    EXPECT_EQ(dynamic(("x:0=" + std::string(name)).c_str()),
              "export: dynamic 'x:0=" + std::string(name) + "': '" + name +
                  "' is no name for a dim, which begins with a letter and goes "
                  "on with letters, digits and _");
  EXPECT_EQ(dynamic("x:0=_Rows2"), "");
  EXPECT_EQ(dynamic("x:2=n"), "export: dynamic 'x:2=n': 'x' has 2 axes");
  EXPECT_EQ(refusal([&](auto &f) {
              f.add("f", twice, x,
                    {.inputs = {"x"}, .dynamic = {"x:0=n", "x:1=n"}});
            }),
            "export: dynamic 'x:1=n': the examples have 3 and 4");
}

TEST(ExportErrors, aFixedAxisCannotBeDynamic) {
  sn::Tensor x = sn::zeros({3, 4}), table = sn::zeros({3, 4});
  EXPECT_EQ(refusal([&](auto &f) {
              f.add("f", [&](const sn::Tensor &in) { return in + table; }, x,
                    {.inputs = {"x"}, .dynamic = {"x:0=n"}});
            }),
            "export: dynamic 'x:0=n': the function takes 3 only");
}

/// Kernels know a window's sizes: each is fixed, not what they make together.
TEST(ExportErrors, fixedAxesAreFixedOneByOne) {
  sn::Tensor image = sn::zeros({1, 2, 9, 9}), weight = sn::zeros({4, 2, 2, 3});
  EXPECT_EQ(refusal([&](auto &f) {
              f.add("f", [](auto x, auto w) { return sn::conv2d(x, w); },
                    std::tuple{image, weight},
                    {.inputs = {"x", "w"}, .dynamic = {"w:2=h", "w:3=w"}});
            }),
            "export: dynamic 'w:2=h': the function takes 2 only");
}

TEST(ExportErrors, valuesCannotBeReadNorInputsBeIdle) {
  sn::Tensor x = sn::zeros({3});
  EXPECT_NE(refusal([&](auto &f) {
              f.add(
                  "f",
                  [](const sn::Tensor &in) {
                    return in * in.template to_vector<float>()[0];
                  },
                  x);
            }).find("export: the function reads"),
            std::string::npos);
  EXPECT_EQ(refusal([&](auto &f) {
              f.add("f", [](auto a, auto) { return a * 2; }, std::tuple{x, x});
            }),
            "export: nothing that the function gives or changes depends on "
            "input 'input1'");
  EXPECT_EQ(refusal([&](auto &f) {
              f.add("f", [](sn::Tensor &in) { in = in + 1; }, x);
            }),
            "export: the function assigns to its arguments: return what they "
            "become, or make them Params, which are state");
}
