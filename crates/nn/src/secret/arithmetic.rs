//! Operators element by element.

use madrigal_program::{Rounding, Tensor as Secret};

use super::forms::{Form, integer};
use super::{Lowered, Lowering, cannot};
use crate::graph::{Binary, Unary, ValueId};
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
        if let (Unary::Neg | Unary::Abs, Form::Integer(x)) = (unary, self.forms.form(x)?) {
            return Ok(Form::Integer(match unary {
                Unary::Neg => x.negate(),
                _ => x.abs(),
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
            Unary::Round => {
                let half = self.forms.public(self.format.number, 0.5)?;
                floor(&x.plus(&half))
            }
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
            Binary::Mod { .. } => return cannot("remainders are computed of constants alone"),
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

    fn times(&mut self, x: ValueId, y: ValueId) -> Lowered<Form> {
        if let (Form::Integer(x), Form::Integer(y)) = (self.forms.form(x)?, self.forms.form(y)?) {
            return Ok(Form::Integer(x.times(&y)));
        }
        let (a, b) = (self.forms.number(x)?, self.forms.number(y)?);
        Ok(self.product(if x == y { a.square() } else { a.times(&b) }))
    }

    fn over(&mut self, x: ValueId, y: ValueId) -> Lowered<Form> {
        if let Form::Integer(_) = self.forms.form(x)? {
            return cannot("integers are divided among constants alone: cast them to floats first");
        }
        let a = self.forms.number(x)?;
        if let Some(constant) = self.forms.constant(y) {
            if let Some(divisor) = self.forms.single(y)
                && constant.shape().len() <= a.shape().rank()
            {
                return Ok(Form::Number(a.divided_by(divisor), 0));
            }
            // Inverses of large numbers are small: they have more bits after the point, where there is room.
            let number = self.format.number;
            let more = number.fraction() / 2;
            let fits = number.bits() > 2 * number.fraction() + more + 16;
            let more = if fits { more } else { 0 };
            let inverses = self.forms.weight(y, more, true)?;
            return Ok(Form::Number(a.times(&inverses), number.fraction() + more));
        }
        let b = self.forms.number(y)?;
        Ok(Form::Number(a.divided_by_secret(&b), 0))
    }

    fn power(&mut self, x: ValueId, y: ValueId) -> Lowered<Form> {
        let Some(exponent) = self.forms.single(y) else {
            return cannot("powers have one constant as their exponent");
        };
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

    pub(super) fn clip(&mut self, x: ValueId, low: f64, high: f64) -> Lowered<Form> {
        let number = self.format.number;
        let limit = 2f64.powi((number.bits() - 1 - number.fraction()) as i32);
        let a = self.forms.number(x)?;
        // The upper bound wins over one below it.
        let low = low.min(high);
        // What no number reaches is no bound.
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

    pub(super) fn cast(&mut self, x: ValueId, to: Element) -> Lowered<Form> {
        let fraction = self.format.number.fraction();
        let whole = integer(self.format.number);
        let form = self.forms.form(x)?;
        Ok(match form {
            Form::Number(..) if to.is_float() => form,
            Form::Number(..) if to.is_integer() => {
                let a = self.forms.number(x)?;
                let zero = self.forms.public(self.format.number, 0.0)?;
                let size = a.abs().truncate(fraction, Rounding::Exact);
                Form::Integer(a.less(&zero).select(&size.negate(), &size))
            }
            Form::Number(..) => {
                let a = self.forms.number(x)?;
                let zero = self.forms.public(self.format.number, 0.0)?;
                Form::Truth(a.equals(&zero).not())
            }
            Form::Integer(a) if to.is_float() => Form::Number(a.extend(fraction), 0),
            Form::Integer(a) if to.is_integer() => Form::Integer(a),
            Form::Integer(a) => {
                let zero = self.forms.public(whole, 0.0)?;
                Form::Truth(a.equals(&zero).not())
            }
            Form::Truth(a) if to.is_float() => Form::Number(a.cast(whole).extend(fraction), 0),
            Form::Truth(a) if to.is_integer() => Form::Integer(a.cast(whole)),
            Form::Truth(a) => Form::Truth(a),
        })
    }

    pub(super) fn select(&mut self, [condition, x, y]: [ValueId; 3]) -> Lowered<Form> {
        let condition = self.forms.truth(condition)?;
        let (a, b) = (self.cut(x)?, self.cut(y)?);
        let b = b.secret().clone();
        Ok(a.map(|a| condition.select(a, &b)))
    }
}
