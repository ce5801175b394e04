/// What is empty, by default or because it was moved from, answers every call
/// with an Error that names the call.
#include "sinter/data/Csv.h"

#include <sinter/sinter.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sn = sinter;

namespace {

struct Call {
  std::string name; ///< what the error says, at its beginning
  std::function<void()> make;
};

void expectErrors(const std::vector<Call> &calls) {
  for (const Call &call : calls) {
    SCOPED_TRACE(call.name);
    try {
      call.make();
      ADD_FAILURE() << "no error";
    } catch (const sn::Error &error) {
      EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
      EXPECT_TRUE(error.message().starts_with(call.name)) << error.message();
      EXPECT_NE(error.message().find("empty"), std::string::npos)
          << error.message();
    }
  }
}

/// An empty value of each way to become one.
template <typename T> std::vector<T> emptyOnes(T given) {
  std::vector<T> list(2);
  list[0] = given;
  T taken = std::move(list[0]);
  return list;
}

sn::Tensor vectorOf3() { return sn::tensor({1.0f, 2.0f, 3.0f}); }

} // namespace

TEST(Empty, TensorMethods) {
  std::vector<sn::Tensor> tensors = emptyOnes(vectorOf3());
  for (sn::Tensor &e : tensors) {
    EXPECT_FALSE(e.defined());
    EXPECT_EQ(e.explain(), "empty tensor");
    EXPECT_EQ(e.to_string(), "tensor()");
    sn::Tensor copy = e;
    EXPECT_FALSE(copy.defined());
    expectErrors({
        {"dtype", [&] { e.dtype(); }},
        {"device", [&] { e.device(); }},
        {"rank", [&] { e.rank(); }},
        {"numel", [&] { e.numel(); }},
        {"dim", [&] { e.dim(0); }},
        {"shape", [&] { e.shape(); }},
        {"requires_grad", [&] { e.requires_grad(); }},
        {"dynamic", [&] { e.dynamic(0); }},
        {"require_grad", [&] { e.require_grad(); }},
        {"eval", [&] { e.eval(); }},
        {"eval", [&] { sn::eval({e}); }},
        {"item", [&] { e.item<float>(); }},
        {"read", [&] { e.to_vector<float>(); }},
        {"read", [&] { e.to_vector<bool>(); }},
        {"backward", [&] { e.backward(); }},
        {"backward", [&] { e.backward(e); }},
        {"register_hook", [&] { e.register_hook([](const sn::Tensor &) {}); }},
        {"detach", [&] { e.detach(); }},
        {"retain_history", [&] { e.retain_history(); }},
        {"to", [&] { e.to(sn::DeviceId{}); }},
        {"to", [&] { e.to("cpu"); }},
        {"to", [&] { e.to(sn::DType::f64); }},
        {"sort", [&] { e.sort(); }},
        {"argsort", [&] { e.argsort(); }},
        {"sort", [&] { e.topk(1); }}, // which it is
        {"tensor", [&] { e.node(); }},
    });
  }
}

