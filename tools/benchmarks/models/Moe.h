/// Moe: a feed-forward layer of several experts, of which each token goes to
/// two; an expert takes as many as it has places.
#pragma once

#include <sinter/sinter.h>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct Moe {
  static constexpr int64_t chosen = 2; ///< experts of a token
  int64_t experts;
  sn::Param router, experts1, experts2;
  Moe(int64_t size, int64_t hidden, int64_t experts)
      : experts(experts), router("router", {size, experts}, sn::init::zeros()),
        experts1("experts1", {experts, size, hidden}, sn::init::zeros()),
        experts2("experts2", {experts, hidden, size}, sn::init::zeros()) {}

  /// x [token, size].
  Tensor forward(const Tensor &x) const {
    int64_t tokens = x.dim(0).value, size = x.dim(1).value;
    int64_t places = tokens * chosen * 5 / (experts * 4);
    // Who is chosen is decided in f32, whatever the layer computes in.
    Tensor scores =
        sn::matmul(x.to(sn::DType::f32), router.tensor().to(sn::DType::f32));
    sn::Sorted best = sn::topk(sn::softmax(scores, -1), chosen);
    Tensor share = best.values / sn::sum(best.values, -1, true);

    // The how manieth of its expert's tokens each is.
    Tensor expert = sn::flatten(best.indices);
    Tensor mine = sn::one_hot(expert, experts);
    Tensor place = sn::sum((sn::cumsum(mine, 0) - 1) * mine, -1);
    // Who finds no place goes to one behind all, which stays 0.
    Tensor target =
        sn::where(place < places, expert * places + place, experts * places);

    Tensor token = sn::repeat_interleave(x, chosen, 0);
    Tensor sent = sn::index_add(
        sn::zeros({experts * places + 1, size}, {x.dtype(), x.device()}), 0,
        target, token);
    Tensor taken = sn::reshape(sn::narrow(sent, 0, 0, experts * places),
                               {experts, places, size});
    Tensor made = sn::matmul(sn::gelu(sn::matmul(taken, experts1)), experts2);
    Tensor all = sn::concat({sn::reshape(made, {experts * places, size}),
                             sn::zeros({1, size}, {x.dtype(), x.device()})},
                            0);
    Tensor back =
        sn::reshape(sn::index_select(all, target, 0), {tokens, chosen, size});
    return sn::sum(back * sn::unsqueeze(share, -1).to(x.dtype()), 1);
  }
  SINTER_MODULE(Moe, router, experts1, experts2)
};

} // namespace models
