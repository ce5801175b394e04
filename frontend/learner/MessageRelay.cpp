/// The library's messages as lines of a training's log.
#include "frontend/learner/MessageRelay.h"

#include <utility>

namespace sinter::train {

MessageRelay::MessageRelay()
    : tap([this](LogLevel level, std::string_view text) {
        Message message{.level = level == LogLevel::warning ? Level::warning
                                                            : Level::info,
                        .text = std::string(text)};
        std::lock_guard lock(mutex);
        waiting.push_back(std::move(message));
      }) {}

std::vector<Message> MessageRelay::take() {
  std::lock_guard lock(mutex);
  return std::exchange(waiting, {});
}

void tellWithMessages(Listeners &listeners, MessageRelay *relay,
                      const Event &event) {
  bool isFirst = std::holds_alternative<RunBegin>(event);
  if (isFirst)
    listeners.on(event);
  if (relay)
    for (Message &message : relay->take())
      listeners.on(std::move(message));
  if (!isFirst)
    listeners.on(event);
}

} // namespace sinter::train
