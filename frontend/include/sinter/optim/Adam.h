/// Adam and its kin: steps scaled by running means of the gradient and of its
/// size.
#pragma once

#include <sinter/optim/Optimizer.h>

namespace sinter::optim {

struct AdamOptions {
  double lr = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0; ///< added to the gradient, times the parameter
  bool amsgrad = false;    ///< scales by the largest mean of squares so far
  bool maximize = false;
};

/// What is out of range is an error: rates, eps and decays are not negative,
/// betas in [0, 1). So it is with every optimizer here.
///
/// Kingma and Ba's Adam with bias correction, as PyTorch's. Every number is an
/// argument of the program; bias corrections are computed on the host.
class Adam : public Optimizer {
public:
  explicit Adam(const AdamOptions &options = {},
                Where where = Where::current());

protected:
  /// Whether the parameter decays by itself, not through the gradient.
  enum class Decay : uint8_t { gradient, parameter };
  Adam(std::string kind, const AdamOptions &options, Decay decay, Where where);
  Tensor record(Update &update) override;

private:
  AdamOptions options;
  Decay decay;
};

struct AdamWOptions {
  double lr = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01; ///< the parameter loses lr times this part
  bool amsgrad = false;
  bool maximize = false;
};

/// Adam with decoupled weight decay.
class AdamW : public Adam {
public:
  explicit AdamW(const AdamWOptions &options = {},
                 Where where = Where::current());
};

struct AdamaxOptions {
  double lr = 0.002;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
};

/// Adam scaled by the largest gradient, which fades by beta2.
class Adamax : public Optimizer {
public:
  explicit Adamax(const AdamaxOptions &options = {},
                  Where where = Where::current());

protected:
  Tensor record(Update &update) override;

private:
  AdamaxOptions options;
};

struct NAdamOptions {
  double lr = 0.002;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 0.004;
  bool maximize = false;
  /// Whether the correction of the next momentum holds the present one twice,
  /// as in PyTorch before 2.0: to go on with a training from there.
  bool repeats_momentum = false;
};

/// Adam with Nesterov's momentum.
class NAdam : public Optimizer {
public:
  explicit NAdam(const NAdamOptions &options = {},
                 Where where = Where::current());

protected:
  bool countsOnDevice() const override { return false; }
  Tensor record(Update &update) override;

private:
  double momentumAt(int64_t step) const;
  double momentumProduct(int64_t step);

  NAdamOptions options;
  std::vector<double> products{1}; ///< of the momenta of the first steps
};

struct RAdamOptions {
  double lr = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
};

/// Adam whose first steps, which know too little of the squares, are plain.
class RAdam : public Optimizer {
public:
  explicit RAdam(const RAdamOptions &options = {},
                 Where where = Where::current());

protected:
  bool countsOnDevice() const override { return false; }
  Tensor record(Update &update) override;

private:
  RAdamOptions options;
};

} // namespace sinter::optim
