/// Names for the parts of nested outputs.
#include "frontend/import/torch/LoadedProgram.h"

#include "runtime/params/Json.h"

#include <algorithm>
#include <cctype>

namespace sinter::torch {

namespace json = runtime::json;

/// Keys of the children, where the node has some.
static std::vector<std::string> keysOf(const json::Value &node, size_t count) {
  std::vector<std::string> keys;
  const json::Value *context = node.find("context");
  if (context && context->is(json::Kind::string)) {
    auto parsed = json::parse(context->string);
    const json::Value *list = parsed ? &*parsed : nullptr;
    // A defaultdict has its factory before the keys.
    if (list && list->is(json::Kind::array) && list->elements.size() == 2 &&
        list->elements[1].is(json::Kind::array))
      list = &list->elements[1];
    if (list && list->is(json::Kind::array))
      for (const json::Value &key : list->elements)
        if (key.is(json::Kind::string))
          keys.push_back(key.string);
  }
  if (keys.size() == count)
    return keys;
  keys.clear();
  for (size_t i = 0; i < count; ++i)
    keys.push_back(std::to_string(i));
  return keys;
}

static bool addLeaves(const json::Value &node, const std::string &path,
                      std::vector<std::string> &names) {
  const json::Value *type = node.find("type");
  const json::Value *children = node.find("children_spec");
  if (!children || !children->is(json::Kind::array))
    return false;
  if (!type || type->is(json::Kind::null)) {
    names.push_back(path);
    return true;
  }
  std::vector<std::string> keys = keysOf(node, children->elements.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    bool isIndex = std::isdigit(
        static_cast<unsigned char>(keys[i].empty() ? '0' : keys[i][0]));
    std::string own = path.empty() ? (isIndex ? "output_" : "") + keys[i]
                                   : path + "_" + keys[i];
    if (!addLeaves(children->elements[i], own, names))
      return false;
  }
  return true;
}

std::vector<std::string> leafNames(std::string_view spec,
                                   const std::string &root) {
  auto parsed = json::parse(spec);
  if (!parsed || !parsed->is(json::Kind::array) || parsed->elements.size() != 2)
    return {};
  std::vector<std::string> names;
  if (!addLeaves(parsed->elements[1], "", names))
    return {};
  if (names.size() == 1 && names[0].empty())
    names[0] = root;
  // A class that is not known may have keys that come twice.
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  bool isUnique = std::ranges::adjacent_find(sorted) == sorted.end();
  return isUnique ? names : std::vector<std::string>();
}

} // namespace sinter::torch
