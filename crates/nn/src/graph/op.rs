//! The primitive operators, of which every model is made.

use crate::tensor::Element;

/// Operators on one tensor, element by element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unary {
    /// `-x`
    Neg,
    /// `|x|`
    Abs,
    /// -1, 0 or 1.
    Sign,
    /// The greatest integer not above.
    Floor,
    /// The least integer not below.
    Ceil,
    /// The nearest integer, ties to even.
    Round,
    /// The square root.
    Sqrt,
    /// The exponential.
    Exp,
    /// The natural logarithm.
    Log,
    /// `1 / x`
    Reciprocal,
    /// The sine; in networks of constants alone (positions).
    Sin,
    /// The cosine; as for the sine.
    Cos,
    /// The error function.
    Erf,
    /// `max(x, 0)`
    Relu,
    /// `x` where it is not negative, else `slope * x`.
    LeakyRelu {
        /// Factor of negative numbers.
        slope: f64,
    },
    /// `1 / (1 + exp(-x))`
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// `log(1 + exp(x))`
    Softplus,
    /// `x * P(N <= x)` for a standard normal N, or its approximation by tanh.
    Gelu {
        /// `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))` instead.
        tanh: bool,
    },
    /// The opposite of a Boolean.
    Not,
    /// Whether the operand is not a number.
    IsNan,
}

/// Operators on two tensors, element by element, whose shapes are broadcast as NumPy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient; of integers rounded towards 0.
    Div,
    /// The remainder.
    Mod {
        /// Whether the result has the sign of the dividend, as C does, else of the divisor.
        dividend: bool,
    },
    /// `x` to the power `y`; the second operand may have other elements.
    Pow,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// And of Booleans.
    And,
    /// Or of Booleans.
    Or,
    /// Exclusive or of Booleans.
    Xor,
    /// Gives Booleans.
    Equal,
    /// Gives Booleans.
    Less,
    /// Gives Booleans.
    LessOrEqual,
}

/// Way in which a kernel moves over the dimensions behind the first two. All vectors have one entry for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Size of the kernel.
    pub kernel: Vec<usize>,
    /// Distance of places where it is put.
    pub strides: Vec<usize>,
    /// Distance of its elements.
    pub dilations: Vec<usize>,
    /// Elements added before.
    pub before: Vec<usize>,
    /// Elements added behind. Elements that no place of the kernel reaches are left over.
    pub after: Vec<usize>,
}

/// Operations that a dimension is reduced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The mean; of integers rounded towards 0.
    Mean,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// The product.
    Prod,
}

