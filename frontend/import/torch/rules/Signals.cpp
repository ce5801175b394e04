/// Complex numbers and Fourier transforms.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Complex.h>
#include <sinter/Fourier.h>
#include <sinter/Pooling.h>

#include <cmath>

namespace sinter::torch {

static bool isComplex(const Tensor &x) {
  return x.dtype() == DType::c64 || x.dtype() == DType::c128;
}

//===- Parts --------------------------------------------------------------===//

template <Tensor (*function)(const Arg &)> static void partRule(Call &call) {
  call.give(function(call.tensor("self")));
}

/// A part of complex numbers, which can be written.
template <bool isReal> static void halfRule(Call &call) {
  if (!isComplex(call.tensor("self"))) {
    if (!isReal)
      call.invalid("the imaginary part of real numbers");
    call.giveArgument("self");
    return;
  }
  call.giveView(
      "self",
      {[](const Tensor &base) { return isReal ? real(base) : imag(base); },
       [](const Tensor &base, const Tensor &part) {
         return isReal ? complex(part, imag(base)) : complex(real(base), part);
       }});
}

/// The last two axes exchanged, of complex numbers with their other halves.
static void adjointRule(Call &call) {
  if (call.tensor("self").rank() < 2)
    call.invalid("a tensor of less than two axes");
  auto turned = [](const Tensor &x) {
    Tensor y = swapaxes(x, -2, -1);
    return isComplex(x) ? conj(y) : y;
  };
  call.giveView("self", {turned, [turned](const Tensor &, const Tensor &part) {
                           return turned(part);
                         }});
}

static void sameRule(Call &call) { call.give(call.tensor("self")); }

static void angleRule(Call &call) {
  Tensor x = call.tensor("self");
  DType dtype = call.outputDType();
  call.give(angle(isComplex(x) ? x : x.to(dtype)).to(dtype));
}

static void complexRule(Call &call) {
  call.give(complex(call.tensor("real"), call.tensor("imag")));
}
static void polarRule(Call &call) {
  call.give(polar(call.tensor("abs"), call.tensor("angle")));
}

//===- Along axes ---------------------------------------------------------===//

static FourierNorm normNamed(Call &call) {
  std::string name = call.text("norm", "backward");
  if (name == "ortho")
    return FourierNorm::ortho;
  if (name == "forward")
    return FourierNorm::forward;
  if (name != "backward")
    call.invalid("norm '" + name + "'");
  return FourierNorm::backward;
}

/// -1 is the length that an axis has.
static void requireLength(const Call &call, int64_t length) {
  if (length != -1)
    requireFew(call, length, "elements of a transform");
}

template <Tensor (*function)(const Arg &, const FourierOptions &)>
static void transformRule(Call &call) {
  FourierOptions options;
  if (call.has("n"))
    options.n = call.integer("n");
  if (options.n)
    requireLength(call, *options.n);
  options.dim = call.integer("dim", -1);
  options.norm = normNamed(call);
  call.give(function(call.tensor("self"), options));
}

static FourierOptions halfOptions(Call &call) {
  FourierOptions options;
  if (call.has("n"))
    options.n = call.integer("n");
  if (options.n)
    requireLength(call, *options.n);
  options.dim = call.integer("dim", -1);
  // Forth and back have changed places.
  FourierNorm norm = normNamed(call);
  options.norm = norm == FourierNorm::forward    ? FourierNorm::backward
                 : norm == FourierNorm::backward ? FourierNorm::forward
                                                 : norm;
  return options;
}
/// Of a signal whose second half mirrors the first: real numbers.
static void mirroredRule(Call &call) {
  Tensor x = call.tensor("self");
  FourierOptions options = halfOptions(call);
  call.give(irfft(isComplex(x) ? conj(x) : complex(x, zeros_like(x)), options));
}
static void toMirroredRule(Call &call) {
  FourierOptions options = halfOptions(call);
  call.give(conj(rfft(call.tensor("self"), options)));
}

/// Lengths and axes of a transform of several; `otherwise` names the axes
/// where neither is given.
static FourierAxes axesOf(Call &call, const Tensor &x,
                          std::vector<int64_t> otherwise) {
  FourierAxes axes;
  axes.s = call.integers("s");
  axes.dim = call.integers("dim");
  if (axes.dim.empty())
    axes.dim = axes.s.empty() ? std::move(otherwise) : std::vector<int64_t>();
  if (axes.dim.empty())
    for (size_t i = 0; i < (axes.s.empty() ? size_t(x.rank()) : axes.s.size());
         ++i)
      axes.dim.push_back(int64_t(i) - int64_t(axes.s.empty() ? size_t(x.rank())
                                                             : axes.s.size()));
  if (!axes.s.empty() && axes.s.size() != axes.dim.size())
    call.invalid("lengths are not one for each axis");
  if (int64_t(axes.dim.size()) > x.rank())
    call.invalid("more axes than the tensor has");
  for (int64_t length : axes.s)
    requireLength(call, length);
  axes.norm = normNamed(call);
  return axes;
}

template <Tensor (*function)(const Arg &, const FourierAxes &), bool isPlane>
static void severalRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> plane;
  if (isPlane)
    plane = {-2, -1};
  call.give(function(x, axesOf(call, x, plane)));
}

