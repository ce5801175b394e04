/// The first line: one expression, what it becomes at each stage, its value.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() try {
  sn::Tensor x = sn::tensor({{1.f, 2.f}, {3.f, 4.f}});
  sn::Tensor w = sn::tensor({{1.f, -1.f}, {0.5f, 2.f}});
  sn::Tensor b = sn::tensor({-4.f, 0.f});

  // Three operations are recorded; nothing runs yet.
  sn::Tensor y = sn::relu(sn::matmul(x, w) + b);

  // What they would become. Looking neither runs nor changes anything.
  for (const char *stage : {"import", "simplify", "fuse", "plan", "asm"})
    std::cout << "---- " << stage << " ----\n"
              << sn::inspect({y}, stage) << "\n";

  // Asking for the value compiles one kernel and launches it once.
  sn::Stats before = sn::stats();
  std::cout << "y = " << y << "\n";
  sn::Stats after = sn::stats();
  std::cout << "programs: " << after.programs_run - before.programs_run
            << "\nlaunches: " << after.launches - before.launches << "\n"
            << y.explain() << "\n";
} catch (const sn::Error &error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
