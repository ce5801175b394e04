/// Graphs of the tests.
#include "tests/unit/compiler/Graphs.h"

#include "runtime/device/Device.h"
#include "runtime/graph/Slice.h"

namespace sinter::test {

using namespace graph;

NodeRef leaf(DType dtype, std::vector<Dim> dims) {
  runtime::Device *device = get(runtime::getDevice(DeviceId()));
  size_t bytes = byteWidth(dtype);
  for (Dim dim : dims)
    bytes *= size_t(dim.value);
  return NodeFactory::leaf(InputKind::data, dtype, dims,
                           get(device->allocate(bytes)));
}

Graph graphOf(std::vector<NodeRef> outputs) {
  return get(slice(outputs)).graph;
}

static NodeRef layer(int64_t rows, bool symbolic) {
  Dim n = symbolic ? Dim(rows, dim_exprs::symbol(1, 0, rows)) : Dim(rows);
  NodeRef x = leaf(DType::f32, {n, 8});
  NodeRef w = leaf(DType::f32, {8, 4});
  NodeRef b = leaf(DType::f32, {4});
  NodeRef product = get(matmul(x, w));
  NodeRef bias = get(broadcast(b, std::vector<Dim>{n, 4}));
  return get(relu(get(add(product, bias))));
}

Graph linearLayer(int64_t rows, bool symbolic) {
  return graphOf({layer(rows, symbolic)});
}

Graph layerWithStatistics(int64_t rows, bool symbolic) {
  NodeRef y = layer(rows, symbolic);
  NodeRef s = get(softmax(y, 1));
  int64_t first = 0, second = 1;
  NodeRef columns = get(sum(s, {&first, 1}, false));
  NodeRef sums = get(sum(y, {&second, 1}, true));
  return graphOf({s, columns, sums});
}

} // namespace sinter::test
