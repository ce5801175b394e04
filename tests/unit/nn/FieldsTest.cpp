/// Fields behind pointers and in containers, fields that are left out, and
/// constants.
#include "tests/unit/nn/Modules.h"

#include <deque>
#include <filesystem>
#include <list>
#include <memory>
#include <unistd.h>
#include <unordered_map>
#include <variant>

namespace sn = sinter;
using sn::nn::Linear;

namespace {

using Names = std::vector<std::string>;
using Values = std::vector<float>;

Values valuesOf(const sn::Param &param) {
  return param.tensor().to_vector<float>();
}

struct Shared {
  std::shared_ptr<Linear> p = std::make_shared<Linear>(2, 2);
  std::shared_ptr<Linear> again = p;
  std::shared_ptr<const Linear> none;
  sn::Tensor forward(const sn::Tensor &x) const { return (*again)((*p)(x)); }
  SINTER_MODULE(Shared, p, again, none)
};

struct TiedToShared {
  Linear own{2, 2};
  Shared shared;
  SINTER_MODULE(TiedToShared, own, shared)
};

struct Owner {
  std::unique_ptr<Linear> p = std::make_unique<Linear>(2, 2);
  std::vector<std::unique_ptr<Linear>> more;
  sn::Tensor forward(const sn::Tensor &x) const { return (*p)(x); }
  SINTER_MODULE(Owner, p, more)
};

enum class Side : uint8_t { left, right };
struct Containers {
  std::deque<Linear> deque = {Linear(1, 1, {.bias = false})};
  std::list<Linear> list = {Linear(1, 1, {.bias = false})};
  Linear array[2] = {Linear(1, 1, {.bias = false}),
                     Linear(1, 1, {.bias = false})};
  std::map<int, Linear> byNumber = {{-3, Linear(1, 1, {.bias = false})}};
  std::map<Side, Linear> bySide = {
      {Side::right, Linear(1, 1, {.bias = false})}};
  std::unordered_map<std::string, Linear> unordered = {
      {"b", Linear(1, 1, {.bias = false})},
      {"a", Linear(1, 1, {.bias = false})}};
  std::variant<int, Linear> either = Linear(1, 1, {.bias = false});
  SINTER_MODULE(Containers, deque, list, array, byNumber, bySide, unordered,
                either)
};

/// A tree of itself.
struct Node {
  Linear own{1, 1, {.bias = false}};
  std::shared_ptr<Node> next;
  SINTER_MODULE(Node, own, next)
};

/// With a constructor, it is no aggregate: what is left out shows at run time.
class Forgot {
public:
  explicit Forgot(int64_t size) : a(4, size), b(size, 2) {}
  Linear a, b;
  sn::Tensor forward(const sn::Tensor &x) const { return b(a(x)); }
  SINTER_MODULE(Forgot, a)
};

struct Meant {
  Linear own{4, 2}, frozen{4, 2};
  std::vector<Linear> probes = {Linear(2, 2)};
  sn::nn::Dropout dropout;
  sn::Tensor forward(const sn::Tensor &x) const { return own(x) + frozen(x); }
  SINTER_MODULE(Meant, own)
  SINTER_NOT_A_FIELD(frozen, probes, dropout)
};

class MeantClass {
public:
  MeantClass() : own(4, 2), frozen(4, 2) {}

private:
  Linear own, frozen;

public:
  SINTER_NOT_A_FIELD(frozen)
  SINTER_MODULE(MeantClass, own)
};

struct Animal {
  virtual ~Animal() = default;
  Linear legs{1, 1};
  SINTER_MODULE(Animal, legs)
};
struct Bird : Animal {
  Linear wings{1, 1};
};
struct Zoo {
  std::shared_ptr<Animal> animal;
  SINTER_MODULE(Zoo, animal)
};

/// Numbers, strings and modules without parameters need not be named.
struct Plain {
  Linear a{2, 2};
  int64_t heads = 4;
  std::string label = "x";
  sn::nn::MSELoss loss;
  sn::Tensor mask;
  std::vector<double> rates = {1, 2};
  int64_t sizes[3] = {1, 2, 3};
  std::function<sn::Tensor(sn::Tensor)> hook;
  SINTER_MODULE(Plain, a)
};

class FieldsFile : public testing::Test {
protected:
  void TearDown() override { std::filesystem::remove(path); }
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-fields-" + std::to_string(::getpid()));
};

// How the fields of aggregates are counted.
namespace detail = sinter::detail;
static_assert(detail::countStateFields<Shared>() == 3);
static_assert(detail::countStateFields<Owner>() == 2);
static_assert(detail::countStateFields<Meant>() == 4);
static_assert(detail::countStateFields<Plain>() == 1);
static_assert(detail::countStateFields<Zoo>() == 1);
static_assert(!detail::holdsState<sn::nn::MSELoss>());
static_assert(detail::holdsState<sn::nn::Dropout>(), "its mode");
static_assert(detail::holdsState<std::optional<std::vector<Linear>>>());
static_assert(!detail::holdsState<std::vector<sn::Tensor>>());
static_assert(!detail::holdsState<sn::nn::GELU>());
struct Loose {
  int number;
  Linear layer{1, 1};
};
static_assert(detail::hidesState<Loose>(), "a class that is no module");
static_assert(detail::hidesState<Linear *>());
static_assert(!detail::hidesState<std::string>());
static_assert(!detail::hidesState<sn::ConvOptions>());

} // namespace

