/// SINTER_MODULE: every kind of class and field it has to understand.
#include <sinter/Basic.h>
#include <sinter/Module.h>
#include <sinter/nn/Linear.h>

#include <gtest/gtest.h>

namespace sn = sinter;
using sn::nn::Linear;

namespace {

using Paths = std::vector<std::string>;

template <typename T> Paths pathsOf(const T &module) {
  Paths paths;
  module.visit([&](const std::string &path, const sn::Param &) {
    paths.push_back(path);
  });
  return paths;
}

sn::Param param(const char *name, const sn::Dims &shape = {2}) {
  return sn::Param(name, shape, sn::init::ones());
}

struct Empty {
  SINTER_MODULE(Empty)
};

struct Mlp {
  Linear fc1{4, 8}, fc2{8, 3, {.bias = false}};
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(sn::relu(fc1(x)));
  }
  SINTER_MODULE(Mlp, fc1, fc2)
};

class Hidden {
  Linear inner{2, 2};
  int64_t heads = 4;
  bool causal = true;
  std::string label = "x";
  std::vector<int> sizes = {1, 2};
  std::vector<bool> mask = {true};
  double rate = 0.5;

  SINTER_MODULE(Hidden, inner, heads, causal, label, sizes, mask, rate)
};

template <typename A, typename B> struct Pair {
  A first;
  B second;
  SINTER_MODULE(Pair, first, second)
};

struct Base {
  sn::Param scale = param("scale");
  SINTER_MODULE(Base, scale)
};
struct Between : Base {}; // names no fields of its own
struct Derived : Between {
  sn::Param shift = param("shift");
  SINTER_MODULE(Derived, shift)
};
template <typename T> struct Top : Derived {
  T head;
  SINTER_MODULE(Top, head)
};

struct Containers {
  std::vector<Linear> blocks = {Linear(2, 2), Linear(2, 2, {.bias = false})};
  std::optional<Linear> there = Linear(1, 1);
  std::optional<Linear> absent;
  std::array<sn::Param, 2> two = {param("a"), param("b")};
  std::map<std::string, Linear> named = {{"k", Linear(1, 1, {.bias = false})}};
  std::pair<sn::Param, int> tuple = {param("t"), 3};
  std::vector<std::vector<sn::Param>> nested = {{param("x")}, {param("y")}};
  sn::Param empty;
  SINTER_MODULE(Containers, blocks, there, absent, two, named, tuple, nested,
                empty)
};

struct Dropout {
  sn::Mode mode;
  double rate = 0.1;
  SINTER_MODULE(Dropout, mode, rate)
};
struct WithModes {
  Dropout a;
  std::vector<Dropout> more{2};
  SINTER_MODULE(WithModes, a, more)
};

struct WithTable {
  Linear layer{2, 2};
  sn::Tensor table = sn::tensor({1.f, 2.f});
  SINTER_MODULE(WithTable, layer, table)
};

#define TEN(x) x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7, x##8, x##9
struct Sixty {
  sn::Param TEN(a), TEN(b), TEN(c), TEN(d), TEN(e), TEN(f);
  SINTER_MODULE(Sixty, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3,
                b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9,
                d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5,
                e6, e7, e8, e9, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9)
};

} // namespace

TEST(Module, NoFields) {
  Empty empty;
  EXPECT_EQ(pathsOf(empty), Paths{});
  EXPECT_EQ(empty.num_params(), 0);
  EXPECT_EQ(pathsOf(empty.map([](auto &, const sn::Param &p) { return p; })),
            Paths{});
}

TEST(Module, NestedFieldsInOrder) {
  Mlp model;
  EXPECT_EQ(pathsOf(model), (Paths{"fc1.weight", "fc1.bias", "fc2.weight"}));
  EXPECT_EQ(model.num_params(), 4 * 8 + 8 + 8 * 3);
}

TEST(Module, PrivateFieldsAndConstants) {
  Hidden hidden;
  EXPECT_EQ(pathsOf(hidden), (Paths{"inner.weight", "inner.bias"}));
}

TEST(Module, Templates) {
  Pair<Mlp, Pair<Linear, Empty>> pair{{}, {Linear(1, 2), {}}};
  EXPECT_EQ(pathsOf(pair),
            (Paths{"first.fc1.weight", "first.fc1.bias", "first.fc2.weight",
                   "second.first.weight", "second.first.bias"}));
}

TEST(Module, BasesComeFirst) {
  Top<Linear> top;
  top.head = Linear(1, 1);
  EXPECT_EQ(pathsOf(top),
            (Paths{"scale", "shift", "head.weight", "head.bias"}));
  EXPECT_EQ(pathsOf(static_cast<Derived &>(top)), (Paths{"scale", "shift"}));
  EXPECT_EQ(pathsOf(static_cast<Between &>(top)), (Paths{"scale"}));
}

TEST(Module, Containers) {
  Containers all;
  EXPECT_EQ(pathsOf(all),
            (Paths{"blocks.0.weight", "blocks.0.bias", "blocks.1.weight",
                   "there.weight", "there.bias", "two.0", "two.1",
                   "named.k.weight", "tuple.0", "nested.0.0", "nested.1.0"}));
}

TEST(Module, SixtyFields) {
  Sixty many;
  EXPECT_EQ(pathsOf(many), Paths{}) << "empty Params are no parameters";
  many.a0 = param("first");
  many.f9 = param("last");
  EXPECT_EQ(pathsOf(many), (Paths{"a0", "f9"}));
}

