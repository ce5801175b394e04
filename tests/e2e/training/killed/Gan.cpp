/// Two networks with an optimizer each, which train against each other.
#include "tests/e2e/training/killed/Killed.h"

#include <sinter/sinter.h>

#include <cmath>

namespace killed {

namespace {

struct Net {
  sn::nn::Linear first, second;
  Net(int64_t from, int64_t to) : first(from, 16), second(16, to) {}
  sn::Tensor forward(const sn::Tensor &x) const {
    return second(sn::leaky_relu(first(x), 0.2));
  }
  SINTER_MODULE(Net, first, second)
};
struct Gan {
  Net generator{4, 2}, discriminator{2, 1};
  SINTER_MODULE(Gan, generator, discriminator)
};
struct Output {
  sn::Tensor loss;
  operator sn::metrics::LossInput() const { return {loss, {}}; }
};

/// Points of a ring.
std::vector<std::vector<float>> ring() {
  std::vector<std::vector<float>> all;
  for (int i = 0; i < 56; ++i)
    all.push_back({float(std::cos(0.3 * i)), float(std::sin(0.3 * i))});
  return all;
}

sn::Tensor judged(const Gan &gan, const sn::Tensor &points, bool isReal) {
  sn::Tensor scores = gan.discriminator(points);
  return sn::mean(sn::softplus(isReal ? -scores : scores));
}

} // namespace

void train_gan(const Flags &flags) {
  sn::train::LearnerOptions options = optionsOf(flags);
  Gan gan;
  sn::optim::Adam forger({.lr = 0.01, .beta1 = 0.5});
  sn::optim::Adam judge({.lr = 0.005, .beta1 = 0.5});
  sn::data::InMemory points(ring());
  sn::data::DataLoader loader(
      points, {.batch_size = 8, .sampler = sn::data::random_sampler(8)});
  auto step = [&](Gan &net, sn::Tensor &real, sn::train::Updates &update) {
    sn::Tensor noise = sn::normal({real.dim(0), 4});
    sn::Tensor forged = net.generator(noise);
    sn::Tensor caught =
        judged(net, real, true) + judged(net, forged.detach(), false);
    update(judge, net.discriminator, caught);
    sn::Tensor passed = judged(net, forged, true);
    update(forger, net.generator, passed);
    return Output{caught + passed};
  };
  sn::train::Learner learner(gan, forger, step, options);
  learner.schedule(sn::optim::step_lr({.step_size = 20, .gamma = 0.9}))
      .optimizer("judge", judge,
                 sn::optim::step_lr({.step_size = 30, .gamma = 0.8}));
  finish(flags, learner, loader);
  if (!flags.weights.empty())
    gan.save(flags.weights);
}

} // namespace killed
