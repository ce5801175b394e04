/// What is read of a Param, and what is printed of it.
#include "tests/unit/adapt/AdaptCase.h"

#include <sinter/optim/Sgd.h>

#include <sstream>

namespace sn = sinter;

namespace {

/// A weight as its direction times a length for each row, as PyTorch's
/// weight_norm.
class WeightNorm : public sn::Parametrization {
public:
  explicit WeightNorm(const sn::Param &weight) {
    parts.emplace_back(
        "length", sn::Param(lengths(weight.own_value()).detach(), "length"));
  }
  std::string kind() const override { return "weight_norm"; }
  std::shared_ptr<sn::Parametrization> copy() const override {
    return std::make_shared<WeightNorm>(*this);
  }
  sn::Tensor value(const sn::Tensor &own, Where) const override {
    return own / lengths(own) * parts[0].second;
  }

private:
  static sn::Tensor lengths(const sn::Tensor &weight) {
    return sn::sqrt(sn::sum(weight * weight, {1}, true));
  }
};

} // namespace

TEST(Parametrization, TrainsBothPartsOfAWeight) {
  sn::nn::Linear model(4, 3);
  sn::Tensor x = waves({5, 4}, 0.3);
  std::vector<float> before = model(x).to_vector<float>();
  model.weight.parametrize(std::make_shared<WeightNorm>(model.weight));
  expectNear(model(x), sn::tensor(before, {5, 3}), 1e-6);
  sn::Gradients gradients = sn::mean(model(x)).backward();
  EXPECT_EQ(gradients.size(), 3u);
  // The weight's own gradient does not change its length.
  sn::Tensor along =
      sn::sum(gradients(model.weight) * model.weight.own_value());
  EXPECT_NEAR(along.item<float>(), 0, 1e-6);
  sn::optim::Sgd sgd({.lr = 0.1});
  sgd.step(model, std::move(gradients));
  EXPECT_NE(model(x).to_vector<float>(), before);
  sn::nn::Linear copy = model;
  expectNear(copy(x), model(x), 0);
  EXPECT_NE(copy.weight.parametrization(), model.weight.parametrization());
}

TEST(Parametrization, OneForAParam) {
  sn::nn::Linear model(4, 3);
  auto norm = std::make_shared<WeightNorm>(model.weight);
  model.weight.parametrize(norm);
  expectRejected("parametrize", "already: weight_norm",
                 [&] { model.weight.parametrize(norm); });
  expectRejected("consume", "parametrization", [&] { model.weight.consume(); });
  model.weight.parametrize({});
  EXPECT_EQ(namesOf(model), (std::vector<std::string>{"weight", "bias"}));
}

TEST(Parametrization, TiedParamsKeepTheirOwn) {
  struct {
    sn::Param a{sn::ones({2, 2}), "a"}, b;
  } both;
  both.b.tie(both.a);
  both.a.parametrize(std::make_shared<WeightNorm>(both.a));
  both.a.parametrization()->parts[0].second.set(sn::full({2, 1}, 5.0));
  EXPECT_EQ(both.b.tensor().to_vector<float>()[0], 1);
  EXPECT_NEAR(both.a.tensor().to_vector<float>()[0], 5 / std::sqrt(2.0), 1e-5);
}

/// What is printed of a parameter: its id, and which mappers of files it has.
TEST(Param, IsPrintedByItsIdAndItsMappersFlags) {
  sn::Param param("weight", {3, 4}, sn::init::ones());
  param.set_record_id(0x1234);
  auto text = [](const auto &value) {
    std::ostringstream stream;
    stream << value;
    return stream.str();
  };
  EXPECT_EQ(text(param), "Param: 0000000000001234");
  EXPECT_EQ(text(param.mapper()), "ParamMapper { load: false, save: false }");
  auto same = [](const sn::Tensor &value) { return value; };
  EXPECT_EQ(text(param.load_mapper(same).mapper()),
            "ParamMapper { load: true, save: false }");
  EXPECT_EQ(text(param.save_mapper(same).mapper()),
            "ParamMapper { load: false, save: true }");
  EXPECT_EQ(describe(param),
            "Param: 0000000000001234 'weight' f32[3,4] on " +
                toString(param.device()) +
                ", trained, ParamMapper { load: false, save: false }");
  param.require_grad(false);
  EXPECT_NE(describe(param).find(", frozen, "), std::string::npos);
  EXPECT_FALSE(param.is_initialized()); // printing made no value
  EXPECT_EQ(describe(sn::Param()), "Param: empty");
}
