// What must not compile: one mistake a line, with the text of its error.
#include <sinter/sinter.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace sn = sinter;
using sn::Tensor;
using sn::nn::Linear;

void conditions(const Tensor &a, const Tensor &b, const sn::Param &p) {
  if (a > 5) // error: could not convert
    return;
  while (a && b) // error: could not convert
    return;
  if (!a) // error: could not convert
    return;
  bool both = a && b;           // error: cannot convert
  bool named(a);                // error: could not convert
  auto picked = a == b ? a : b; // error: could not convert
  auto less = std::min(a, b);   // error: could not convert
  for (; p;)                    // error: could not convert
    return;
  std::vector<Tensor> all;
  auto found = std::find(all.begin(), all.end(), a); // error: could not convert
  bool same = all == all;                            // error: could not convert
}

struct Forgot {
  Linear a{1, 1}, b{1, 1};
  SINTER_MODULE(Forgot, a) // error: stands neither in SINTER_MODULE nor in
};

struct ForgotPointer {
  std::shared_ptr<Linear> p;
  Linear a{1, 1};
  SINTER_MODULE(ForgotPointer, a) // error: stands neither in SINTER_MODULE
};

struct ForgotList {
  Linear a{1, 1};
  int64_t number = 3;
  std::vector<std::optional<Linear>> list;
  SINTER_MODULE(ForgotList, a, number) // error: stands neither in SINTER_MODULE
};

struct ForgotMode {
  sn::nn::Dropout dropout;
  Linear a{1, 1};
  SINTER_MODULE(ForgotMode, a) // error: stands neither in SINTER_MODULE
};

struct Borrowed {
  Linear *p = nullptr;
  SINTER_MODULE(Borrowed, p) // error: owns what it holds
};

struct Plain {
  Linear layer{1, 1};
};
struct OfPlain {
  Plain plain;
  SINTER_MODULE(OfPlain, plain) // error: it needs SINTER_MODULE, too
};

struct Alone {
  std::unique_ptr<Linear> p;
  SINTER_MODULE(Alone, p)
};
Alone copied(const Alone &alone) {
  return alone.to("cpu"); // error: std::move(model).to(device)
}
