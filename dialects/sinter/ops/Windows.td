/// Sliding windows, and what is made of them: convolutions and pooling.
#ifndef SINTER_OPS_WINDOWS_TD
#define SINTER_OPS_WINDOWS_TD

include "dialects/sinter/OpBase.td"

def Sinter_WindowOp : Sinter_View<"window"> {
  let reorder = "windows";
  let summary = "Sliding windows along axes.";
  let description = [{
    Axis axes[j] of x becomes that of the windows' positions; the windows'
    elements are new last axes, one for each of `axes`. Element k of window i
    stands at i * strides[j] + k * dilations[j] in x.
  }];
  let arguments = (ins Sinter_Tensor:$x, Sinter_Axes:$axes, Sinter_Ints:$sizes,
                       Sinter_Ints:$strides, Sinter_Ints:$dilations);
  let example = "window(x, {1}, {2}, {1}, {1})";
}
def Sinter_UnwindowOp : Sinter_View<"unwindow"> {
  let reorder = "windows";
  let summary = "Elements of windows at the places that they were taken from.";
  let description = [{
    x is what `window` makes of a tensor of `shape`. The result has `shape` and
    the windows' axes after it: each window's element stands where it was taken
    from, and elsewhere is 0. Its sum over the windows' axes is the gradient of
    `window`.
  }];
  let arguments = (ins Sinter_Numeric:$x, Sinter_Dims:$shape, Sinter_Axes:$axes,
                       Sinter_Ints:$sizes, Sinter_Ints:$strides,
                       Sinter_Ints:$dilations);
  let results = (outs Sinter_Numeric:$result);
  let example = "unwindow(window(x, {1}, {2}, {1}, {1}), {3, 4}, {1}, {2}, {1}, "
                "{1})";
}

/// Where the channels of an image stand: [n, c, ...] or [n, ..., c].
def Sinter_Layout
    : Sinter_Choice<"Layout", ["channels_first", "channels_last"]>;

/// Ops over windows of an image's space. Padding stands before (`low`) and
/// after (`high`) each axis.
/// `imageRoles` are enumerators of ir::ImageRole, one for each operand and the
/// result.
class Sinter_Windowed<string mnemonic, dag operands, dag more,
                      list<string> imageRoles, bit isProduct = 1>
    : Sinter_Composite<mnemonic, [ImageOpInterface]> {
  let reorder = "image";
  let declares = [{
    static ::llvm::ArrayRef<::sinter::ir::ImageRole> getImageRoles() {
      static constexpr ::sinter::ir::ImageRole roles[] = {}]
      # !interleave(!foreach(role, imageRoles,
                             "::sinter::ir::ImageRole::" # role), ", ") # [{};
      return roles;
    }
    static bool isProduct() { return }]
    # !if(isProduct, "true", "false") # [{; }
  }];
  let arguments = !con(
      operands,
      (ins Sinter_Ints:$sizes, Sinter_Ints:$strides, Sinter_Ints:$low,
           Sinter_Ints:$high, Sinter_Ints:$dilations),
      more, (ins Sinter_Layout:$layout));
  let promotion = "match";
  let handWritten = 1;
  let precision = !if(isProduct, "low", "any");
}

def Sinter_ConvOp
    : Sinter_Windowed<"conv", (ins Sinter_Float:$x, Sinter_Float:$weight),
                      (ins Sinter_Integer:$groups),
                      ["image", "weight", "positions"]> {
  let summary = "Convolution of an image of any number of axes.";
  let description = [{
    weight is [channels out, channels in / groups, sizes...] in both layouts.
  }];
  let shapeRule = "conv";
  let example = "conv1d(x, weight)";
}
def Sinter_ConvTransposeOp
    : Sinter_Windowed<"conv_transpose",
                      (ins Sinter_Float:$x, Sinter_Float:$weight),
                      (ins Sinter_Integer:$groups, Sinter_Dims:$space),
                      ["positions", "weight", "image"]> {
  let summary = "What conv's gradient makes of the gradient of its result.";
  let description = [{
    weight is [channels in, channels out / groups, sizes...]; `space` is the
    size of the result's image, of which `conv` would make x's.
  }];
  let shapeRule = "convTranspose";
  let example = "conv_transpose1d(x, weight)";
}
def Sinter_ConvWeightGradOp
    : Sinter_Windowed<"conv_weight_grad", (ins Sinter_Float:$x, Sinter_Float:$grad),
                      (ins Sinter_Integer:$groups),
                      ["image", "positions", "weight"]> {
  let summary = "The gradient of conv for its weight.";
  let description = "`grad` is that of the result for the image x.";
  let shapeRule = "convWeight";
  let example = "conv_weight_grad(x, grad, {2}, {1}, {0}, {0}, {1}, 1, "
                "Layout::channels_first)";
  let handWritten = 0;
}

def Sinter_MaxPoolOp
    : Sinter_Windowed<"max_pool", (ins Sinter_Float:$x), (ins),
                      ["image", "positions"], 0> {
  let summary = "Largest element of each window; NaN if there is one.";
  let description = [{
    Padding counts as -infinity. The gradient is that of the window's first
    element of this size.
  }];
  let shapeRule = "pool";
  let shapeArguments = ["sizes", "strides", "low", "high", "dilations",
                        "layout"];
  let domains = [Distinct];
  let example = "max_pool1d(x, 2)";
}
def Sinter_AvgPoolOp
    : Sinter_Windowed<"avg_pool", (ins Sinter_Float:$x),
                      (ins Sinter_Ints:$counted_low, Sinter_Ints:$counted_high,
                           Sinter_Real:$divisor),
                      ["image", "positions"], 0> {
  let summary = "Sum of each window, divided by the number of its elements.";
  let description = [{
    Counted are the elements of the image and as many of its padding as
    counted_low and counted_high say. A `divisor` other than 0 stands for the
    number.
  }];
  let shapeRule = "avgPool";
  let example = "avg_pool1d(x, 2)";
}

#endif // SINTER_OPS_WINDOWS_TD