/// Of real numbers: the last axis first, then the others.
template <bool isPlane> static void realsRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> plane;
  if (isPlane)
    plane = {-2, -1};
  FourierAxes axes = axesOf(call, x, plane);
  if (axes.dim.empty())
    call.invalid("no axes");
  FourierOptions last{{}, axes.dim.back(), axes.norm};
  if (!axes.s.empty())
    last.n = axes.s.back();
  Tensor y = rfft(x, last);
  axes.dim.pop_back();
  if (!axes.s.empty())
    axes.s.pop_back();
  call.give(axes.dim.empty() ? y : fftn(y, axes));
}

/// To real numbers: the other axes first.
template <bool isPlane> static void toRealsRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> plane;
  if (isPlane)
    plane = {-2, -1};
  FourierAxes axes = axesOf(call, x, plane);
  if (axes.dim.empty())
    call.invalid("no axes");
  FourierOptions last{{}, axes.dim.back(), axes.norm};
  if (!axes.s.empty())
    last.n = axes.s.back();
  axes.dim.pop_back();
  if (!axes.s.empty())
    axes.s.pop_back();
  call.give(irfft(axes.dim.empty() ? x : ifftn(x, axes), last));
}

//===- What decompositions leave ------------------------------------------===//

/// 0: nothing is divided, 1: by the square root of the length, 2: by it.
static FourierNorm normCoded(Call &call, bool isForward) {
  int64_t code = call.integer("normalization");
  if (code < 0 || code > 2)
    call.invalid("normalization " + std::to_string(code));
  if (code == 1)
    return FourierNorm::ortho;
  return (code == 0) == isForward ? FourierNorm::backward
                                  : FourierNorm::forward;
}

static void rawComplexRule(Call &call) {
  bool isForward = call.flag("forward", true);
  FourierAxes axes{{}, call.integers("dim"), normCoded(call, isForward)};
  Tensor x = call.tensor("self");
  call.give(axes.dim.empty() ? x : isForward ? fftn(x, axes) : ifftn(x, axes));
}

static void rawRealsRule(Call &call) {
  FourierAxes axes{{}, call.integers("dim"), normCoded(call, true)};
  Tensor x = call.tensor("self");
  if (axes.dim.empty())
    call.invalid("no axes");
  if (!call.flag("onesided", true)) {
    call.give(fftn(x, axes));
    return;
  }
  Tensor y = rfft(x, FourierOptions{{}, axes.dim.back(), axes.norm});
  axes.dim.pop_back();
  call.give(axes.dim.empty() ? y : fftn(y, axes));
}

static void rawToRealsRule(Call &call) {
  FourierAxes axes{{}, call.integers("dim"), normCoded(call, false)};
  Tensor x = call.tensor("self");
  if (axes.dim.empty())
    call.invalid("no axes");
  requireFew(call, call.integer("last_dim_size"), "elements of a transform");
  FourierOptions last{call.integer("last_dim_size"), axes.dim.back(),
                      axes.norm};
  axes.dim.pop_back();
  call.give(irfft(axes.dim.empty() ? x : ifftn(x, axes), last));
}

/// The middle of each axis comes to its beginning, or the other way.
template <bool isInverse> static void shiftRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> axes = call.integers("dim"), shifts;
  if (axes.empty())
    for (int64_t i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  for (int64_t &axis : axes) {
    axis = call.axisOf(axis, x.rank());
    int64_t size = fixed(x.dim(axis));
    shifts.push_back(isInverse ? (size + 1) / 2 : size / 2);
  }
  call.give(axes.empty() ? x : roll(x, shifts, axes));
}

//===- Frames -------------------------------------------------------------===//

namespace {
struct Frames {
  int64_t length = 0, hop = 0;
  Tensor window; ///< [length], in the dtype of the signal
  bool isNormalized = false, isOneSided = true;
};
} // namespace

static Frames framesOf(Call &call, DType dtype) {
  Frames frames;
  frames.length = call.integer("n_fft");
  frames.hop = call.integer("hop_length", frames.length / 4);
  int64_t wide = call.integer("win_length", frames.length);
  requireFew(call, frames.length, "elements of a frame");
  if (frames.length < 1 || frames.hop < 1 || wide < 1 || wide > frames.length)
    call.invalid("frames of " + std::to_string(frames.length));
  frames.window = call.has("window") ? call.tensor("window").to(dtype)
                                     : ones({wide}, {dtype, call.device()});
  int64_t more = frames.length - wide;
  if (more > 0)
    frames.window = pad(frames.window, {{0, more / 2, more - more / 2}});
  frames.isNormalized = call.flag("normalized");
  return frames;
}

