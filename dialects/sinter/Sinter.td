/// All records: the input of sinter-tblgen.
include "dialects/sinter/Ops.td"
include "dialects/sinter/Gradients.td"
include "dialects/sinter/Lowerings.td"
include "dialects/sinter/MathGradients.td"
include "dialects/sinter/MathLowerings.td"
include "dialects/sinter/Methods.td"
include "dialects/sinter/Names.td"
