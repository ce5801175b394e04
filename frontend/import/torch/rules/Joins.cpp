/// Tensors joined, and arranged in other ways.
#include "frontend/import/torch/rules/Rules.h"

namespace sinter::torch {

/// Vectors without elements have a part in any concatenation.
static void catRule(Call &call) {
  std::vector<Tensor> parts;
  DType dtype = call.outputDType();
  for (const Tensor &each : tensorList(call, "tensors")) {
    bool isNothing =
        each.rank() == 1 && each.dim(0).isConstant() && each.dim(0).value == 0;
    if (!isNothing)
      parts.push_back(each.to(dtype));
  }
  if (parts.empty()) {
    call.give(zeros({0}, {dtype, call.device()}));
    return;
  }
  std::vector<Arg> operands(parts.begin(), parts.end());
  call.give(concat(operands, call.axis("dim", parts[0].rank(), 0)));
}

static void stackRule(Call &call) {
  std::vector<Tensor> parts = tensorList(call, "tensors");
  if (parts.empty())
    call.invalid("no tensors");
  for (Tensor &each : parts)
    each = each.to(call.outputDType());
  call.give(stack(parts, call.axis("dim", parts[0].rank() + 1, 0)));
}

static void flipRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> axes = call.integers("dims");
  for (int64_t &axis : axes)
    axis = call.axisOf(axis, x.rank());
  call.give(axes.empty() ? x : flip(x, axes));
}

static void rollRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> shifts = call.integers("shifts"),
                       axes = call.integers("dims");
  if (!axes.empty()) {
    call.give(roll(x, shifts, axes));
    return;
  }
  call.give(reshape(roll(flatten(x), shifts, 0), x.shape()));
}

static void trilRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(tril(x, call.integer("diagonal", 0)).to(x.dtype()));
}
static void triuRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(triu(x, call.integer("diagonal", 0)).to(x.dtype()));
}

static void diagRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t offset = call.integer("diagonal", 0);
  call.give(x.rank() == 1 ? diag_embed(x, offset) : diagonal(x, offset));
}
static void diagEmbedRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t rank = x.rank() + 1, rows = call.axis("dim1", rank, -2),
          columns = call.axis("dim2", rank, -1);
  if (x.rank() == 0 || rows == columns)
    call.invalid("a diagonal of one axis");
  Tensor found = diag_embed(x, call.integer("offset", 0));
  bool isLast = rows == rank - 2 && columns == rank - 1;
  call.give(isLast ? found
                   : movedim(found, {rank - 2, rank - 1}, {rows, columns}));
}

static void meshgridRule(Call &call) {
  std::vector<Value> all;
  for (Tensor &each : meshgrid(tensorList(call, "tensors"),
                               call.text("indexing", "ij") == "xy"))
    all.emplace_back(std::move(each));
  call.give(Value::ofList(std::move(all)));
}

static void broadcastTensorsRule(Call &call) {
  std::vector<Tensor> tensors = tensorList(call, "tensors");
  if (tensors.empty())
    call.invalid("no tensors");
  // What they broadcast to together.
  Tensor all = zeros(tensors[0].shape(), {DType::f32, call.device()});
  for (const Tensor &each : tensors)
    all = all + zeros(each.shape(), {DType::f32, call.device()});
  std::vector<Value> results;
  for (const Tensor &each : tensors)
    results.emplace_back(expand(each, all.shape()));
  call.give(Value::ofList(std::move(results)));
}

static void pixelShuffleRule(Call &call) {
  call.give(pixel_shuffle(call.tensor("self"), call.integer("upscale_factor")));
}
static void pixelUnshuffleRule(Call &call) {
  call.give(
      pixel_unshuffle(call.tensor("self"), call.integer("downscale_factor")));
}

/// Groups of channels, exchanged with the places in them.
static void channelShuffleRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t groups = call.integer("groups");
  if (x.rank() < 3 || groups < 1)
    call.invalid("groups of channels");
  Dims apart = x.shape();
  apart[1] = Dim(fixed(x.dim(1)) / groups);
  apart.insert(apart.begin() + 1, Dim(groups));
  call.give(reshape(swapaxes(reshape(x, apart), 1, 2), x.shape()));
}

static constexpr Operator rows[] = {
    {"aten.cat.default", catRule},
    {"aten.concat.default", catRule},
    {"aten.stack.default", stackRule},
    {"aten.flip.default", flipRule},
    {"aten.roll.default", rollRule},
    {"aten.tril.default", trilRule},
    {"aten.triu.default", triuRule},
    {"aten.diag.default", diagRule},
    {"aten.diag_embed.default", diagEmbedRule},
    {"aten.meshgrid.default", meshgridRule},
    {"aten.meshgrid.indexing", meshgridRule},
    {"aten.broadcast_tensors.default", broadcastTensorsRule},
    {"aten.pixel_shuffle.default", pixelShuffleRule},
    {"aten.pixel_unshuffle.default", pixelUnshuffleRule},
    {"aten.channel_shuffle.default", channelShuffleRule},
};

std::span<const Operator> joinRows() { return rows; }

} // namespace sinter::torch
