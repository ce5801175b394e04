/// Reading the options of convolutions and pooling.
#include "frontend/WindowLists.h"

#include "frontend/FixedDims.h"

namespace sinter::detail {

using graph::NodeRef;
using DimList = SmallVector<Dim, 6>;

ImageCall::ImageCall(Recorder &recorder, const NodeRef &x, size_t rank,
                     Layout layout)
    : image(x), recorder(recorder), rank(rank), layout(layout) {
  if (rank == 0 || x->rank() != rank + 1)
    return;
  DimList shape{Dim(1)};
  shape.append(x->dims());
  auto batched = graph::reshape(x, shape);
  if (!batched)
    recorder.fail(batched.takeError());
  image = std::move(*batched);
  addsBatch = true;
}

IntList ImageCall::list(const Axes &given, const char *name,
                        int64_t otherwise) const {
  if (given.isAll())
    return IntList(rank, otherwise);
  if (given.size() == 1)
    return IntList(rank, *given.begin());
  if (given.size() != rank)
    recorder.fail(std::string(name) + " has " + std::to_string(given.size()) +
                      " entries for " + std::to_string(rank) + " axes",
                  {&image, 1});
  return IntList(std::span<const int64_t>(given));
}

IntList ImageCall::fixSpace() {
  IntList space;
  if (image->dims().size() != rank + 2)
    recorder.fail("an image with " + std::to_string(rank) + " axes has rank " +
                      std::to_string(rank + 2),
                  {&image, 1});
  for (size_t i = 0; i < rank; ++i)
    space.push_back(image->dims()[firstAxis() + i].value);
  auto fixed = withNumbers(image, firstAxis(), rank);
  if (!fixed)
    recorder.fail(fixed.takeError());
  image = std::move(*fixed);
  return space;
}

Tensor ImageCall::result(Result<NodeRef> node) {
  if (node && addsBatch)
    node = graph::reshape(*node, (*node)->dims().subspan(1));
  return recorder.result(std::move(node));
}

} // namespace sinter::detail