TEST(Empty, Operands) {
  sn::Tensor x = vectorOf3(), m = sn::full({2, 3}, 1.0f);
  std::vector<sn::Tensor> empties = emptyOnes(x);
  for (sn::Tensor &e : empties) {
    sn::Tensor to = x;
    expectErrors({
        {"add", [&] { e + x; }},
        {"add", [&] { x + e; }},
        {"sub", [&] { x - e; }},
        {"mul", [&] { 2 * e; }},
        {"div", [&] { e / 2; }},
        {"neg", [&] { -e; }},
        {"compare", [&] { static_cast<void>(e == x); }},
        {"compare", [&] { static_cast<void>(x < e); }},
        {"logical_and", [&] { static_cast<void>(e && x); }},
        {"logical_not", [&] { static_cast<void>(!e); }},
        {"add", [&] { to += e; }},
        {"add", [&] { e += x; }},
        {"exp", [&] { sn::exp(e); }},
        {"exp", [&] { e.exp(); }},
        {"pow", [&] { sn::pow(e, 2); }},
        {"sum", [&] { sn::sum(e); }},
        {"mean", [&] { sn::mean(e); }},
        {"var", [&] { sn::var(e); }},
        {"max", [&] { sn::max(e, 0); }},
        {"argmax", [&] { sn::argmax(e, 0); }},
        {"cumsum", [&] { sn::cumsum(e, 0); }},
        {"matmul", [&] { sn::matmul(e, x); }},
        {"matmul", [&] { sn::matmul(x, e); }},
        {"einsum", [&] { sn::einsum("i,i->", {x, e}); }},
        {"linear", [&] { sn::linear(e, m); }},
        {"dot", [&] { sn::dot(x, e); }},
        {"outer", [&] { sn::outer(e, x); }},
        {"reshape", [&] { sn::reshape(e, {3}); }},
        {"transpose", [&] { sn::transpose(e, {0}); }},
        {"broadcast", [&] { sn::broadcast(e, {2, 3}); }},
        {"flatten", [&] { sn::flatten(e); }},
        {"squeeze", [&] { sn::squeeze(e); }},
        {"unsqueeze", [&] { sn::unsqueeze(e, 0); }},
        {"concat", [&] { sn::concat({x, e}, 0); }},
        {"stack", [&] { sn::stack(std::vector{x, e}, 0); }},
        {"stack", [&] { sn::stack(std::vector{e, x}, 0); }},
        {"split", [&] { sn::split(e, 1); }},
        {"chunk", [&] { sn::chunk(e, 1); }},
        {"slice", [&] { sn::slice(e, {0}, {1}, {1}); }},
        {"gather", [&] { sn::gather(e, sn::tensor({0}), 0); }},
        {"gather", [&] { sn::gather(x, e, 0); }},
        {"where", [&] { sn::where(e, x, x); }},
        {"where", [&] { sn::where(x > 1, e, x); }},
        {"where", [&] { sn::masked_fill(x, e, 1); }},
        {"full", [&] { sn::full({2}, e); }},
        {"full_like", [&] { sn::full_like(e, 1); }},
        {"softmax", [&] { sn::softmax(e, 0); }},
        {"cast", [&] { sn::cast(e, sn::DType::f64); }},
        {"conv", [&] { sn::conv1d(e, e); }},
        {"max_pool", [&] { sn::max_pool1d(e, {2}); }},
        {"dropout", [&] { sn::dropout(e); }},
        {"bernoulli", [&] { sn::bernoulli(e); }},
        {"fft", [&] { sn::fft(e); }},
        {"pad", [&] { sn::pad(e, {1}, {5}, {0}, 0); }},
        {"searchsorted", [&] { sn::searchsorted(x, e); }},
        {"sort", [&] { sn::sort(e); }},
        {"tensor", [&] { sn::grad(e, std::vector{x}, {}); }},
    });
  }
}

TEST(Empty, Params) {
  std::vector<sn::Param> empties = emptyOnes(sn::Param(vectorOf3(), "p"));
  for (sn::Param &e : empties) {
    EXPECT_FALSE(e.defined());
    sn::Param copy = e, other(vectorOf3(), "q");
    EXPECT_FALSE(copy.defined());
    auto same = [](const sn::Tensor &x) { return x; };
    e.require_grad(true);
    expectErrors({
        {"name", [&] { static_cast<void>(e.name()); }},
        {"dtype", [&] { e.dtype(); }},
        {"device", [&] { e.device(); }},
        {"device", [&] { e.lazy_device(); }},
        {"shape", [&] { e.shape(); }},
        {"shape", [&] { e.rank(); }},
        {"shape", [&] { e.numel(); }},
        {"shape", [&] { e.lazy_shape(); }},
        {"requires_grad", [&] { e.requires_grad(); }},
        {"requires_grad", [&] { e.lazy_require_grad(); }},
        {"is_initialized", [&] { e.is_initialized(); }},
        {"tensor", [&] { e.tensor(); }},
        {"tensor", [&] { e + 1; }},
        {"tensor", [&] { sn::exp(e); }},
        {"set", [&] { e.set(vectorOf3()); }},
        {"set", [&] { other.set(sn::Tensor()); }},
        {"tie", [&] { other.tie(e); }},
        {"to", [&] { e.to(sn::DeviceId{}); }},
        {"cast", [&] { e.cast(sn::DType::f64); }},
        {"map", [&] { e.map(same); }},
        {"init_mapper", [&] { e.init_mapper(same); }},
        {"consume", [&] { e.consume(); }},
        {"pending", [&] { sn::Param::pending(e, vectorOf3()); }},
        {"parameter", [&] { sn::Param(sn::Tensor(), "r"); }},
    });
    e.tie(other);
    EXPECT_TRUE(e.defined());
  }
}

