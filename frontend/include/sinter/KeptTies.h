/// KeptTies: what makes the copy of a module keep the ties inside it.
#pragma once

#include <sinter/Fields.h>

#include <cstddef>
#include <type_traits>

namespace sinter::detail {

/// Ties the Params of `copy` to each other as those of `from` are. The two have
/// the same fields, or nothing is done.
void keepTies(const Fields &from, const Fields &copy);

/// The last member of a module, without a size. The module's implicit copying
/// copies it after all fields: a Param copied by itself is separate, and here
/// the copies of tied ones become one again.
template <typename ModuleType> class KeptTies {
public:
  KeptTies() = default;
  KeptTies(const KeptTies &other) { keep(other); }
  KeptTies(KeptTies &&) noexcept {}
  KeptTies &operator=(const KeptTies &other) {
    keep(other);
    return *this;
  }
  KeptTies &operator=(KeptTies &&) noexcept { return *this; }

private:
  /// The module that this is a member of.
  const ModuleType &module() const {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
    // Modules are no standard-layout classes; g++ and clang++ know the offset
    // of a direct member of any class.
    constexpr size_t offset = offsetof(ModuleType, sinter_ties);
#pragma GCC diagnostic pop
    const char *self = reinterpret_cast<const char *>(this);
    return *reinterpret_cast<const ModuleType *>(self - offset);
  }
  void keep(const KeptTies &other) {
    if (this != &other)
      keepTies(fieldsOf(other.module()), fieldsOf(module()));
  }
};

} // namespace sinter::detail
