//! Types of the results of each operation, from those of its operands.

use madrigal_core::{Convolution, Product};

use super::{Binary, Graph, Op, Reduction, TensorType, Unary, not_defined};
use crate::element::Type;
use crate::error::Fault;
use crate::shape::Shape;

impl Op {
    /// Types and shapes of the results for operands of these. Leaves, whose type nothing tells, have none.
    ///
    /// # Errors
    /// [`Fault`] that says what does not fit.
    pub fn result_types(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, Fault> {
        let one = |element: Type, shape: Shape| Ok(vec![TensorType { element, shape }]);
        let wrong = || not_defined(self, inputs);
        match (self, inputs) {
            (Op::Constant(array), []) => one(array.element(), array.shape().clone()),
            (Op::View(view), [x]) => {
                let inside = view.last().is_none_or(|last| last < x.shape.elements());
                let empty = view.shape.elements() == 0;
                if !empty && (!inside || view.last().is_none()) {
                    return Err(
                        self.lengths(format!("it reaches beyond a value of shape {}", x.shape))
                    );
                }
                one(x.element, view.shape.clone())
            }
            (Op::Reshape(shape), [x]) => {
                if shape.elements() != x.shape.elements() {
                    return Err(Fault::Reshape {
                        from: x.shape.clone(),
                        to: shape.axes().to_vec(),
                    });
                }
                one(x.element, shape.clone())
            }
            (Op::Pick { axis, places }, [x]) => {
                self.axis(*axis, &x.shape)?;
                let length = x.shape.axes()[*axis];
                if let Some(&place) = places.iter().find(|&&place| place >= length) {
                    return Err(Fault::Range {
                        from: place,
                        to: place.saturating_add(1),
                        axis: *axis,
                        shape: x.shape.clone(),
                    });
                }
                let mut axes = x.shape.axes().to_vec();
                axes[*axis] = places.len();
                one(x.element, sized(&axes)?)
            }
            (Op::Join(axis), [first, ..]) => self.join(*axis, first, inputs),
            (Op::Row(axis), [x, index]) => {
                if index.element != Type::PLACE || index.shape.rank() != 0 {
                    return Err(wrong());
                }
                self.axis(*axis, &x.shape)?;
                one(x.element, x.shape.without(*axis))
            }
            (Op::Unary(unary), [x]) => {
                let element = unary.element(x.element).ok_or_else(wrong)?;
                one(element, x.shape.clone())
            }
            (Op::Binary(binary), [a, b]) => {
                let element = binary.element(a.element, b.element).ok_or_else(wrong)?;
                self.same_shape(a, b)?;
                one(element, a.shape.clone())
            }
            (Op::Select, [condition, a, b]) => {
                if !condition.element.is_bool() || a.element != b.element {
                    return Err(wrong());
                }
                self.same_shape(condition, a)?;
                self.same_shape(a, b)?;
                one(a.element, a.shape.clone())
            }
            (Op::Cast(element), [x]) => one(*element, x.shape.clone()),
            (Op::Truncate { by, .. }, [x]) => {
                let element = x.element.moved(-i64::from(*by)).ok_or_else(wrong)?;
                if !element.is_signed() {
                    return Err(wrong());
                }
                one(element, x.shape.clone())
            }
            (Op::Reduce(reduction, axis), [x]) => {
                let element = x.element;
                let (bool, fixed) = (element.is_bool(), element.fraction() > 0);
                let (fits, neutral) = match reduction {
                    Reduction::Sum => (!bool, true),
                    Reduction::Product => (!bool && !fixed, true),
                    Reduction::Least | Reduction::Greatest => (!bool, false),
                    Reduction::And | Reduction::Or | Reduction::Xor => (!fixed, true),
                };
                if !fits {
                    return Err(wrong());
                }
                self.axis(*axis, &x.shape)?;
                if !neutral {
                    self.filled(*axis, &x.shape)?;
                }
                one(element, x.shape.without(*axis))
            }
            (Op::Find(_, axis), [x]) => {
                if x.element.is_bool() {
                    return Err(wrong());
                }
                self.filled(*axis, &x.shape)?;
                let shape = x.shape.without(*axis);
                Ok(vec![
                    TensorType::new(x.element, shape.clone()),
                    TensorType::new(Type::PLACE, shape),
                ])
            }
            (Op::PrefixSums(axis), [x]) => {
                if x.element.is_bool() {
                    return Err(wrong());
                }
                self.axis(*axis, &x.shape)?;
                one(x.element, x.shape.clone())
            }
            (Op::Sort { keep, .. }, [keys, ..]) => {
                if keys.element.is_bool() {
                    return Err(wrong());
                }
                let last = keys.shape.rank().saturating_sub(1);
                self.axis(last, &keys.shape)?;
                let length = keys.shape.axes()[last];
                if *keep > length {
                    return Err(Fault::Range {
                        from: 0,
                        to: *keep,
                        axis: last,
                        shape: keys.shape.clone(),
                    });
                }
                let mut outputs = Vec::new();
                for input in inputs {
                    self.same_shape(keys, input)?;
                    let shape = input.shape.with(last, *keep).ok_or_else(wrong)?;
                    outputs.push(TensorType::new(input.element, shape));
                }
                Ok(outputs)
            }
            (Op::SortBy(keys), [first, ..]) => {
                if keys.is_empty() || keys.len() > inputs.len() {
                    return Err(wrong());
                }
                self.axis(first.shape.rank().saturating_sub(1), &first.shape)?;
                for input in inputs {
                    self.same_shape(first, input)?;
                }
                Ok(inputs.iter().map(|&input| input.clone()).collect())
            }
            (Op::Shuffle, [first, ..]) => {
                self.axis(first.shape.rank().saturating_sub(1), &first.shape)?;
                for input in inputs {
                    self.same_shape(first, input)?;
                }
                Ok(inputs.iter().map(|&input| input.clone()).collect())
            }
            (Op::Random(element, shape), []) => {
                if element.is_signed() || element.is_bool() || element.fraction() > 0 {
                    return Err(wrong());
                }
                one(*element, shape.clone())
            }
            (Op::Numbered(count), []) => {
                if u32::try_from(*count).is_err() {
                    return Err(self.lengths("there are less than 2^32 rows".into()));
                }
                one(Type::PLACE, sized(&[*count])?)
            }
            (Op::MoveRows, [places, columns @ ..]) => {
                if places.element != Type::PLACE || columns.is_empty() {
                    return Err(wrong());
                }
                self.axis(places.shape.rank().saturating_sub(1), &places.shape)?;
                for column in columns {
                    self.same_shape(places, column)?;
                }
                Ok(columns.iter().map(|&column| column.clone()).collect())
            }
            (Op::MatMul, [a, b]) => {
                let element = Binary::Mul
                    .element(a.element, b.element)
                    .ok_or_else(wrong)?;
                let inner = || Fault::Inner {
                    left: a.shape.clone(),
                    right: b.shape.clone(),
                };
                let ([batch, m, k], [batch_b, k_b, n]) = (a.shape.axes(), b.shape.axes()) else {
                    return Err(inner());
                };
                if batch != batch_b || k != k_b {
                    return Err(inner());
                }
                one(element, sized(&[*batch, *m, *n])?)
            }
            (Op::Convolve(convolution), [filters, images]) => {
                let element = Binary::Mul
                    .element(filters.element, images.element)
                    .ok_or_else(wrong)?;
                let unfit = || Fault::Convolution {
                    images: images.shape.clone(),
                    filters: filters.shape.clone(),
                    groups: convolution.groups,
                };
                let product = Product::Convolution(*convolution);
                let output = convolution.checked_output();
                let Some([rows, columns]) = output.filter(|_| product.checked_lengths().is_some())
                else {
                    return Err(unfit());
                };
                let Convolution {
                    images: count,
                    channels,
                    groups,
                    ..
                } = *convolution;
                let [image, filter] = [convolution.image, convolution.filter];
                let wanted = [
                    [convolution.filters, channels / groups, filter[0], filter[1]],
                    [count, channels, image[0], image[1]],
                ];
                if [filters.shape.axes(), images.shape.axes()] != [&wanted[0][..], &wanted[1]] {
                    return Err(unfit());
                }
                one(
                    element,
                    sized(&[count, convolution.filters, rows, columns])?,
                )
            }
            (Op::LookUp, [table, places]) => {
                let index = places.element;
                let ([batch, _, width], [batch_b, count]) =
                    (table.shape.axes(), places.shape.axes())
                else {
                    return Err(
                        self.lengths("it takes a table of three axes and places of two".into())
                    );
                };
                if batch != batch_b {
                    return Err(
                        self.lengths(format!("{batch} tables and {batch_b} lists of places"))
                    );
                }
                if index.is_signed() || index.is_bool() {
                    return Err(wrong());
                }
                one(table.element, sized(&[*batch, *count, *width])?)
            }
            (Op::Each(each), [first, others @ ..]) => {
                for other in others {
                    self.same_shape(first, other)?;
                }
                let types: Vec<Type> = inputs.iter().map(|typed| typed.element).collect();
                let results = each.operation().results(&types);
                let results = results.map_err(|what| self.lengths(what))?.into_iter();
                Ok(results
                    .map(|element| TensorType::new(element, first.shape.clone()))
                    .collect())
            }
            (Op::Operation(own), _) => Ok(own.outputs().to_vec()),
            (Op::To(_), [x]) => one(x.element, x.shape.clone()),
            (Op::Repeat { carried, body, .. }, _) if *carried <= inputs.len() => {
                for (part, (before, &after)) in inputs.iter().zip(body.results()).enumerate() {
                    let after = body.type_of(after);
                    if *before != after {
                        return Err(Fault::State {
                            part,
                            before: Box::new((*before).clone()),
                            after: Box::new(after.clone()),
                        });
                    }
                }
                Ok(inputs[..*carried]
                    .iter()
                    .map(|&typed| typed.clone())
                    .collect())
            }
            (
                Op::Map {
                    count,
                    carried,
                    body,
                },
                _,
            ) if *carried <= inputs.len() => {
                let whole = |node: &super::Node| matches!(node.op, Op::Operation(_));
                if body.nodes().iter().any(whole) {
                    let what = "an operation of one's own takes whole tensors, not rows of them";
                    return Err(self.lengths(what.into()));
                }
                if !body.fits((*count).max(1)) {
                    return Err(self.lengths("its values on all rows are too large".into()));
                }
                let mut outputs = Vec::new();
                for &result in body.results() {
                    let typed = body.type_of(result);
                    let axes = [&[*count], typed.shape.axes()].concat();
                    outputs.push(TensorType::new(typed.element, sized(&axes)?));
                }
                Ok(outputs)
            }
            (Op::Choose(branches), [index, ..]) => {
                let number = index.element.fraction() == 0 && !index.element.is_signed();
                let two = !index.element.is_bool() || branches.len() == 2;
                let Some(first) = branches.first().filter(|_| number && two) else {
                    return Err(wrong());
                };
                let types = |graph: &Graph| -> Vec<TensorType> {
                    let results = graph.results().iter();
                    results
                        .map(|&result| graph.type_of(result).clone())
                        .collect()
                };
                let outputs = types(first);
                for typed in &outputs {
                    self.same_shape(index, typed)?;
                }
                match branches.iter().find(|&branch| types(branch) != outputs) {
                    Some(_) => Err(self.lengths("its branches give values of other sorts".into())),
                    None => Ok(outputs),
                }
            }
            _ => Err(self.lengths(format!("{} operands", inputs.len()))),
        }
    }

    fn join(
        &self,
        axis: usize,
        first: &TensorType,
        inputs: &[&TensorType],
    ) -> Result<Vec<TensorType>, Fault> {
        self.axis(axis, &first.shape)?;
        let mut length = 0;
        for input in inputs {
            let alike = input.shape.rank() == first.shape.rank()
                && input.shape.without(axis) == first.shape.without(axis);
            if !alike {
                return Err(Fault::Join {
                    shapes: inputs.iter().map(|typed| typed.shape.clone()).collect(),
                    axis,
                });
            }
            if input.element != first.element {
                return Err(not_defined(self, inputs));
            }
            length += input.shape.axes()[axis];
        }
        let mut axes = first.shape.axes().to_vec();
        axes[axis] = length;
        Ok(vec![TensorType::new(first.element, sized(&axes)?)])
    }

    fn same_shape(&self, a: &TensorType, b: &TensorType) -> Result<(), Fault> {
        if a.shape == b.shape {
            return Ok(());
        }
        Err(Fault::Broadcast {
            operator: self.to_string(),
            left: a.shape.clone(),
            right: b.shape.clone(),
        })
    }

    fn axis(&self, axis: usize, shape: &Shape) -> Result<(), Fault> {
        if axis < shape.rank() {
            return Ok(());
        }
        Err(Fault::Axis {
            operator: self.to_string(),
            axis,
            shape: shape.clone(),
        })
    }

    fn filled(&self, axis: usize, shape: &Shape) -> Result<(), Fault> {
        self.axis(axis, shape)?;
        if shape.axes()[axis] > 0 {
            return Ok(());
        }
        Err(Fault::Empty {
            operator: self.to_string(),
            axis,
            shape: shape.clone(),
        })
    }

    fn lengths(&self, what: String) -> Fault {
        Fault::Lengths {
            operator: self.to_string(),
            what,
        }
    }
}

/// A shape, if it is not too large.
pub(crate) fn sized(axes: &[usize]) -> Result<Shape, Fault> {
    Shape::checked(axes).ok_or_else(|| Fault::TooLarge {
        axes: axes.to_vec(),
    })
}

impl Unary {
    /// The type of the result.
    fn element(self, x: Type) -> Option<Type> {
        let integer = !x.is_bool() && x.fraction() == 0;
        match self {
            Self::Negate if !x.is_bool() => Some(x),
            Self::Not if x.fraction() == 0 => Some(x),
            Self::Abs if x.is_signed() => Some(x),
            Self::Square if !x.is_bool() => x.moved(x.fraction().into()),
            Self::Root if integer && !x.is_signed() => Some(x),
            Self::CountOnes | Self::LeadingZeros if integer => Some(Type::PLACE),
            Self::ShiftLeft(_) | Self::ShiftRight(_) if !x.is_bool() => Some(x),
            Self::RotateLeft(_) if integer => Some(x),
            _ => None,
        }
    }
}

impl Binary {
    /// The type of the result.
    fn element(self, a: Type, b: Type) -> Option<Type> {
        let integer = |x: Type| !x.is_bool() && x.fraction() == 0;
        let alike = (a.bits(), a.is_signed()) == (b.bits(), b.is_signed());
        match self {
            Self::Mul if alike && !a.is_bool() => a.moved(b.fraction().into()),
            Self::ShiftLeft | Self::ShiftRight | Self::RotateLeft => {
                (integer(a) && integer(b) && !b.is_signed()).then_some(a)
            }
            Self::Equal if a == b => Some(Type::BOOL),
            Self::Less if a == b && !a.is_bool() => Some(Type::BOOL),
            Self::Add | Self::Sub | Self::Min | Self::Max if a == b && !a.is_bool() => Some(a),
            Self::Div if a == b && !a.is_bool() => Some(a),
            Self::Rem if a == b && integer(a) => Some(a),
            Self::And | Self::Or | Self::Xor if a == b && a.fraction() == 0 => Some(a),
            _ => None,
        }
    }
}