/// A primitive operator. Axes are counted from 0 and exist; shapes fit: a graph is checked when it is made.
///
/// One output each, but for [`Op::TopK`]. Dimensions that are reduced stay, with size 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Element by element.
    Unary(Unary),
    /// Element by element, broadcast.
    Binary(Binary),
    /// Floats brought into a range.
    Clip {
        /// The least that remains.
        low: f64,
        /// The greatest that remains.
        high: f64,
    },
    /// Conversion to other elements. Floats become integers by leaving out the fraction; anything but 0 is true.
    Cast {
        /// The new elements.
        to: Element,
    },
    /// `inputs[1]` where the Boolean `inputs[0]` is true, else `inputs[2]`; broadcast.
    Select,
    /// The product of (stacks of) matrices, as NumPy's `matmul`; plus `inputs[2]`, broadcast, where it is there.
    MatMul,
    /// `inputs`: data N x C x ..., weights M x C/groups x kernel; plus a bias of M, where it is there. As networks
    /// have it: the kernel is not flipped.
    Conv {
        /// Window of the kernel.
        window: Window,
        /// Number of groups of channels that do not see each other.
        groups: usize,
    },
    /// The transposed map of [`Op::Conv`]: data N x C x ..., weights C x M/groups x kernel, a bias of M.
    ConvTranspose {
        /// Window of the kernel; `before` and `after` are taken off the result.
        window: Window,
        /// Elements of bias alone added behind.
        extra: Vec<usize>,
        /// Groups, as of Conv.
        groups: usize,
    },
    /// The greatest element under the kernel; what was added does not count.
    MaxPool(Window),
    /// The mean under the kernel.
    AveragePool {
        /// Window of the kernel.
        window: Window,
        /// Numbers of elements behind the data that count (all before it do); `None` if only those of the data count.
        counted: Option<Vec<usize>>,
    },
    /// Reduction along some axes.
    Reduce {
        /// Operation of the reduction.
        by: Reduction,
        /// Axes, in ascending order.
        axes: Vec<usize>,
    },
    /// The place, in `int64`, of the greatest or least element along an axis.
    Arg {
        /// The greatest, else the least.
        greatest: bool,
        /// Axis of the operation.
        axis: usize,
        /// The last of equal ones, else the first.
        last: bool,
    },
    /// The greatest or least elements along an axis, in order, the first of equal ones first; and their places in
    /// `int64`.
    TopK {
        /// Number of elements.
        count: usize,
        /// Axis of the operation.
        axis: usize,
        /// The greatest, else the least.
        greatest: bool,
    },
    /// The sum of all elements before, along an axis.
    CumSum {
        /// Axis of the operation.
        axis: usize,
        /// An element's own value does not count.
        exclusive: bool,
        /// Whether sums go from the end.
        reverse: bool,
    },
    /// `exp(x) / sum(exp(x))` along an axis.
    Softmax {
        /// Axis of the operation.
        axis: usize,
    },
    /// The logarithm of [`Op::Softmax`].
    LogSoftmax {
        /// Axis of the operation.
        axis: usize,
    },
    /// `(x - mean(x)) / sqrt(variance(x) + epsilon)` over the last dimensions: layer normalisation and, after
    /// reshaping, that of instances and groups. Scale and bias follow as operators of their own.
    Normalize {
        /// The first of the dimensions.
        axis: usize,
        /// Keeps the divisor from 0.
        epsilon: f64,
        /// Whether the mean is taken off; if not, it is taken to be 0 (RMS normalisation).
        center: bool,
    },
    /// Puts the same elements, in the same order, into another shape.
    Reshape {
        /// The new dimensions.
        shape: Vec<usize>,
    },
    /// Axis `i` of the result is axis `axes[i]`.
    Transpose {
        /// Each axis once.
        axes: Vec<usize>,
    },
    /// All inputs one behind the other.
    Concat {
        /// Axis of the operation.
        axis: usize,
    },
    /// Elements at regular distances.
    Slice {
        /// First element along each axis.
        starts: Vec<usize>,
        /// Distance along each axis; it may be negative.
        steps: Vec<i64>,
        /// Number of elements along each axis.
        lengths: Vec<usize>,
    },
    /// `inputs[0]` at the places `inputs[1]` of an axis, whose dimensions replace that axis. Places may be negative,
    /// and then count from the end, unless they are a constant.
    Gather {
        /// Axis along which elements are taken.
        axis: usize,
    },
    /// Broadcast.
    Expand {
        /// The new dimensions.
        shape: Vec<usize>,
    },
    /// A constant added on both sides.
    Pad {
        /// Number of elements before, along each axis.
        before: Vec<usize>,
        /// Number of elements behind, along each axis.
        after: Vec<usize>,
        /// Their value.
        value: f64,
    },
}

impl Op {
    /// A short name: that of its variant.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Unary(unary) => unary.name(),
            Op::Binary(binary) => binary.name(),
            Op::Clip { .. } => "Clip",
            Op::Cast { .. } => "Cast",
            Op::Select => "Select",
            Op::MatMul => "MatMul",
            Op::Conv { .. } => "Conv",
            Op::ConvTranspose { .. } => "ConvTranspose",
            Op::MaxPool(_) => "MaxPool",
            Op::AveragePool { .. } => "AveragePool",
            Op::Reduce { by, .. } => match by {
                Reduction::Sum => "ReduceSum",
                Reduction::Mean => "ReduceMean",
                Reduction::Max => "ReduceMax",
                Reduction::Min => "ReduceMin",
                Reduction::Prod => "ReduceProd",
            },
            Op::Arg { greatest: true, .. } => "ArgMax",
            Op::Arg { .. } => "ArgMin",
            Op::TopK { .. } => "TopK",
            Op::CumSum { .. } => "CumSum",
            Op::Softmax { .. } => "Softmax",
            Op::LogSoftmax { .. } => "LogSoftmax",
            Op::Normalize { .. } => "Normalize",
            Op::Reshape { .. } => "Reshape",
            Op::Transpose { .. } => "Transpose",
            Op::Concat { .. } => "Concat",
            Op::Slice { .. } => "Slice",
            Op::Gather { .. } => "Gather",
            Op::Expand { .. } => "Expand",
            Op::Pad { .. } => "Pad",
        }
    }
}

/// Gives the name of the variant that a value has.
macro_rules! variant {
    ($value:expr, $($variant:ident)*) => {
        match $value {
            $(Self::$variant { .. } => stringify!($variant),)*
        }
    };
}

impl Unary {
    /// A short name: that of its variant.
    pub fn name(&self) -> &'static str {
        variant!(
            self,
            Neg Abs Sign Floor Ceil Round Sqrt Exp Log Reciprocal Sin Cos Erf Relu LeakyRelu Sigmoid Tanh Softplus Gelu
            Not IsNan
        )
    }
}

impl Binary {
    /// A short name: that of its variant.
    pub fn name(&self) -> &'static str {
        variant!(self, Add Sub Mul Div Mod Pow Min Max And Or Xor Equal Less LessOrEqual)
    }
}