static void stftRule(Call &call) {
  Tensor x = call.tensor("self");
  if (isComplex(x))
    call.unsupported("frames of complex numbers");
  if (!call.flag("return_complex", true))
    call.unsupported("real and imaginary parts along an axis");
  call.ignore({"align_to_window"});
  Frames frames = framesOf(call, x.dtype());
  bool isSingle = x.rank() == 1;
  if (isSingle)
    x = unsqueeze(x, 0);
  if (call.flag("center")) {
    std::string mode = call.text("pad_mode", "reflect");
    if (mode != "reflect" && mode != "constant")
      call.unsupported("pad_mode '" + mode + "'");
    x = pad(x, {{1, frames.length / 2, frames.length / 2}},
            mode == "reflect" ? PadMode::reflect : PadMode::constant);
  }
  Tensor parts = unfold(x, 1, frames.length, frames.hop) * frames.window;
  FourierOptions options{
      {}, -1, frames.isNormalized ? FourierNorm::ortho : FourierNorm::backward};
  Tensor y =
      call.flag("onesided", true) ? rfft(parts, options) : fft(parts, options);
  y = swapaxes(y, 1, 2);
  call.give(isSingle ? squeeze(y, 0) : y);
}

/// Frames [n, length, count] added up at their places: [n, all].
static Tensor overlapped(const Tensor &frames, const Frames &about,
                         int64_t all) {
  ConvOptions options;
  options.stride = {1, about.hop};
  Tensor image = fold(frames, {1, all}, {1, about.length}, options);
  return reshape(image, {image.dim(0), all});
}

/// What overlaps is divided by the squares of the windows that made it.
static void istftRule(Call &call) {
  Tensor x = call.tensor("self");
  if (call.flag("return_complex"))
    call.unsupported("a signal of complex numbers");
  DType dtype = call.outputDType();
  Frames frames = framesOf(call, dtype);
  if (!call.flag("onesided", true))
    call.unsupported("both halves of the numbers");
  bool isSingle = x.rank() == 2;
  if (isSingle)
    x = unsqueeze(x, 0);
  int64_t count = fixed(x.dim(2));
  FourierOptions options{frames.length, 1,
                         frames.isNormalized ? FourierNorm::ortho
                                             : FourierNorm::backward};
  Tensor window = reshape(frames.window, {1, frames.length, 1});
  int64_t all = frames.length + frames.hop * (count - 1);
  Tensor signal = overlapped(irfft(x, options) * window, frames, all);
  Tensor squares = broadcast(window * window, {1, frames.length, count});
  Tensor weight = overlapped(squares, frames, all);
  int64_t start = call.flag("center", true) ? frames.length / 2 : 0;
  int64_t end =
      call.has("length") ? start + call.integer("length") : all - start;
  int64_t known = std::min(end, all);
  Tensor y =
      sliceAxis(signal, 1, start, known) / sliceAxis(weight, 1, start, known);
  if (end > known)
    y = pad(y, {{1, 0, end - known}});
  call.give(isSingle ? squeeze(y, 0) : y);
}

static constexpr Operator rows[] = {
    {"aten.real.default", halfRule<true>},
    {"aten.imag.default", halfRule<false>},
    {"aten.adjoint.default", adjointRule},
    {"aten._conj.default", partRule<conj>},
    {"aten.conj.default", partRule<conj>},
    {"aten.conj_physical.default", partRule<conj>},
    {"aten._conj_physical.default", partRule<conj>},
    {"aten.resolve_conj.default", sameRule},
    {"aten.resolve_neg.default", sameRule},
    {"aten.angle.default", angleRule},
    {"aten.complex.default", complexRule},
    {"aten.polar.default", polarRule},
    {"aten.fft_fft.default", transformRule<fft>},
    {"aten.fft_ifft.default", transformRule<ifft>},
    {"aten.fft_rfft.default", transformRule<rfft>},
    {"aten.fft_irfft.default", transformRule<irfft>},
    {"aten.fft_hfft.default", mirroredRule},
    {"aten.fft_ihfft.default", toMirroredRule},
    {"aten.fft_fft2.default", severalRule<fftn, true>},
    {"aten.fft_ifft2.default", severalRule<ifftn, true>},
    {"aten.fft_fftn.default", severalRule<fftn, false>},
    {"aten.fft_ifftn.default", severalRule<ifftn, false>},
    {"aten.fft_rfft2.default", realsRule<true>},
    {"aten.fft_rfftn.default", realsRule<false>},
    {"aten.fft_irfft2.default", toRealsRule<true>},
    {"aten.fft_irfftn.default", toRealsRule<false>},
    {"aten._fft_c2c.default", rawComplexRule},
    {"aten._fft_r2c.default", rawRealsRule},
    {"aten._fft_c2r.default", rawToRealsRule},
    {"aten.fft_fftshift.default", shiftRule<false>},
    {"aten.fft_ifftshift.default", shiftRule<true>},
    {"aten.stft.default", stftRule},
    {"aten.stft.center", stftRule},
    {"aten.istft.default", istftRule},
};

std::span<const Operator> signalRows() { return rows; }

} // namespace sinter::torch
