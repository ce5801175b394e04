/// Reads a device's name with the runtime alone.
#include <sinter/runtime/DeviceId.h>
#include <sinter/version.h>

#include <cstdio>

int main() {
  auto device = sinter::parseDevice("cuda");
  if (!device)
    return 1;
  std::printf("sinter %s: %s\n", SINTER_VERSION,
              sinter::toString(*device).c_str());
  return 0;
}
