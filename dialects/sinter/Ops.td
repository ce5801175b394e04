/// Every op of the dialect, in the order of their codes.
include "dialects/sinter/ops/Elementwise.td"
include "dialects/sinter/ops/View.td"
include "dialects/sinter/ops/Reduce.td"
include "dialects/sinter/ops/Contraction.td"
include "dialects/sinter/ops/Gather.td"
include "dialects/sinter/ops/Random.td"
include "dialects/sinter/ops/Nn.td"
include "dialects/sinter/ops/Windows.td"
