/// ResNet, ViT, MobileNet, a block of a U-Net and a generator of images.
#include "tools/benchmarks/models/Dcgan.h"
#include "tools/benchmarks/models/MobileNet.h"
#include "tools/benchmarks/models/ResNet.h"
#include "tools/benchmarks/models/UNet.h"
#include "tools/benchmarks/models/Vit.h"
#include "tools/benchmarks/native/ModelWork.h"

#include <sstream>

using namespace bench;
using namespace models;

using Made = std::unique_ptr<Work>;

/// What tells the classes of images apart.
template <typename Model>
static Made classifier(Model model, const Case &c, Trainer trainer) {
  int64_t batch = c.number("batch"), image = c.number("image");
  Tensor images = inputFor(c, {batch, 3, image, image}, 1);
  if (!trains(c))
    return forwardOf(std::move(model),
                     [=](const Model &m) { return m(images); });
  Tensor classes = labelsOf({batch}, 2, c.number("classes"));
  return trainingOf(std::move(model), trainer, [=](const Model &m) {
    return sn::cross_entropy(m(images), classes);
  });
}

/// Numbers between commas: the blocks of each stage.
static std::vector<int64_t> listOf(const std::string &text) {
  std::vector<int64_t> numbers;
  std::istringstream stream(text);
  for (std::string number; std::getline(stream, number, ',');)
    numbers.push_back(std::stoll(number));
  return numbers;
}

Made bench::makeResNet(const Case &c) {
  ResNet model(listOf(c.text("stages")), c.number("width"),
               c.number("classes"));
  return classifier(prepared(std::move(model), c), c, Trainer::sgd);
}

Made bench::makeVit(const Case &c) {
  Vit model(c.number("image"), c.number("patch"), c.number("size"),
            c.number("heads"), c.number("layers"), c.number("classes"));
  return classifier(prepared(std::move(model), c), c, Trainer::adamw);
}

Made bench::makeMobileNet(const Case &c) {
  MobileNet model(c.number("least"), c.number("classes"));
  return classifier(prepared(std::move(model), c), c, Trainer::sgd);
}

Made bench::makeUNet(const Case &c) {
  int64_t channels = c.number("channels"), image = c.number("image");
  UNetBlock model =
      prepared(UNetBlock(channels, c.number("groups"), c.number("heads")), c);
  sn::Dims shape{c.number("batch"), channels, image, image};
  Tensor x = inputFor(c, shape, 1);
  if (!trains(c))
    return forwardOf(std::move(model),
                     [=](const UNetBlock &m) { return m(x); });
  Tensor noise = inputFor(c, shape, 2);
  return trainingOf(std::move(model), Trainer::adamw, [=](const UNetBlock &m) {
    return sn::mse_loss(m(x), noise);
  });
}

Made bench::makeDcgan(const Case &c) {
  int64_t batch = c.number("batch"), noise = c.number("noise");
  Dcgan model = prepared(Dcgan(noise, c.number("width")), c);
  Tensor x = inputFor(c, {batch, noise, 1, 1}, 1);
  if (!trains(c))
    return forwardOf(std::move(model), [=](const Dcgan &m) { return m(x); });
  Tensor images = inputFor(c, {batch, 3, 64, 64}, 2);
  return trainingOf(std::move(model), Trainer::adamw,
                    [=](const Dcgan &m) { return sn::mse_loss(m(x), images); });
}
