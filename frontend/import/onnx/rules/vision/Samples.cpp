/// Images at any places.
#include "frontend/import/onnx/rules/Rules.h"

#include <sinter/Resample.h>
#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

namespace sinter::onnx {

static GridSampleOptions optionsOf(Call &call) {
  std::string mode = call.text("mode"), padding = call.text("padding_mode");
  GridSampleOptions options;
  options.align_corners = call.flag("align_corners");
  if (mode == "nearest")
    options.mode = Interpolation::nearest;
  else if (mode == "cubic" || mode == "bicubic")
    options.mode = Interpolation::cubic;
  else if (mode != "linear" && mode != "bilinear")
    call.invalid("mode '" + mode + "'");
  if (padding == "border")
    options.padding = GridPadding::border;
  else if (padding == "reflection")
    options.padding = GridPadding::reflection;
  else if (padding != "zeros")
    call.invalid("padding_mode '" + padding + "'");
  return options;
}

//===- Volumes ------------------------------------------------------------===//

namespace {

/// One volume [n, c, d, h, w] that is sampled: its elements, and the sum so
/// far.
struct Volume {
  Tensor elements; ///< [n, c, d * h * w]
  std::vector<int64_t> dims;
  int64_t places; ///< of one image of the grid
};

/// The places along one axis [n, places], and with which weight.
struct AxisPlace {
  Tensor index, weight;
};

} // namespace

/// Where -1 to 1 stand along an axis of `size` elements.
static Tensor unnormalized(const Tensor &at, int64_t size,
                           const GridSampleOptions &options) {
  Tensor place = options.align_corners
                     ? (at + 1.0) * (double(size - 1) / 2)
                     : ((at + 1.0) * double(size) - 1.0) / 2.0;
  return options.padding == GridPadding::border
             ? clamp(place, 0.0, double(size - 1))
             : place;
}

/// The element below a place and the one above it, or the nearest one. What is
/// outside weighs nothing.
static std::vector<AxisPlace> placesAlong(const Tensor &place, int64_t size,
                                          const GridSampleOptions &options) {
  std::vector<AxisPlace> places;
  auto add = [&](const Tensor &at, const Tensor &weight) {
    Tensor inside = logical_and(at >= 0.0, at <= double(size - 1));
    places.push_back({clamp(at, 0.0, double(size - 1)).to(DType::i64),
                      where(inside, weight, zeros_like(weight))});
  };
  if (options.mode == Interpolation::nearest) {
    add(round(place), ones_like(place));
    return places;
  }
  Tensor below = floor(place), part = place - below;
  add(below, 1.0 - part);
  add(below + 1.0, part);
  return places;
}

static Tensor sampledAt(const Volume &volume, const AxisPlace &d,
                        const AxisPlace &h, const AxisPlace &w) {
  Tensor flat = (d.index * volume.dims[3] + h.index) * volume.dims[4] + w.index;
  Dims shape{volume.dims[0], volume.dims[1], volume.places};
  Tensor taken =
      gather(volume.elements, broadcast(unsqueeze(flat, 1), shape), 2);
  return taken * unsqueeze(d.weight * h.weight * w.weight, 1);
}

/// x [n, c, d, h, w] at places (along w, along h, along d).
static Tensor volumeSample(Call &call, const Tensor &x, const Tensor &grid,
                           const GridSampleOptions &options) {
  if (options.mode == Interpolation::cubic ||
      options.padding == GridPadding::reflection)
    call.unsupported("volumes with this mode or padding");
  std::vector<int64_t> to = numbersOf(grid);
  Volume volume{{}, numbersOf(x), 0};
  if (to.size() != 5 || to[4] != 3 || to[0] != volume.dims[0])
    call.invalid("the grid does not fit the volume");
  volume.places = to[1] * to[2] * to[3];
  volume.elements = reshape(x, {volume.dims[0], volume.dims[1], Dim(-1)});
  Tensor flat = reshape(grid, {to[0], volume.places, 3});
  std::vector<AxisPlace> along[3];
  for (int64_t axis = 0; axis < 3; ++axis) {
    int64_t size = volume.dims[size_t(axis) + 2];
    Tensor at = unnormalized(select(flat, 2, 2 - axis), size, options);
    along[axis] = placesAlong(at, size, options);
  }
  Tensor sum;
  for (const AxisPlace &d : along[0])
    for (const AxisPlace &h : along[1])
      for (const AxisPlace &w : along[2]) {
        Tensor part = sampledAt(volume, d, h, w);
        sum = sum.defined() ? sum + part : part;
      }
  return reshape(sum, {to[0], volume.dims[1], to[1], to[2], to[3]});
}

static void gridSampleRule(Call &call) {
  Tensor x = call.tensor(0), grid = call.tensor(1);
  GridSampleOptions options = optionsOf(call);
  if (x.rank() == 5)
    return call.give(volumeSample(call, x, grid, options));
  if (x.rank() != 4)
    call.unsupported("images of " + std::to_string(x.rank() - 2) + " axes");
  call.give(grid_sample(x, grid, options));
}

static void affineGridRule(Call &call) {
  Tensor theta = call.tensor(0);
  std::vector<int64_t> size = call.integers(1, "size");
  call.give(affine_grid(theta, Dims(size.begin(), size.end()),
                        call.flag("align_corners")));
}

static constexpr Operator rows[] = {
    {"GridSample", 16, 19,
     "align_corners:int=0 mode:string=bilinear padding_mode:string=zeros",
     gridSampleRule},
    {"GridSample", 20, 0,
     "align_corners:int=0 mode:string=linear padding_mode:string=zeros",
     gridSampleRule},
    {"AffineGrid", 20, 0, "align_corners:int=0", affineGridRule},
};

std::span<const Operator> sampleRows() { return rows; }

} // namespace sinter::onnx
