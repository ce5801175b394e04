/// A matmul with bias and ReLU in CUDA C++ and GLSL, as an op with a gradient.
#include <sinter/sinter.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace sn = sinter;

/// x [rows, depth], w [depth, columns], b [columns]; IN0 is x.
static const char *source = R"(
extern "C" __global__ void matmul_add_relu(const IN0_TYPE *x,
                                           const IN1_TYPE *w,
                                           const IN2_TYPE *b, OUT_TYPE *y) {
  long long column = blockIdx.x * blockDim.x + threadIdx.x;
  long long row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= OUT_DIM0 || column >= OUT_DIM1)
    return;
  OUT_TYPE sum = b[column];
  for (long long k = 0; k < IN0_DIM1; ++k)
    sum += x[row * IN0_DIM1 + k] * w[k * OUT_DIM1 + column];
  y[row * OUT_DIM1 + column] = sum > 0 ? sum : 0;
}
)";

/// The same for Vulkan. The tensors are arrays by their names.
static const char *glsl = R"(
layout(local_size_x = BLOCK_X, local_size_y = BLOCK_Y) in;

void main() {
  uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
  if (row >= OUT_DIM0 || column >= OUT_DIM1)
    return;
  OUT_TYPE sum = IN2[column];
  for (uint k = 0; k < IN0_DIM1; ++k)
    sum += IN0[row * IN0_DIM1 + k] * IN1[k * OUT_DIM1 + column];
  OUT[row * OUT_DIM1 + column] = max(sum, 0);
}
)";

static sn::KernelLaunch launchOf(std::span<const sn::Tensor> inputs) {
  constexpr int64_t tile = 16;
  int64_t rows = inputs[0].dim(0).value, columns = inputs[1].dim(1).value;
  return {.dtype = inputs[0].dtype(),
          .shape = {rows, columns},
          .grid = {(columns + tile - 1) / tile, (rows + tile - 1) / tile},
          .block = {tile, tile}};
}

/// Where the result is 0, nothing flows back.
static std::vector<sn::Tensor> gradientOf(const sn::CustomContext &c) {
  sn::Tensor flows = sn::where(c.result > 0, c.gradient, 0.f);
  return {sn::matmul(flows, sn::transpose(c.inputs[1], {1, 0})),
          sn::matmul(sn::transpose(c.inputs[0], {1, 0}), flows),
          sn::sum(flows, {0})};
}

static bool agree(const char *what, const sn::Tensor &a, const sn::Tensor &b) {
  float difference = sn::amax(sn::abs(a - b)).item<float>();
  std::printf("%s: at most %g apart\n", what, difference);
  return difference < 1e-4f;
}

int main() try {
  if (!std::getenv("SINTER_DEVICE"))
    sn::set_default_device("cuda:0");
  auto matmulAddRelu = sn::custom_op({.source = source,
                                      .glsl = glsl,
                                      .function = "matmul_add_relu",
                                      .launch = launchOf,
                                      .gradient = gradientOf});

  sn::Tensor x = sn::normal({100, 64}).require_grad();
  sn::Tensor w = sn::normal({64, 40}).require_grad();
  sn::Tensor b = sn::normal({40}).require_grad();

  // Before and behind it, ops fuse as always.
  sn::Tensor own = matmulAddRelu({sn::sigmoid(x), w, b});
  sn::Tensor built = sn::relu(sn::matmul(sn::sigmoid(x), w) + b);
  auto ownGradients = sn::mean(own * own).backward();
  auto builtGradients = sn::mean(built * built).backward();

  bool same = agree("results", own, built);
  for (const sn::Tensor &each : {x, w, b})
    same &= agree("gradients", ownGradients[each], builtGradients[each]);
  std::cout << (same ? "the gradients agree\n" : "they do not agree\n");
  return same ? 0 : 1;
} catch (const sn::Error &error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
