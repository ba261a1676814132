//! Arithmetic as Lua defines it, on values whose types are not known.

use std::cmp::Ordering;

use super::layout::{TValue, tag};
use crate::bytecode::Binary;

/// The integer of a float's value, if it has one.
pub(crate) fn exact_integer(n: f64) -> Option<i64> {
    // 2^63 itself is no i64.
    let fits = n >= -(2f64.powi(63)) && n < 2f64.powi(63) && n.floor() == n;
    fits.then_some(n as i64)
}

pub(super) extern "C" fn lua_floor_div(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    let inexact = a.wrapping_rem(b) != 0 && (a < 0) != (b < 0);
    quotient - i64::from(inexact)
}

pub(super) extern "C" fn lua_modulo(a: i64, b: i64) -> i64 {
    let remainder = a.wrapping_rem(b);
    if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder }
}

pub(super) extern "C" fn lua_float_modulo(a: f64, b: f64) -> f64 {
    let remainder = a % b;
    if remainder * b < 0.0 { remainder + b } else { remainder }
}

pub(super) extern "C" fn lua_floor(n: f64) -> f64 {
    n.floor()
}

pub(super) extern "C" fn lua_power(a: f64, b: f64) -> f64 {
    if b == 2.0 { a * a } else { a.powf(b) }
}

/// `a op b`, or what is wrong with it.
pub(crate) fn arith(op: Binary, a: TValue, b: TValue) -> Result<TValue, String> {
    if let (Some(a), Some(b)) = (a.as_integer(), b.as_integer()) {
        let result = match op {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::FloorDiv if b == 0 => return Err("attempt to perform 'n//0'".to_owned()),
            Binary::Mod if b == 0 => return Err("attempt to perform 'n%%0'".to_owned()),
            Binary::FloorDiv => lua_floor_div(a, b),
            Binary::Mod => lua_modulo(a, b),
            _ => return Ok(TValue::number(float(op, a as f64, b as f64))),
        };
        return Ok(TValue::integer(result));
    }
    let wrong = if a.to_number().is_some() { b } else { a };
    match (a.to_number(), b.to_number()) {
        (Some(a), Some(b)) => Ok(TValue::number(float(op, a, b))),
        _ => Err(format!("attempt to perform arithmetic on a {} value", wrong.type_name())),
    }
}

fn float(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::FloorDiv => lua_floor(a / b),
        Binary::Mod => lua_float_modulo(a, b),
        _ => lua_power(a, b),
    }
}

/// Whether `a < b`, or `a <= b`, exactly: also between integers and floats.
pub(crate) fn less(or_equal: bool, a: TValue, b: TValue) -> Result<bool, String> {
    let by = |order: Option<Ordering>| {
        order.is_some_and(|order| order.is_lt() || or_equal && order.is_eq())
    };
    let (ints, floats) = ((a.as_integer(), b.as_integer()), (a.as_number(), b.as_number()));
    match (ints, floats) {
        ((Some(a), Some(b)), _) => Ok(by(Some(a.cmp(&b)))),
        (_, (Some(a), Some(b))) => Ok(by(a.partial_cmp(&b))),
        ((Some(a), _), (_, Some(b))) => Ok(by(compare(a, b))),
        ((_, Some(b)), (Some(a), _)) => Ok(by(compare(b, a).map(Ordering::reverse))),
        _ => Err(format!("attempt to compare {} with {}", a.type_name(), b.type_name())),
    }
}

/// Compares an integer with a float; `None` with NaN.
fn compare(i: i64, n: f64) -> Option<Ordering> {
    let whole = n.floor();
    // An integer that equals the whole part is less than what has a fraction.
    let fraction = if whole < n { Ordering::Less } else { Ordering::Equal };
    // The cast takes numbers out of range to the nearest i128.
    (!n.is_nan()).then(|| i128::from(i).cmp(&(whole as i128)).then(fraction))
}

pub(crate) fn equal(a: TValue, b: TValue) -> bool {
    match (a.as_integer(), b.as_number(), a.as_number(), b.as_integer()) {
        (Some(i), Some(n), _, _) | (_, _, Some(n), Some(i)) => {
            compare(i, n).is_some_and(Ordering::is_eq)
        }
        _ if a.tt != b.tt => false,
        // SAFETY: the tag says which member was written.
        _ => unsafe {
            match a.tt {
                tag::NIL => true,
                tag::NUMBER => a.value.n == b.value.n,
                tag::BOOLEAN => a.value.b == b.value.b,
                _ => a.value.i == b.value.i,
            }
        },
    }
}
