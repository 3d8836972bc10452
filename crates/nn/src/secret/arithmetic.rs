//! Operators element by element.

use madrigal_program::{Array, Rounding, Shape, Tensor as Secret, Type};

use super::forms::Form;
use super::integers::{integer, whole};
use super::lowering::Lowering;
use super::stop::{Lowered, cannot};
use crate::graph::{Binary, Op, Unary, ValueId};
use crate::tensor::Element;

impl Lowering<'_> {
    /// A product of floats, with the bits of both after the point.
    pub(super) fn product(&self, product: Secret) -> Form {
        Form::Number(product, self.format.number.fraction())
    }

    pub(super) fn unary(&mut self, unary: Unary, x: ValueId) -> Lowered<Form> {
        if unary == Unary::Not {
            return Ok(Form::Truth(self.forms.truth(x)?.not()));
        }
        if let (Unary::Neg | Unary::Abs | Unary::Sign | Unary::Relu, Form::Integer(x)) =
            (unary, self.forms.form(x)?)
        {
            let signed = x.element().is_signed();
            return Ok(Form::Integer(match unary {
                Unary::Neg => x.negate(),
                Unary::Abs if signed => x.abs(),
                Unary::Relu if signed => x.relu(),
                Unary::Sign if signed => x.sign(),
                Unary::Sign => {
                    let zero = self.forms.public(x.element(), 0.0)?;
                    x.equals(&zero).not().cast(x.element())
                }
                _ => x,
            }));
        }
        if let (Unary::Neg, Form::Number(x, more)) = (unary, self.forms.form(x)?) {
            return Ok(Form::Number(x.negate(), more));
        }
        let fraction = self.format.number.fraction();
        let x = self.forms.number(x)?;
        let floor = |x: &Secret| x.truncate(fraction, Rounding::Exact).extend(fraction);
        let made = match unary {
            Unary::Neg => x.negate(),
            Unary::Abs => x.abs(),
            Unary::Sign => x.sign(),
            Unary::Floor => floor(&x),
            Unary::Ceil => floor(&x.negate()).negate(),
            Unary::Round => self.rounded(&x)?,
            Unary::Sqrt => x.sqrt(),
            Unary::Exp => x.exp(),
            Unary::Log => x.ln(),
            Unary::Reciprocal => x.reciprocal(),
            Unary::Erf => x.erf(),
            Unary::Relu => x.relu(),
            Unary::LeakyRelu { slope } => x.leaky_relu(slope),
            Unary::Sigmoid => x.sigmoid(),
            Unary::Tanh => x.tanh(),
            Unary::Softplus => x.softplus(),
            Unary::Gelu { tanh: false } => x.gelu(),
            Unary::Gelu { tanh: true } => x.gelu_tanh(),
            Unary::Sin | Unary::Cos => {
                return cannot("sines and cosines are computed of constants alone");
            }
            Unary::IsNan => {
                return cannot("numbers with a fixed point are always numbers: take the node out");
            }
            Unary::Not => unreachable!("done above"),
        };
        Ok(Form::Number(made, 0))
    }

    pub(super) fn binary(&mut self, binary: Binary, x: ValueId, y: ValueId) -> Lowered<Form> {
        match binary {
            Binary::Mul => return self.times(x, y),
            Binary::Div => return self.over(x, y),
            Binary::Pow => return self.power(x, y),
            Binary::And | Binary::Or | Binary::Xor => {
                let (x, y) = (self.forms.truth(x)?, self.forms.truth(y)?);
                return Ok(Form::Truth(match binary {
                    Binary::And => x.and(&y),
                    Binary::Or => x.or(&y),
                    _ => x.xor(&y),
                }));
            }
            Binary::Mod { dividend } => return self.remainder(x, y, dividend),
            _ => {}
        }
        let cuts = !matches!(binary, Binary::Add | Binary::Sub);
        let forms = match cuts {
            // Comparisons take numbers apart: bits too many would be in the way.
            true => vec![self.cut(x)?, self.cut(y)?],
            false => self.forms.alike(&[x, y])?,
        };
        let [first, second] = &forms[..] else {
            unreachable!("two were asked for")
        };
        let (a, b) = (first.secret(), second.secret());
        let truths = matches!(first, Form::Truth(_));
        Ok(match binary {
            Binary::Equal if truths => Form::Truth(a.xor(b).not()),
            Binary::Equal => Form::Truth(a.equals(b)),
            Binary::Less => Form::Truth(a.less(b)),
            Binary::LessOrEqual => Form::Truth(b.less(a).not()),
            Binary::Add => first.map(|a| a.plus(b)),
            Binary::Sub => first.map(|a| a.minus(b)),
            Binary::Min => first.map(|a| a.min(b)),
            Binary::Max => first.map(|a| a.max(b)),
            _ => unreachable!("done above"),
        })
    }

    /// A value without bits too many after the point.
    pub(super) fn cut(&mut self, id: ValueId) -> Lowered<Form> {
        match self.forms.form(id)? {
            Form::Number(..) => Ok(Form::Number(self.forms.number(id)?, 0)),
            other => Ok(other),
        }
    }

    /// The nearest integer, ties to even: half a step less than a half is added, and that step where the integer
    /// below is odd.
    fn rounded(&mut self, x: &Secret) -> Lowered<Secret> {
        let number = self.format.number;
        let (fraction, whole) = (number.fraction(), integer(number));
        let one = self.forms.public(whole, 1.0)?;
        let odd = x.truncate(fraction, Rounding::Exact).and(&one);
        let half = 2f64.powi(fraction as i32 - 1);
        let less = self.forms.public(whole, half - 1.0)?;
        let moved = x.cast(whole).plus(&less).plus(&odd).cast(number);
        Ok(moved.truncate(fraction, Rounding::Exact).extend(fraction))
    }

    fn times(&mut self, x: ValueId, y: ValueId) -> Lowered<Form> {
        if let (Form::Integer(a), Form::Integer(b)) = (self.forms.form(x)?, self.forms.form(y)?) {
            let product = if x == y { a.square() } else { a.times(&b) };
            return Ok(Form::Integer(product));
        }
        // A product with what was divided by, or its root, is a quotient: the inverse of a large number has few bits.
        for (x, y) in [(x, y), (y, x)] {
            if let Some(Op::Unary(Unary::Reciprocal)) = self.maker(y) {
                let divisor = self.reads(y);
                return self.over(x, divisor);
            }
            let root = self.exponent_of(y) == Some(-0.5);
            if root {
                let divisor = self.reads(y);
                let (a, b) = (self.forms.number(x)?, self.forms.number(divisor)?);
                return Ok(Form::Number(a.divided_by_secret(&b.sqrt()), 0));
            }
        }
        let (a, b) = (self.forms.number(x)?, self.forms.number(y)?);
        Ok(self.product(if x == y { a.square() } else { a.times(&b) }))
    }

    /// The operator that makes a value.
    fn maker(&self, id: ValueId) -> Option<&Op> {
        self.makers[id.index()].map(|node| &node.op)
    }

    /// Gives the value that the operator which makes a value reads first; the value itself where none does.
    fn reads(&self, id: ValueId) -> ValueId {
        self.makers[id.index()].map_or(id, |node| node.inputs[0])
    }

    /// The exponent, if a value is a power with a single one that all know.
    fn exponent_of(&self, id: ValueId) -> Option<f64> {
        let node = self.makers[id.index()]?;
        let power = matches!(node.op, Op::Binary(Binary::Pow));
        let exponent = self.forms.single(*node.inputs.get(1)?)?;
        power.then_some(exponent)
    }

    fn over(&mut self, x: ValueId, y: ValueId) -> Lowered<Form> {
        if self.graph.value(x).ty.element.is_integer() {
            self.no_zero(y)?;
            let (a, b) = (self.forms.integer(x)?, self.forms.integer(y)?);
            return Ok(Form::Integer(a.over(&b)));
        }
        let a = self.forms.number(x)?;
        if let Some(constant) = self.forms.constant(y) {
            let number = self.format.number;
            if let Some(divisor) = self.forms.single(y)
                && constant.shape().len() <= a.shape().rank()
            {
                let limit = 2f64.powi((number.bits() - number.fraction()) as i32 - 1);
                if divisor == 0.0 || divisor.is_nan() || (1.0 / divisor).abs() >= limit {
                    return cannot(format!(
                        "it divides by {divisor}, whose inverse is beyond the range of {number}: scale the model so \
                         that it divides by a greater number"
                    ));
                }
                return Ok(Form::Number(a.divided_by(divisor), 0));
            }
            if number.bits() <= 64 {
                return self.finely(&a, y, true);
            }
        }
        let b = self.forms.number(y)?;
        Ok(Form::Number(a.divided_by_secret(&b), 0))
    }

    /// A product whose factor is small where numbers are large: what a batch is normalised by.
    pub(super) fn scaled(&mut self, x: ValueId, y: ValueId) -> Lowered<Form> {
        let floats = |id: ValueId| self.graph.value(id).ty.element.is_float();
        let constants = [x, y].map(|id| self.forms.constant(id).is_some());
        let fits = self.format.number.bits() <= 64 && floats(x);
        match constants {
            [false, true] if fits => {
                let x = self.forms.number(x)?;
                self.finely(&x, y, false)
            }
            _ => self.times(x, y),
        }
    }

    /// Products with constants, or with their inverses: in twice the format's l bits, with factors that have l bits after
    /// the point, and cut off to the nearest. A factor is half a unit of 2^-l off, or a 2^-53rd of itself, a number is
    /// below 2^(l - 1 - F), and a result in range has a product in range.
    fn finely(&mut self, a: &Secret, y: ValueId, inverse: bool) -> Lowered<Form> {
        let number = self.format.number;
        let (bits, fraction) = (number.bits(), number.fraction());
        let (Some(wide), Some(finest)) = (
            Type::fixed(2 * bits, fraction),
            Type::fixed(2 * bits, fraction + bits),
        ) else {
            return cannot(format!("products have no room in {number}"));
        };
        let factors = self.forms.fine(y, inverse)?;
        let product = a.cast(wide).times(&factors);
        let half = 2f64.powi(-(fraction as i32) - 1);
        let half = self.forms.public(finest, half)?;
        let product = product.plus(&half).truncate(bits, self.format.rounding);
        Ok(Form::Number(product.cast(number), 0))
    }

    /// An integer that all know is no divisor if it is 0.
    fn no_zero(&self, y: ValueId) -> Lowered<()> {
        let zero = |ints: &[i64]| ints.contains(&0);
        match self.forms.known(y).and_then(|y| y.as_ints()) {
            Some(ints) if zero(ints) => cannot("it divides integers by 0"),
            _ => Ok(()),
        }
    }

    /// Remainders with the sign of the dividend, or of the divisor. The remainders of floats are those of the numbers' steps.
    fn remainder(&mut self, x: ValueId, y: ValueId, dividend: bool) -> Lowered<Form> {
        let (a, b, floats) = match (self.forms.form(x)?, self.forms.form(y)?) {
            (Form::Integer(a), Form::Integer(b)) => {
                self.no_zero(y)?;
                (a, b, false)
            }
            _ => {
                let whole = integer(self.format.number);
                let (a, b) = (self.forms.number(x)?, self.forms.number(y)?);
                (a.cast(whole), b.cast(whole), true)
            }
        };
        let mut rest = a.rest(&b);
        if !dividend && rest.element().is_signed() {
            let zero = self.forms.public(rest.element(), 0.0)?;
            let none = rest.equals(&zero).not();
            let apart = rest.less(&zero).xor(&b.less(&zero));
            rest = none.and(&apart).select(&rest.plus(&b), &rest);
        }
        Ok(match floats {
            true => Form::Number(rest.cast(self.format.number), 0),
            false => Form::Integer(rest),
        })
    }

    fn power(&mut self, x: ValueId, y: ValueId) -> Lowered<Form> {
        let Some(exponent) = self.forms.single(y) else {
            return cannot("powers have one constant as their exponent");
        };
        if let Form::Integer(a) = self.forms.form(x)? {
            return self.integer_power(&a, exponent);
        }
        let rounding = self.format.rounding;
        let fraction = self.format.number.fraction();
        let a = self.forms.number(x)?;
        let made = match exponent {
            1.0 => a,
            2.0 => return Ok(self.product(a.square())),
            3.0 => {
                let square = a.square().truncate(fraction, rounding);
                return Ok(self.product(square.times(&a)));
            }
            4.0 => {
                let square = a.square().truncate(fraction, rounding);
                return Ok(self.product(square.square()));
            }
            0.5 => a.sqrt(),
            -0.5 => a.inverse_sqrt(),
            -1.0 => a.reciprocal(),
            other => {
                return cannot(format!(
                    "powers of secrets have exponent -1, -0.5, 0.5, 1, 2, 3 or 4, and not {other}"
                ));
            }
        };
        Ok(Form::Number(made, 0))
    }

    /// Computes a power by squares and products, which wrap around.
    fn integer_power(&mut self, a: &Secret, exponent: f64) -> Lowered<Form> {
        if exponent.fract() != 0.0 || !(0.0..=64.0).contains(&exponent) {
            return cannot(format!(
                "powers of secret integers have an integer from 0 to 64 as their exponent, and not {exponent}"
            ));
        }
        let exponent = exponent as u32;
        let ones = Shape::checked(a.shape().axes())
            .and_then(|shape| Array::from_f64(a.element(), &shape, &vec![1.0; shape.elements()]));
        let Some(ones) = ones else {
            return cannot("too many elements");
        };
        let mut power: Option<Secret> = None;
        for bit in (0..u32::BITS - exponent.leading_zeros()).rev() {
            power = power.map(|power| power.square());
            if exponent >> bit & 1 == 1 {
                power = Some(power.map_or_else(|| a.clone(), |power| power.times(a)));
            }
        }
        Ok(Form::Integer(power.unwrap_or_else(|| {
            self.forms.program.tensor_constant(ones)
        })))
    }

    pub(super) fn clip(&mut self, x: ValueId, low: f64, high: f64) -> Lowered<Form> {
        let number = self.format.number;
        let limit = 2f64.powi((number.bits() - 1 - number.fraction()) as i32);
        let a = self.forms.number(x)?;
        // The upper bound wins over one below it.
        let low = low.min(high);
        // A bound that no number reaches is no bound.
        let low = (low > -limit).then_some(low);
        let high = (high < limit).then_some(high);
        let made = match (low, high) {
            (None, None) => a,
            (Some(0.0), None) => a.relu(),
            (Some(low), None) => a.max(&self.forms.public(number, low)?),
            (None, Some(high)) => a.min(&self.forms.public(number, high)?),
            (Some(low), Some(high)) => {
                let low = self.forms.public(number, low)?;
                a.clip(&low, &self.forms.public(number, high)?)
            }
        };
        Ok(Form::Number(made, 0))
    }

    /// Integers are cut off or widened as their types say; floats lose their fraction.
    pub(super) fn cast(&mut self, x: ValueId, to: Element) -> Lowered<Form> {
        let number = self.format.number;
        let fraction = number.fraction();
        let form = self.forms.form(x)?;
        Ok(match (form, whole(to)) {
            (form @ Form::Number(..), None) if to.is_float() => form,
            (Form::Number(..), Some(whole)) => {
                let a = self.forms.number(x)?;
                let zero = self.forms.public(number, 0.0)?;
                let size = a.abs().truncate(fraction, Rounding::Exact);
                let integers = a.less(&zero).select(&size.negate(), &size);
                Form::Integer(integers.cast(whole))
            }
            (Form::Number(..), None) => {
                let a = self.forms.number(x)?;
                let zero = self.forms.public(number, 0.0)?;
                Form::Truth(a.equals(&zero).not())
            }
            (Form::Integer(a), Some(whole)) => Form::Integer(a.cast(whole)),
            (Form::Integer(a), None) if to.is_float() => {
                Form::Number(a.cast(integer(number)).extend(fraction), 0)
            }
            (Form::Integer(a), None) => {
                let zero = self.forms.public(a.element(), 0.0)?;
                Form::Truth(a.equals(&zero).not())
            }
            (Form::Truth(a), Some(whole)) => Form::Integer(a.cast(whole)),
            (Form::Truth(a), None) if to.is_float() => {
                Form::Number(a.cast(integer(number)).extend(fraction), 0)
            }
            (Form::Truth(a), None) => Form::Truth(a),
        })
    }

    pub(super) fn select(&mut self, [condition, x, y]: [ValueId; 3]) -> Lowered<Form> {
        let condition = self.forms.truth(condition)?;
        let (a, b) = (self.cut(x)?, self.cut(y)?);
        let b = b.secret().clone();
        Ok(a.map(|a| condition.select(a, &b)))
    }
}