TEST(Fields, WhatASharedPointerLeadsToIsTiedParameters) {
  Shared model;
  EXPECT_EQ(namesOf(model),
            (Names{"p.weight", "p.bias", "again.weight", "again.bias"}));
  EXPECT_EQ(model.num_params(), 6);
  Values before = valuesOf(model.p->weight);
  sn::optim::Sgd sgd({.lr = 0.1});
  sgd.step(model, sn::sum(model(sn::ones({1, 2}))).backward());
  EXPECT_NE(valuesOf(model.p->weight), before) << "trained";
}

TEST(Fields, CopiesShareAndChangedCopiesDoNot) {
  Shared model;
  Shared copy = model;
  EXPECT_EQ(copy.p, model.p);
  Values before = valuesOf(model.p->weight);
  Shared mapped = model.map([](const std::string &, const sn::Param &param) {
    return param.map([](const sn::Tensor &x) { return x + 1; });
  });
  EXPECT_NE(mapped.p, model.p);
  EXPECT_EQ(mapped.p, mapped.again) << "what was one stays one";
  EXPECT_EQ(mapped.num_params(), 6);
  EXPECT_EQ(valuesOf(model.p->weight), before);
  EXPECT_NE(valuesOf(mapped.p->weight), before);
  Shared valid = model.valid();
  EXPECT_FALSE(valid.p->weight.requires_grad());
  EXPECT_TRUE(model.p->weight.requires_grad());
  Shared wide = model.cast(sn::DType::f64);
  EXPECT_EQ(wide.p->weight.dtype(), sn::DType::f64);
  EXPECT_EQ(model.p->weight.dtype(), sn::DType::f32);
}

TEST(Fields, TiesToWhatIsSharedAreKept) {
  TiedToShared model;
  model.own.weight.tie(model.shared.p->weight);
  TiedToShared copy = model;
  EXPECT_EQ(copy.own.weight.cell(), model.own.weight.cell())
      << "tied to what both share";
  TiedToShared valid = model.valid();
  EXPECT_EQ(valid.own.weight.cell(), valid.shared.p->weight.cell());
  EXPECT_NE(valid.own.weight.cell(), model.own.weight.cell());
  EXPECT_EQ(valid.num_params(), model.num_params());
  TiedToShared moved = std::move(copy).cast(sn::DType::f64);
  EXPECT_EQ(moved.own.weight.cell(), moved.shared.p->weight.cell());
  EXPECT_EQ(model.own.weight.dtype(), sn::DType::f32);
}

TEST(Fields, AUniquePointerIsAFieldOfAModuleThatMoves) {
  Owner model;
  model.more.push_back(
      std::make_unique<Linear>(3, 3, sn::nn::LinearOptions{.bias = false}));
  EXPECT_EQ(namesOf(model), (Names{"p.weight", "p.bias", "more.0.weight"}));
  Values before = valuesOf(model.p->weight);
  Owner wide = std::move(model).cast(sn::DType::f64);
  EXPECT_EQ(wide.p->weight.dtype(), sn::DType::f64);
  EXPECT_EQ(valuesOf(wide.p->weight), before);
  Owner there = std::move(wide).to(sn::toString(sn::default_device()));
  EXPECT_EQ(there.num_params(), 15);
  Owner valid = std::move(there).valid();
  EXPECT_FALSE(valid.p->weight.requires_grad());
  static_assert(!std::is_copy_constructible_v<Owner>);
}

