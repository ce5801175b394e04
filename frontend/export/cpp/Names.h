/// Names: identifiers of C++ made of names that are none.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace sinter::cpp {

/// Gives each identifier once, and none that means something in C++, or in a
/// module of Sinter.
class Names {
public:
  /// Lower case with underscores: `layer1.0/Conv` is `layer1_0_conv`. A name
  /// without a letter is `otherwise`; one that is taken gets a number.
  std::string unique(std::string_view wanted, std::string_view otherwise);

private:
  std::set<std::string, std::less<>> taken;
};

/// The name of a class: `res-net18` is `ResNet18`. What is all capitals could
/// be a macro, and a module has Outputs inside: `FILE` is `FILEModel`.
std::string className(std::string_view wanted);

} // namespace sinter::cpp
