/// Computes sizes with a stack.
#include "runtime/device/vulkan/IndexLimit.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr int64_t largest = std::numeric_limits<int64_t>::max();

/// Sizes of one text. Steps say whether they could be taken.
class Sizes {
public:
  explicit Sizes(std::span<const int64_t> dims) : dims(dims) {}

  int64_t most = 0;

  bool take(std::string_view word) {
    if (word == ";") {
      bool isOne = stack.size() == 1;
      most = isOne ? std::max(most, stack.back()) : most;
      stack.clear();
      return isOne;
    }
    if (word.size() == 1 && word.find_first_of("+*/^%") == 0)
      return apply(word[0]);
    bool isDim = word.starts_with('d');
    word.remove_prefix(isDim ? 1 : 0);
    int64_t number = 0;
    const char *end = word.data() + word.size();
    auto [rest, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc() || rest != end)
      return false;
    if (isDim && (number < 0 || size_t(number) >= dims.size()))
      return false;
    stack.push_back(isDim ? dims[size_t(number)] : number);
    return true;
  }

  bool isWhole() const { return stack.empty(); }

private:
  bool apply(char operation) {
    if (stack.size() < 2)
      return false;
    int64_t b = stack.back();
    stack.pop_back();
    int64_t &a = stack.back();
    // Divisors are positive, as in affine maps.
    if (operation == '+' || operation == '*') {
      int64_t result = 0;
      bool overflows = operation == '+' ? __builtin_add_overflow(a, b, &result)
                                        : __builtin_mul_overflow(a, b, &result);
      a = overflows ? largest : result;
      return true;
    }
    if (b <= 0)
      return false;
    int64_t remainder = (a % b + b) % b;
    int64_t quotient = a / b - (a % b < 0 ? 1 : 0);
    a = operation == '%' ? remainder : quotient;
    if (operation == '^' && remainder > 0)
      ++a;
    return true;
  }

  const std::span<const int64_t> dims;
  std::vector<int64_t> stack;
};

} // namespace

Result<int64_t> sinter::runtime::largestSize(std::string_view sizes,
                                             std::span<const int64_t> dims) {
  Sizes all(dims);
  bool isWhole = true;
  while (isWhole && !sizes.empty()) {
    size_t length = std::min(sizes.find(' '), sizes.size());
    isWhole = all.take(sizes.substr(0, length));
    sizes.remove_prefix(std::min(sizes.size(), length + 1));
  }
  if (!isWhole || !all.isWhole())
    return makeError(ErrorKind::io, "a kernel's sizes are damaged");
  return all.most;
}
