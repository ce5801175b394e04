/// Parameters inside a module that none of its fields leads to.
#include "frontend/Raise.h"
#include "runtime/graph/ShapeRules.h"

#include <sinter/Fields.h>

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <unordered_set>

namespace sinter::detail {

static std::string nameOf(const std::type_info &type) {
  int status = 0;
  char *text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  return name;
}

[[noreturn]] static void refuse(std::string message) {
  raise(makeError(ErrorKind::invalid_argument, "module: " + std::move(message),
                  "module"),
        SourceLine());
}

static bool contains(const Extent &extent, const void *address) {
  auto begin = reinterpret_cast<uintptr_t>(extent.begin);
  auto at = reinterpret_cast<uintptr_t>(address);
  return at >= begin && at < begin + extent.size;
}

/// The field of the module that stands before an address, for finding the one
/// that does.
static std::string neighbour(const Fields &fields, const Extent &module,
                             const Param *forgotten) {
  const Fields::Field<Param> *nearest = nullptr;
  for (const auto &field : fields.params)
    if (contains(module, field.value) && field.value < forgotten &&
        (!nearest || field.value > nearest->value))
      nearest = &field;
  return nearest ? fmt::format(" behind '{}'", nearest->path) : "";
}

void refuseForgotten(const Fields &fields, const WalkedModules &walked) try {
  std::unordered_set<const Param *> known;
  for (const auto &[path, param] : fields.params)
    known.insert(param);
  const Extent *around = nullptr; // modules come after those they stand in
  for (const Extent &module : walked.modules) {
    if (around && contains(*around, module.begin))
      continue;
    around = &module;
    for (const Param *param : paramsWithin(module.begin, module.size)) {
      bool isMeant = known.contains(param) ||
                     std::ranges::any_of(walked.leftOut.extents,
                                         [&](const Extent &extent) {
                                           return contains(extent, param);
                                         });
      if (isMeant)
        continue;
      const Extent *owner = &module;
      for (const Extent &inner : walked.modules)
        if (contains(inner, param) && inner.size <= owner->size)
          owner = &inner;
      refuse(fmt::format(
          "{} holds the parameter '{}' {}{}, which is in none of the fields "
          "that SINTER_MODULE names: name its field there, or in "
          "SINTER_NOT_A_FIELD if it is meant to be neither trained nor saved",
          nameOf(*owner->type), param->name(),
          graph::typeString(graph::TensorType{param->dtype(), param->shape()}),
          neighbour(fields, *owner, param)));
    }
  }
} catch (...) {
  detail::raiseExhausted({});
}

void throwHiddenClass(std::string_view path, const std::type_info &own,
                      const std::type_info &declared) {
  refuse(fmt::format("'{}' points to a {} as if it were a {}, whose fields are "
                     "not all of it: point to what it is, or use a "
                     "std::variant",
                     path, nameOf(own), nameOf(declared)));
}

void throwUncopied(std::string_view path, const std::type_info &type) {
  refuse(fmt::format("'{}' is shared, and a {} cannot be copied", path,
                     nameOf(type)));
}

} // namespace sinter::detail
