/// The umbrella header of Sinter.
#pragma once

#include <sinter/Background.h>
#include <sinter/Convolution.h>
#include <sinter/Creation.h>
#include <sinter/CustomGradient.h>
#include <sinter/Error.h>
#include <sinter/Inspect.h>
#include <sinter/Module.h>
#include <sinter/Ops.h>
#include <sinter/Param.h>
#include <sinter/Pooling.h>
#include <sinter/Random.h>
#include <sinter/Stats.h>
#include <sinter/Tensor.h>
#include <sinter/Transforms.h>
#include <sinter/data/Csv.h>
#include <sinter/data/Shuffle.h>
#include <sinter/nn/Attention.h>
#include <sinter/nn/Conv.h>
#include <sinter/nn/Dropout.h>
#include <sinter/nn/Embedding.h>
#include <sinter/nn/LayerNorm.h>
#include <sinter/nn/Linear.h>
#include <sinter/nn/Pool.h>
#include <sinter/optim/Adam.h>
#include <sinter/optim/Sgd.h>
