/// Steps as bytes.
#include "frontend/monitor/StepQueue.h"

namespace sinter::train {

bool means(std::span<const Value> values, const Meanings &meanings) {
  if (!meanings || values.size() != meanings->size())
    return false;
  for (size_t index = 0; index < values.size(); ++index) {
    const Value &mine = values[index], &other = (*meanings)[index];
    if (mine.name != other.name || mine.unit != other.unit ||
        mine.better != other.better || mine.role != other.role)
      return false;
  }
  return true;
}

static StepPlace after(StepPlace place) {
  ++place.step;
  ++place.total_step;
  return place;
}

void StepQueue::addStep(const StepEnd &step) {
  StepPlace place = {step.split, step.epoch,      step.step,
                     step.steps, step.total_step, step.items};
  uint8_t head = 0;
  if (bytes.empty() || place != after(last))
    head |= placed;
  size_t count = step.values.size();
  // A step without values leaves the meanings as they are.
  if (count > 0 && (meanings.empty() || !means(step.values, meanings.back())))
    head |= meant | counted;
  else if (count > 0)
    for (size_t index = 0; index < count; ++index)
      if (step.values[index].items != lastItems[index])
        head |= counted;
  // Bits above the four say that there are values.
  put(uint8_t(head | (count > 0 ? 16 : 0)));
  put(step.time);
  if (head & placed)
    put(place);
  if (head & meant)
    meanings.push_back(std::make_shared<std::vector<Value>>(step.values.begin(),
                                                            step.values.end()));
  if (head & counted) {
    lastItems.resize(count);
    for (size_t index = 0; index < count; ++index)
      put(lastItems[index] = step.values[index].items);
  }
  for (const Value &value : step.values)
    put(value.value);
  last = place;
}

StepEnd StepQueue::takeStep(uint8_t head, size_t &at, StepPlace &place,
                            size_t &nextMeaning,
                            std::vector<Value> &values) const {
  auto time = take<double>(at);
  place = head & placed ? take<StepPlace>(at) : after(place);
  if (head & meant)
    values = *meanings[nextMeaning++];
  if (head & counted)
    for (Value &value : values)
      value.items = take<uint64_t>(at);
  bool hasValues = head & 16;
  if (hasValues)
    for (Value &value : values)
      value.value = take<double>(at);
  return {.split = place.split,
          .epoch = place.epoch,
          .step = place.step,
          .steps = place.steps,
          .total_step = place.total_step,
          .items = place.items,
          .values = hasValues ? std::span<const Value>(values)
                              : std::span<const Value>(),
          .time = time};
}

void StepQueue::add(const Event &event) {
  if (const auto *step = std::get_if<StepEnd>(&event)) {
    addStep(*step);
    return;
  }
  Kept &kept = rest.emplace_back(Kept{event, {}});
  if (auto *end = std::get_if<EpochEnd>(&kept.event)) {
    kept.values.assign(end->values.begin(), end->values.end());
    end->values = kept.values;
  }
  put(uint8_t(whole));
}

} // namespace sinter::train
