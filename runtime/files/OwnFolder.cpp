/// Asks the dynamic loader.
#include "runtime/files/OwnFolder.h"

#include <dlfcn.h>

std::string sinter::runtime::ownFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&ownFolder), &info) ||
      !info.dli_fname)
    return ".";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}
