/// Tokens and the thread's flag.
#include <sinter/Cancel.h>

#include "frontend/Raise.h"
#include "runtime/support/Cancel.h"

namespace sinter {

CancelToken::CancelToken() try
    : flag(std::make_shared<std::atomic<bool>>(false)) {
} catch (...) {
  detail::raiseExhausted({});
}

cancel_scope::cancel_scope(const CancelToken &token)
    : flag(token.flag), previous(setCancelFlag(flag.get())) {}

cancel_scope::~cancel_scope() { setCancelFlag(previous); }

} // namespace sinter