// NOLINTBEGIN(bugprone-use-after-move)
TEST(Empty, ModulesThatWereMovedFrom) {
  sn::nn::Linear layer(3, 2);
  sn::nn::Linear taken = std::move(layer);
  sn::Tensor x = sn::full({1, 3}, 1.0f);
  EXPECT_EQ(taken(x).numel(), 2);
  EXPECT_EQ(layer.num_params(), 0);
  expectErrors({{"tensor", [&] { layer(x); }}});
}

TEST(Empty, FunctionsThatWereMovedFrom) {
  auto square = sn::jit([](const sn::Tensor &x) { return x * x; });
  auto taken = std::move(square);
  EXPECT_EQ(taken(sn::tensor({3.0f})).item<float>(), 9);
  auto custom = sn::custom_gradient(
      [](auto inputs) { return inputs[0] * 2; },
      [](const sn::CustomContext &c) { return std::vector{c.gradient}; });
  auto moved = std::move(custom);
  sn::optim::Schedule schedule = sn::optim::step_lr({.step_size = 2});
  sn::optim::Schedule after = std::move(schedule);
  EXPECT_EQ(after(1.0, 0), 1.0);
  expectErrors({
      {"jit", [&] { square(vectorOf3()); }},
      {"custom_gradient", [&] { custom({vectorOf3()}); }},
      {"schedule", [&] { schedule(1.0, 0); }},
  });
}

TEST(Empty, Data) {
  sn::data::InMemory<int> items(std::vector<int>{1, 2});
  sn::data::Subset<sn::data::InMemory<int>> part(items, {1});
  sn::data::CsvDataset rows(sn::data::Table{{}, 1, 1, {0.5}});
  auto a = std::move(items);
  auto b = std::move(part);
  auto c = std::move(rows);
  EXPECT_EQ(a.size() + b.size() + c.size(), 4);
  sn::data::DataLoader loader(a, {.batch_size = 2},
                              [](const std::vector<int> &) { return 1; });
  auto first = loader.begin();
  auto second = std::move(first);
  EXPECT_EQ(*second, 1);
  expectErrors({
      {"size", [&] { items.size(); }},
      {"size", [&] { items.get(0); }},
      {"size", [&] { part.size(); }},
      {"size", [&] { part.get(0); }},
      {"indices", [&] { part.indices(); }},
      {"size", [&] { rows.size(); }},
      {"size", [&] { rows.get(0); }},
      {"columns", [&] { rows.columns(); }},
      {"operator*", [&] { *first; }},
      {"operator++", [&] { ++first; }},
  });
}

// NOLINTEND(bugprone-use-after-move)

TEST(Empty, WhatGoesWithoutAnything) {
  sn::HookHandle().remove();
  sn::Gradients gradients;
  EXPECT_EQ(gradients.find(vectorOf3()), nullptr);
  EXPECT_EQ(gradients.find(sn::Tensor()), nullptr);
  EXPECT_FALSE(gradients.remove(sn::Tensor()).defined());
}
