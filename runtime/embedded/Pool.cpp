/// The process's pool for embedded models; apart, so that only programs that
/// name it have it.
#include "runtime/device/ThreadPool.h"
#include "sinter/embedded.h"

void sinter_embedded_pool(void * /*user*/, sinter_embedded_task task,
                          void *context, int64_t chunks) {
  sinter_parallel_for(task, context, chunks);
}
