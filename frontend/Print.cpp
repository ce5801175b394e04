/// Prints tensors as nested lists.
#include <sinter/Tensor.h>

#include "frontend/Flush.h"
#include "frontend/HostBytes.h"
#include "frontend/Raise.h"
#include "sinter/runtime/Complex.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace sinter {

namespace {
/// How the numbers of one tensor are written: all of them alike.
enum class Style { boolean, integer, whole, fixed, scientific };

class Printer {
public:
  Printer(const graph::Node &node, std::vector<double> values,
          std::vector<int64_t> integers);
  std::string text();

private:
  std::string number(size_t index) const;
  std::string real(double value) const;
  void write(unsigned axis, size_t first, size_t count);
  bool isShown(int64_t position, int64_t extent) const {
    return !summarizes || position < edge || position >= extent - edge;
  }
  template <typename F>
  void forShown(unsigned axis, size_t first, size_t count, F visit) const;

  static constexpr int64_t edge = 3;
  static constexpr size_t mostShown = 1000;
  const graph::Node &node;
  std::vector<double> reals;     ///< of complex numbers both parts
  std::vector<int64_t> integers; ///< those of u64 as the same bits
  bool summarizes;
  Style style = Style::integer;
  size_t width = 0;
  std::string out;
};
} // namespace

/// Whole numbers need no decimals; numbers far apart need exponents.
static Style styleOf(const std::vector<double> &values) {
  bool isWhole = true;
  double largest = 0, smallest = INFINITY;
  for (double value : values) {
    if (!std::isfinite(value))
      continue;
    isWhole &= value == std::trunc(value);
    double size = std::fabs(value);
    largest = std::max(largest, size);
    if (size > 0)
      smallest = std::min(smallest, size);
  }
  if (largest > 0 &&
      (largest >= 1e8 ||
       (!isWhole && (smallest < 1e-4 || largest / smallest > 1e5))))
    return Style::scientific;
  return isWhole ? Style::whole : Style::fixed;
}

Printer::Printer(const graph::Node &node, std::vector<double> values,
                 std::vector<int64_t> integers)
    : node(node), reals(std::move(values)), integers(std::move(integers)),
      summarizes(static_cast<size_t>(node.elements()) > mostShown) {
  if (node.dtype() == DType::boolean)
    style = Style::boolean;
  else if (hasGradients(node.dtype()))
    style = styleOf(reals);
}

std::string Printer::number(size_t index) const {
  if (style == Style::boolean)
    return integers[index] ? "true" : "false";
  if (style == Style::integer)
    return node.dtype() == DType::u64
               ? fmt::format("{}", static_cast<uint64_t>(integers[index]))
               : fmt::format("{}", integers[index]);
  if (!isComplex(node.dtype()))
    return real(reals[index]);
  double im = reals[2 * index + 1];
  return real(reals[2 * index]) + (std::signbit(im) ? "-" : "+") +
         real(std::fabs(im)) + "i";
}

std::string Printer::real(double value) const {
  if (!std::isfinite(value))
    return fmt::format("{}", value);
  switch (style) {
  case Style::whole:
    return fmt::format("{:.0f}.", value);
  case Style::fixed:
    return fmt::format("{:.4f}", value);
  default:
    return fmt::format("{:.4e}", value);
  }
}

/// Calls `visit` for the elements that are written.
template <typename F>
void Printer::forShown(unsigned axis, size_t first, size_t count,
                       F visit) const {
  if (axis == node.rank()) {
    visit(first);
    return;
  }
  int64_t extent = node.dims()[axis].value;
  if (extent == 0)
    return;
  size_t step = count / extent;
  for (int64_t i = 0; i < extent; ++i)
    if (isShown(i, extent))
      forShown(axis + 1, first + i * step, step, visit);
}

void Printer::write(unsigned axis, size_t first, size_t count) {
  if (axis == node.rank()) {
    std::string text = number(first);
    out.append(width - std::min(width, text.size()), ' ');
    out += text;
    return;
  }
  int64_t extent = node.dims()[axis].value;
  bool isLast = axis + 1 == node.rank();
  constexpr size_t prefix = 7; // "tensor("
  std::string separator =
      isLast ? ", "
             : "," + std::string(node.rank() - axis - 1, '\n') +
                   std::string(prefix + axis + 1, ' ');
  out += '[';
  size_t step = extent ? count / extent : 0;
  bool skipped = false;
  for (int64_t i = 0; i < extent; ++i) {
    if (!isShown(i, extent)) {
      if (!std::exchange(skipped, true))
        out += separator + "...";
      continue;
    }
    if (i > 0)
      out += separator;
    write(axis + 1, first + i * step, step);
  }
  out += ']';
}

std::string Printer::text() {
  size_t count = static_cast<size_t>(node.elements());
  forShown(0, 0, count, [this](size_t index) {
    width = std::max(width, number(index).size());
  });
  out = "tensor(";
  write(0, 0, count);
  if (count == 0 && node.rank() > 1) {
    std::string shape = graph::typeString(node);
    out += ", shape=" + shape.substr(shape.find('['));
  }
  bool isPlain = node.dtype() == DType::f32 || node.dtype() == DType::i64 ||
                 node.dtype() == DType::boolean;
  if (!isPlain || count == 0)
    out += fmt::format(", dtype={}", name(node.dtype()));
  if (node.device().kind != DeviceKind::cpu)
    out += fmt::format(", device={}", toString(node.device()));
  return out + ")";
}

std::string Tensor::to_string(Where where) const try {
  if (!handle)
    return "tensor()";
  graph::NodeRef self = node();
  detail::evaluate({&self, 1}, detail::FlushReason::print, where);
  std::vector<double> reals;
  std::vector<int64_t> integers;
  if (isComplex(dtype())) {
    std::vector<std::complex<double>> numbers(self->elements());
    detail::unwrap(detail::readValues<std::complex<double>>(*self, numbers),
                   where);
    for (std::complex<double> number : numbers) {
      reals.push_back(number.real());
      reals.push_back(number.imag());
    }
  } else if (isFloat(dtype())) {
    reals.resize(self->elements());
    detail::unwrap(detail::readValues<double>(*self, reals), where);
  } else {
    integers.resize(self->elements());
    detail::unwrap(detail::readValues<int64_t>(*self, integers), where);
  }
  return Printer(*self, std::move(reals), std::move(integers)).text();
} catch (...) {
  detail::raiseExhausted(where);
}

std::ostream &operator<<(std::ostream &stream, const Tensor &tensor) try {
  return stream << tensor.to_string({});
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter
