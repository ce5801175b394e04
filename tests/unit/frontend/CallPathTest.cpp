/// What errors, `explain` and kept sites say about where an op was recorded:
/// the innermost line of the user's and how it was reached.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

namespace sn = sinter;
using Paths = std::vector<std::string>;

namespace {

/// `CallPathTest.cpp:LINE` as paths name it.
std::string at(uint32_t line) {
  return "CallPathTest.cpp:" + std::to_string(line);
}

void expectPath(const std::function<void()> &call,
                const std::vector<uint32_t> &lines) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const sn::Error &error) {
    Paths path = error.call_path();
    ASSERT_EQ(path.size(), lines.size()) << error.what();
    for (size_t i = 0; i < lines.size(); ++i)
      EXPECT_TRUE(path[i].ends_with(at(lines[i])))
          << path[i] << " is not line " << lines[i];
    EXPECT_EQ(error.site(), path.front());
  }
}

constexpr uint32_t innerLine = __LINE__ + 5;
struct Inner {
  sn::nn::Linear a{4, 8}, b{9, 2};
  sn::Tensor forward(const sn::Tensor &x) const {
    sn::Tensor h = sn::relu(a(x));
    return b(h); // the mistake: 8 elements for 9
  }
  SINTER_MODULE(Inner, a, b)
};

constexpr uint32_t outerLine = __LINE__ + 3;
struct Outer {
  Inner inner;
  sn::Tensor forward(const sn::Tensor &x) const { return inner(x * 2); }
  SINTER_MODULE(Outer, inner)
};

constexpr uint32_t deepLine = __LINE__ + 4;
struct Deep {
  sn::Tensor again(const sn::Tensor &x, int64_t level) const;
  sn::Tensor forward(const sn::Tensor &x, int64_t level) const {
    return level == 0 ? x + sn::zeros({3}) : again(x, level - 1);
  }
  SINTER_MODULE(Deep)
};
constexpr uint32_t againLine = __LINE__ + 2;
sn::Tensor Deep::again(const sn::Tensor &x, int64_t level) const {
  return (*this)(x, level);
}

} // namespace

TEST(CallPath, AnErrorNamesTheInnermostLineAndThePath) {
  Outer outer;
  uint32_t here = __LINE__ + 1;
  expectPath([&] { outer(sn::zeros({1, 4})); }, {innerLine, outerLine, here});
}

TEST(CallPath, TheTextNamesFunctions) {
  Outer outer;
  try {
    outer(sn::zeros({1, 4}));
    ADD_FAILURE() << "no error";
  } catch (const sn::Error &error) {
    std::string what = error.what();
    EXPECT_NE(what.find("(Inner::forward at "), std::string::npos) << what;
    EXPECT_NE(what.find(", from Outer::forward at "), std::string::npos)
        << what;
    EXPECT_EQ(what.find("Linear"), std::string::npos) << "of the library";
    EXPECT_EQ(what.find("include/sinter"), std::string::npos) << what;
  }
}

TEST(CallPath, WithoutModulesThereIsOneLine) {
  sn::Tensor x = sn::zeros({1, 4});
  uint32_t here = __LINE__ + 1;
  expectPath([&] { sn::matmul(x, x); }, {here});
}

TEST(CallPath, FunctionsOfSeveralOpsAreNoLinesOfTheUser) {
  sn::Tensor x = sn::zeros({4}), y = sn::zeros({5});
  uint32_t here = __LINE__ + 1;
  expectPath([&] { sn::mse_loss(x, y); }, {here});
}

TEST(CallPath, ALayerInALibrarysListIsReachedFromTheUsersLine) {
  sn::nn::Sequential model(sn::nn::Linear(4, 4), Inner());
  uint32_t here = __LINE__ + 1;
  expectPath([&] { model(sn::zeros({1, 4})); }, {innerLine, here});
}

TEST(CallPath, CallsFromOneLineToItselfAreOneLine) {
  Deep deep;
  uint32_t here = __LINE__ + 1;
  expectPath([&] { deep(sn::zeros({4}), 40); }, {deepLine, againLine, here});
}

TEST(CallPath, TwoCallsOfOneLineAreTold) {
  Outer outer;
  uint32_t first = __LINE__ + 1, second = __LINE__ + 2;
  expectPath([&] { outer(sn::zeros({1, 4})); }, {innerLine, outerLine, first});
  expectPath([&] { outer(sn::zeros({2, 4})); }, {innerLine, outerLine, second});
}

TEST(CallPath, ExplainNamesThePath) {
  Outer outer;
  uint32_t here = __LINE__ + 1;
  sn::Tensor y = outer.inner.a(sn::zeros({1, 4}));
  EXPECT_NE(y.explain().find(at(here)), std::string::npos) << y.explain();
}

TEST(CallPath, AnErrorOfARunNamesIt) {
  sn::nn::Embedding table(10, 4);
  uint32_t here = __LINE__ + 1;
  expectPath([&] { table(sn::tensor<int64_t>({1, 12})).eval(); }, {here});
}

TEST(CallPath, GradientsBelongToTheLineOfTheirOp) {
  sn::Param w(sn::ones({2}), "w");
  uint32_t here = __LINE__ + 1;
  sn::Tensor loss = sn::sum(sn::log(w * 0.0));
  sn::Tensor gradient = loss.backward()[w];
  EXPECT_NE(gradient.explain().find(at(here)), std::string::npos)
      << gradient.explain();
}

// A user's project may have a folder of that name.
#line 1 "frontend/Theirs.cpp"
static sn::Tensor theirs() { return sn::zeros({2}) + 1; }
#line 142 "tests/unit/frontend/CallPathTest.cpp"

TEST(CallPath, FoldersOfAUsersAreNotTheLibrarys) {
  std::string told = theirs().explain();
  EXPECT_NE(told.find("frontend/Theirs.cpp:1"), std::string::npos) << told;
}
