/// MessageRelay: the library's messages as lines of a training's log.
#pragma once

#include "runtime/support/LogTap.h"

#include <sinter/train/Events.h>

#include <mutex>
#include <vector>

namespace sinter::train {

/// While it lives, what `set_log` takes arrives here and not on the standard
/// error, where it would tear a dashboard. Messages come on any thread; who
/// tells listeners fetches them.
class MessageRelay {
public:
  MessageRelay();
  MessageRelay(const MessageRelay &) = delete;

  /// What came since the last call.
  std::vector<Message> take();

private:
  std::mutex mutex;
  std::vector<Message> waiting;
  LogTap tap; ///< the last: what it calls is there
};

/// Tells an event behind the messages that came before it; those from before
/// the first one, behind it.
void tellWithMessages(Listeners &listeners, MessageRelay *relay,
                      const Event &event);

} // namespace sinter::train
