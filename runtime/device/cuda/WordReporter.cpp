/// The kernel's text, and loading it.
#include "runtime/device/cuda/WordReporter.h"

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::cuda;

/// Pinned memory has one address for host and device (unified addressing). The
/// store is one of the whole system, so the host sees all or nothing of it.
static constexpr char ptx[] = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry sinter_report_word(.param .align 8 .b8 words[16]) {
  .reg .b64 %from, %to, %word;
  ld.param.b64 %from, [words];
  ld.param.b64 %to, [words+8];
  cvta.to.global.u64 %from, %from;
  cvta.to.global.u64 %to, %to;
  ld.volatile.global.u64 %word, [%from];
  st.volatile.global.u64 [%to], %word;
  ret;
}
)";

Result<Function> WordReporter::kernel() {
  std::lock_guard lock(mutex);
  if (function)
    return function;
  if (!module)
    SINTER_TRY(
        driver.check("cuModuleLoadDataEx",
                     driver.loadModule(&module, ptx, 0, nullptr, nullptr)));
  SINTER_TRY(driver.check("cuModuleGetFunction",
                          driver.findFunction(&function, module, kernelName)));
  return function;
}
