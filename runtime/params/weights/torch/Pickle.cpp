/// What a pickle holds, once it was read.
#include "runtime/params/weights/torch/Pickle.h"

#include <algorithm>
#include <array>

namespace sinter::runtime::pickle {

namespace {

bool hasNode(Kind kind) {
  return kind == Kind::tuple || kind == Kind::list || kind == Kind::dict ||
         kind == Kind::set || kind == Kind::global ||
         kind == Kind::persistent || kind == Kind::object;
}

/// Nothing of these is needed to hold numbers.
constexpr std::string_view dangerousModules[] = {
    "os",      "posix",    "nt",         "subprocess", "sys",        "socket",
    "shutil",  "pty",      "webbrowser", "httplib",    "http",       "urllib",
    "urllib2", "requests", "aiohttp",    "runpy",      "pdb",        "bdb",
    "asyncio", "pickle",   "_pickle",    "cPickle",    "marshal",    "ctypes",
    "pip",     "popen2",   "importlib",  "dill",       "cloudpickle"};

constexpr std::string_view dangerousBuiltins[] = {
    "eval",       "exec",    "execfile", "compile",   "open",    "file",
    "__import__", "input",   "apply",    "reload",    "globals", "locals",
    "vars",       "delattr", "setattr",  "breakpoint"};

constexpr std::string_view builtinModules[] = {"builtins", "__builtin__",
                                               "__builtins__"};

/// Functions of others that run what they are given.
constexpr std::pair<std::string_view, std::string_view> dangerousFunctions[] = {
    {"code", "interact"},
    {"code", "InteractiveInterpreter"},
    {"code", "InteractiveConsole"},
    {"commands", "getoutput"},
    {"timeit", "timeit"},
    {"timeit", "repeat"},
    {"profile", "run"},
    {"cProfile", "run"},
    {"operator", "attrgetter"},
    {"operator", "methodcaller"},
    {"_operator", "attrgetter"},
    {"_operator", "methodcaller"},
    {"functools", "reduce"},
    {"numpy.testing._private.utils", "runstring"},
    {"torch", "load"},
    {"torch.serialization", "load"},
    {"torch.hub", "load"},
    {"types", "CodeType"},
    {"types", "FunctionType"}};

} // namespace

bool isDangerous(std::string_view module, std::string_view name) {
  // A module of a package is as its package: `os.path`.
  std::string_view package = module.substr(0, module.find('.'));
  if (std::ranges::find(builtinModules, module) != std::end(builtinModules))
    return std::ranges::find(dangerousBuiltins, name) !=
           std::end(dangerousBuiltins);
  return std::ranges::find(dangerousModules, package) !=
             std::end(dangerousModules) ||
         std::ranges::find(dangerousFunctions, std::pair(module, name)) !=
             std::end(dangerousFunctions);
}

std::span<const Value> Pickle::items(const Value &value) const {
  if (!hasNode(value.kind))
    return {};
  return nodes[value.node].items;
}

std::span<const Value> Pickle::pairs(const Value &object) const {
  if (object.is(Kind::dict))
    return nodes[object.node].items;
  if (!object.is(Kind::object))
    return {};
  return objects[nodes[object.node].object].pairs;
}

const Call &Pickle::call(const Value &object) const {
  static const Call none;
  return object.is(Kind::object) ? objects[nodes[object.node].object].call
                                 : none;
}

std::string Pickle::globalName(const Value &global) const {
  if (!global.is(Kind::global))
    return {};
  std::span<const Value> parts = items(global);
  std::string name(parts[0].text());
  return name.append(".").append(parts[1].text());
}

const Value &Pickle::idOf(const Value &persistent) const {
  static const Value none;
  return persistent.is(Kind::persistent) ? items(persistent)[0] : none;
}

const Value *Pickle::find(const Value &dict, std::string_view key) const {
  std::span<const Value> all = pairs(dict);
  for (size_t at = 0; at + 1 < all.size(); at += 2)
    if (all[at].is(Kind::text) && all[at].text() == key)
      return &all[at + 1];
  return nullptr;
}

std::optional<size_t> Pickle::nodeOf(const Value &value) const {
  if (!hasNode(value.kind))
    return std::nullopt;
  return value.node;
}

} // namespace sinter::runtime::pickle
