/// Golden cases of special functions, searches, bags of rows, resampling and
/// Fourier transforms.
#include "tests/goldens/Attrs.h"
#include "tests/goldens/Ops.h"

#include <sinter/generated/functions/Elementwise.h>

namespace sinter::goldens {

namespace {
using Rule = std::optional<Values> (*)(const OpCall &c);
using Table = std::map<std::string, Rule, std::less<>>;
using Result = std::optional<Values>;
} // namespace

template <Tensor (*function)(const Arg &)>
static Result unary(const OpCall &c) {
  return one(function(c["x"]));
}

static Table numberOps() {
  return {
      {"erfinv", unary<erfinv>},
      {"lgamma", unary<lgamma>},
      {"digamma", unary<digamma>},
      {"logcumsumexp",
       [](const OpCall &c) -> Result {
         return one(logcumsumexp(c["x"], c.attrs.integer("dim")));
       }},
      {"searchsorted",
       [](const OpCall &c) -> Result {
         return one(searchsorted(c["seq"], c["v"], c.attrs.flag("right")));
       }},
      {"bincount_histc",
       [](const OpCall &c) -> Result {
         return Values{
             {"bincount", bincount(c["x"], c.attrs.integer("minlength"))},
             {"histc", histc(c["x"], c.attrs.integer("bins"),
                             c.attrs.number("min"), c.attrs.number("max"))}};
       }},
      {"edge_bce_logits_extreme",
       [](const OpCall &c) -> Result {
         return one(binary_cross_entropy_with_logits(
             c["x"], c["t"], {.reduction = Reduction::none}));
       }},
      {"edge_cross_entropy_extreme",
       [](const OpCall &c) -> Result {
         return one(cross_entropy(c["x"], c["target"],
                                  {.reduction = Reduction::none}));
       }},
  };
}

static Result embeddingOf(const OpCall &c) {
  if (!c.attrs.has("padding_idx"))
    return one(embedding(c["weight"], c["index"]));
  return one(
      embedding(c["weight"], c["index"], c.attrs.integer("padding_idx")));
}

static Result embeddingBagOf(const OpCall &c) {
  std::string name = c.attrs.text("mode");
  BagMode mode = name == "sum"    ? BagMode::sum
                 : name == "mean" ? BagMode::mean
                                  : BagMode::max;
  return one(embedding_bag(c["weight"], c["index"], c["offsets"], mode));
}

static Interpolation interpolationOf(const OpCall &c) {
  static const std::map<std::string, Interpolation, std::less<>> names = {
      {"nearest", Interpolation::nearest},
      {"nearest-exact", Interpolation::nearest_exact},
      {"linear", Interpolation::linear},
      {"bilinear", Interpolation::linear},
      {"trilinear", Interpolation::linear},
      {"bicubic", Interpolation::cubic},
      {"area", Interpolation::area},
  };
  return names.at(c.attrs.text("mode"));
}

static Result gridSampleOf(const OpCall &c) {
  std::string name = c.attrs.text("padding_mode");
  GridPadding padding = name == "zeros"    ? GridPadding::zeros
                        : name == "border" ? GridPadding::border
                                           : GridPadding::reflection;
  return one(grid_sample(c["x"], c["grid"],
                         {.mode = interpolationOf(c),
                          .padding = padding,
                          .align_corners = c.attrs.flag("align_corners")}));
}

static Table imageOps() {
  return {
      {"embedding", embeddingOf},
      {"embedding_bag", embeddingBagOf},
      {"interpolate",
       [](const OpCall &c) -> Result {
         return one(interpolate(
             c["x"], {.size = c.attrs.list("size"),
                      .mode = interpolationOf(c),
                      .align_corners = c.attrs.flag("align_corners")}));
       }},
      {"interpolate_scale",
       [](const OpCall &c) -> Result {
         return one(interpolate(
             c["x"], {.scale_factor = {c.attrs.number("scale_factor")},
                      .mode = interpolationOf(c)}));
       }},
      {"grid_sample", gridSampleOf},
      {"affine_grid",
       [](const OpCall &c) -> Result {
         return one(affine_grid(c["theta"], dimsOf(c.attrs.list("size")),
                                c.attrs.flag("align_corners")));
       }},
  };
}

static Table fourierOps() {
  return {
      {"fft", [](const OpCall &c) -> Result { return one(fft(c["x"])); }},
      {"rfft", [](const OpCall &c) -> Result { return one(rfft(c["x"])); }},
      {"irfft",
       [](const OpCall &c) -> Result {
         return one(irfft(c["x"], c.attrs.integer("n")));
       }},
      {"stft_power",
       [](const OpCall &c) -> Result {
         Tensor pairs = stft(c["x"], c.attrs.integer("n_fft"),
                             {.hop = c.attrs.integer("hop"),
                              .window = c["window"],
                              .center = c.attrs.flag("center")});
         return one(sum(square(pairs), {-1}));
       }},
  };
}

std::optional<Values> recordSampled(const Case &golden, const Values &inputs) {
  static const Table rules = [] {
    Table all = numberOps();
    all.merge(imageOps());
    all.merge(fourierOps());
    return all;
  }();
  auto rule = rules.find(golden.op);
  if (rule == rules.end() || golden.category == "program")
    return std::nullopt;
  return rule->second({inputs, Attrs(golden.attrs)});
}

} // namespace sinter::goldens