TEST(Module, ModesBelow) {
  WithModes module;
  module.eval();
  EXPECT_FALSE(module.a.mode.training);
  EXPECT_FALSE(module.more[1].mode.training);
  module.train();
  EXPECT_TRUE(module.more[0].mode.training);
}

TEST(Module, VisitChangesParams) {
  Mlp model;
  model.visit([](const std::string &, sn::Param &p) { p.require_grad(false); });
  EXPECT_FALSE(model.fc1.weight.requires_grad());
  model.require_grad();
  EXPECT_TRUE(model.fc1.weight.requires_grad());
}

TEST(Module, MapMakesACopy) {
  Base model;
  Base doubled = model.map([](const std::string &path, const sn::Param &p) {
    EXPECT_EQ(path, "scale");
    return sn::Param(p.tensor() * 2, p.name());
  });
  EXPECT_EQ(model.scale.tensor().to_vector<float>(),
            (std::vector<float>{1, 1}));
  EXPECT_EQ(doubled.scale.tensor().to_vector<float>(),
            (std::vector<float>{2, 2}));
}

TEST(Module, MapAndToKeepTies) {
  Mlp model;
  model.fc2.weight = param("w", {8, 4});
  model.fc1.weight.tie(model.fc2.weight);
  EXPECT_EQ(model.num_params(), 8 * 4 + 8);
  Mlp copy = model.map([](auto &, const sn::Param &p) { return p; });
  EXPECT_EQ(copy.fc1.weight.cell(), copy.fc2.weight.cell());
  EXPECT_NE(copy.fc1.weight.cell(), model.fc1.weight.cell());
  Mlp moved = model.to("null");
  EXPECT_EQ(moved.fc1.weight.cell(), moved.fc2.weight.cell());
}

static Mlp tiedMlp() {
  Mlp model;
  model.fc2.weight = param("w", {8, 4});
  model.fc1.weight.tie(model.fc2.weight);
  return model;
}

static void expectTiedApart(const Mlp &copy, const Mlp &model) {
  EXPECT_EQ(copy.fc1.weight.cell(), copy.fc2.weight.cell());
  EXPECT_NE(copy.fc1.weight.cell(), model.fc1.weight.cell());
  EXPECT_NE(copy.fc1.bias.cell(), model.fc1.bias.cell());
  EXPECT_EQ(copy.fc1.weight.record_id(), model.fc1.weight.record_id());
  EXPECT_EQ(copy.num_params(), model.num_params());
}

TEST(Module, CopiesKeepTies) {
  Mlp model = tiedMlp();
  Mlp copy = model;
  expectTiedApart(copy, model);
  Mlp assigned;
  assigned = model;
  expectTiedApart(assigned, model);
  expectTiedApart(assigned, copy);
  // One update changes both in the copy, and nothing in the original.
  copy.fc1.weight.set(sn::full({8, 4}, 3.f));
  EXPECT_EQ(copy.fc2.weight.tensor().to_vector<float>()[0], 3);
  EXPECT_NE(model.fc2.weight.tensor().to_vector<float>()[0], 3);
  auto cell = copy.fc1.weight.cell();
  Mlp moved = std::move(copy);
  EXPECT_EQ(moved.fc1.weight.cell(), cell);
  EXPECT_EQ(moved.fc2.weight.cell(), cell);
  const Mlp &same = moved;
  moved = same;
  EXPECT_EQ(moved.fc1.weight.cell(), cell);
}

TEST(Module, CopiesKeepTiesAcrossNestedModules) {
  std::vector<Mlp> models{tiedMlp(), tiedMlp()};
  std::vector<Mlp> copies = models;
  expectTiedApart(copies[0], models[0]);
  EXPECT_NE(copies[0].fc1.weight.cell(), copies[1].fc1.weight.cell());

  Containers table;
  table.blocks[1].weight.tie(table.blocks[0].weight);
  table.two[1] = sn::Param();
  table.two[1].tie(table.two[0]);
  Containers copy = table;
  EXPECT_EQ(copy.blocks[1].weight.cell(), copy.blocks[0].weight.cell());
  EXPECT_NE(copy.blocks[1].bias.cell(), copy.blocks[0].bias.cell());
  EXPECT_EQ(copy.two[1].cell(), copy.two[0].cell());
  EXPECT_NE(copy.two[1].cell(), table.two[1].cell());
}

TEST(Module, ATiedCopyKeepsWhichOneTrains) {
  Mlp model = tiedMlp();
  model.fc1.weight.require_grad(false);
  Mlp copy = model;
  EXPECT_EQ(copy.fc1.weight.cell(), copy.fc2.weight.cell());
  EXPECT_FALSE(copy.fc1.weight.requires_grad());
  EXPECT_TRUE(copy.fc2.weight.requires_grad());
}

TEST(Module, ToMovesEverything) {
  WithTable model;
  WithTable moved = model.to("null");
  EXPECT_EQ(moved.layer.weight.device(), sn::device("null"));
  EXPECT_EQ(moved.table.device(), sn::device("null"));
  EXPECT_EQ(moved.layer.weight.tensor().to_vector<float>(),
            model.layer.weight.tensor().to_vector<float>());
  EXPECT_EQ(moved.layer.weight.record_id(), model.layer.weight.record_id());
}

TEST(Module, CallRecordsTheCallersLine) {
  Mlp model;
  sn::Tensor x = sn::zeros({1, 4});
  unsigned line = __LINE__ + 1;
  sn::Tensor y = model(x);
  std::string site = "ModuleTest.cpp:" + std::to_string(line);
  EXPECT_NE(y.explain().find(site), std::string::npos) << y.explain();
}