TEST(Fields, ContainersOfEveryKind) {
  Containers model;
  EXPECT_EQ(
      namesOf(model),
      (Names{"deque.0.weight", "list.0.weight", "array.0.weight",
             "array.1.weight", "byNumber.-3.weight", "bySide.1.weight",
             "unordered.a.weight", "unordered.b.weight", "either.weight"}));
  model.either = 3;
  EXPECT_EQ(namesOf(model).size(), 8u);
  Containers copy = model.map(
      [](const std::string &, const sn::Param &param) { return param; });
  EXPECT_EQ(namesOf(copy), namesOf(model));
}

TEST(Fields, PointersThatLeadBackAreWalkedOnce) {
  Node ring;
  ring.next = std::make_shared<Node>();
  ring.next->next = ring.next;
  EXPECT_EQ(namesOf(ring), (Names{"own.weight", "next.own.weight"}));
  ring.next->next = nullptr;
}

TEST(Fields, AForgottenFieldIsAnErrorOfTheFirstUse) {
  Forgot model(8);
  sn::Tensor y = model(sn::ones({1, 4}));
  sn::optim::Sgd sgd({.lr = 0.1});
  std::vector<std::function<void()>> uses = {
      [&] { sgd.step(model, sn::sum(y).backward()); },
      [&] { namesOf(model); },
      [&] { model.num_params(); },
      [&] { model.save("nowhere"); },
      [&] { model.valid(); },
  };
  for (const auto &use : uses) {
    try {
      use();
      ADD_FAILURE() << "accepted";
    } catch (const sn::Error &error) {
      std::string what = error.what();
      for (const char *part : {"Forgot holds the parameter 'weight' f32[2,8]",
                               "behind 'a.bias'", "SINTER_NOT_A_FIELD"})
        EXPECT_NE(what.find(part), std::string::npos) << what;
    }
  }
  std::vector<Forgot> inside;
  inside.emplace_back(3);
  EXPECT_THROW(sgd.step(inside, sn::sum(y).backward()), sn::Error);
}

TEST(Fields, WhatIsLeftOutOnPurposeIsLeftAlone) {
  Meant model;
  EXPECT_EQ(namesOf(model), (Names{"own.weight", "own.bias"}));
  Values before = valuesOf(model.frozen.weight);
  sn::optim::Sgd sgd({.lr = 0.1});
  sgd.step(model, sn::sum(model(sn::ones({1, 4}))).backward());
  EXPECT_EQ(valuesOf(model.frozen.weight), before);
  EXPECT_EQ(namesOf(MeantClass()).size(), 2u);
  EXPECT_EQ(namesOf(std::vector<Meant>(2)[1]).size(), 2u);
  EXPECT_EQ(namesOf(Plain()).size(), 2u);
}

TEST(Fields, ABaseThatHidesItsDerivedClassIsAnError) {
  Zoo zoo{std::make_shared<Animal>()};
  EXPECT_EQ(zoo.num_params(), 2);
  zoo.animal = std::make_shared<Bird>();
  try {
    zoo.num_params();
    ADD_FAILURE() << "accepted";
  } catch (const sn::Error &error) {
    EXPECT_NE(std::string(error.what()).find("Bird"), std::string::npos);
  }
}

TEST(Fields, JitRecordsOnCopiesOfWhatIsShared) {
  Shared model;
  auto call = sn::jit(
      [](const Shared &given, const sn::Tensor &x) { return given(x); });
  sn::Tensor x = sn::ones({1, 2});
  Values want = model(x).to_vector<float>();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(call(model, x).to_vector<float>(), want);
  EXPECT_EQ(model.p, model.again);
  EXPECT_EQ(model(x).to_vector<float>(), want);
}

TEST_F(FieldsFile, SharedModulesAreSavedAndLoaded) {
  Shared model, other;
  model.save(path);
  EXPECT_NE(valuesOf(other.p->weight), valuesOf(model.p->weight));
  other.load(path);
  EXPECT_EQ(valuesOf(other.p->weight), valuesOf(model.p->weight));
  EXPECT_EQ(other.p, other.again);
}
