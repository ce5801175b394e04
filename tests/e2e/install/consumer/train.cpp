/// Learns when exactly one of two bits is set, prints what it learned, and
/// writes that as a model file where one is named.
#include <sinter/sinter.h>

#include <cmath>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <utility>
#include <vector>

namespace sn = sinter;

struct Mlp {
  sn::nn::Linear hidden{2, 16}, out{16, 1};
  sn::Tensor forward(const sn::Tensor &x) const {
    return out(sn::tanh(hidden(x)));
  }
  SINTER_MODULE(Mlp, hidden, out)
};

int main(int argc, char **argv) try {
  sn::manual_seed(7);
  sn::Tensor bits =
      sn::tensor({{0.f, 0.f}, {0.f, 1.f}, {1.f, 0.f}, {1.f, 1.f}});
  const std::vector<float> wanted = {0.f, 1.f, 1.f, 0.f};
  sn::Tensor target = sn::tensor({{0.f}, {1.f}, {1.f}, {0.f}});

  Mlp model;
  sn::optim::Adam adam({.lr = 0.05});
  float loss = 0;
  for (int step = 0; step < 200; ++step) {
    sn::Tensor error = model.forward(bits) - target;
    sn::Tensor mean = sn::mean(error * error);
    sn::Gradients gradients = mean.backward();
    adam.step(model, std::move(gradients));
    loss = mean.item<float>();
  }

  std::vector<float> learned = model.forward(bits).to_vector<float>();
  bool right = learned.size() == wanted.size();
  for (size_t i = 0; right && i < wanted.size(); ++i)
    right = std::abs(learned[i] - wanted[i]) < 0.2f;
  std::cout << "sinter " << SINTER_VERSION << ": loss " << loss << ", "
            << (right ? "learned" : "not learned");
  for (float value : learned)
    std::cout << " " << std::setprecision(9) << value;
  std::cout << "\n";
  if (argc > 1)
    sn::export_model(argv[1], model, bits,
                     {.inputs = {"bits"}, .dynamic = {"bits:0=n"}});
  return right ? 0 : 1;
} catch (const sn::Error &error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
