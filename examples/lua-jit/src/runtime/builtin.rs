//! Built-in functions: `print` and a little of `math`.

use super::layout::{FAILED, Function, State, TString, TValue, Table, Value, tag};
use super::number;

const MATH: [(&str, Function); 4] = [
    ("sqrt", Some(math_sqrt)),
    ("floor", Some(math_floor)),
    ("abs", Some(math_abs)),
    ("tointeger", Some(math_tointeger)),
];

/// Puts the functions into the table of globals.
pub(super) fn install(state: &mut State) {
    let math = state.new_table();
    // SAFETY: the state is whole.
    let globals = unsafe { (*state.l_g).globals };
    let mut set = |table: *mut Table, name: &str, value| {
        let key = TValue { value: Value { s: state.string(name) }, tt: tag::STRING };
        // SAFETY: the tables are the state's own.
        unsafe { (*table).set(key, value) }
    };
    for (name, f) in MATH {
        set(math, name, TValue { value: Value { f }, tt: tag::BUILTIN });
    }
    set(globals, "print", TValue { value: Value { f: Some(print) }, tt: tag::BUILTIN });
    set(globals, "math", TValue { value: Value { h: math }, tt: tag::TABLE });
}

/// The arguments of the built-in function that runs.
unsafe fn arguments<'l>(l: *mut State) -> &'l [TValue] {
    // SAFETY: whoever calls has put them from the base to the top.
    unsafe {
        let base = (*(*l).ci).u.l.base;
        std::slice::from_raw_parts(base, (*l).top.offset_from(base) as usize)
    }
}

/// Returns one result, or fails with a message that says why there is none.
unsafe fn result(l: *mut State, value: Result<TValue, String>) -> i32 {
    // SAFETY: results go where the function stands.
    unsafe {
        match value {
            Ok(value) => {
                *(*(*l).ci).func = value;
                1
            }
            Err(message) => {
                (*l).runtime().error = Some(message);
                FAILED
            }
        }
    }
}

fn expected(what: &str, name: &str, found: Option<&TValue>) -> String {
    let found = found.map_or("no value", TValue::type_name);
    format!("bad argument #1 to '{name}' ({what} expected, got {found})")
}

unsafe extern "C" fn print(l: *mut State) -> i32 {
    // SAFETY: as all functions here, called by `lua_call`.
    unsafe {
        let values = arguments(l).to_vec();
        (*l).runtime().output.push(values);
    }
    0
}

unsafe extern "C" fn math_sqrt(l: *mut State) -> i32 {
    // SAFETY: see `print`.
    unsafe {
        let first = arguments(l).first();
        let n = first.and_then(|value| value.to_number());
        let root = n.map(|n| TValue::number(n.sqrt()));
        result(l, root.ok_or_else(|| expected("number", "sqrt", first)))
    }
}

unsafe extern "C" fn math_floor(l: *mut State) -> i32 {
    // SAFETY: see `print`.
    unsafe {
        let first = arguments(l).first();
        let floor = first.and_then(|value| match value.as_integer() {
            Some(_) => Some(*value),
            None => {
                let n = value.as_number()?.floor();
                Some(number::exact_integer(n).map_or(TValue::number(n), TValue::integer))
            }
        });
        result(l, floor.ok_or_else(|| expected("number", "floor", first)))
    }
}

unsafe extern "C" fn math_abs(l: *mut State) -> i32 {
    // SAFETY: see `print`.
    unsafe {
        let first = arguments(l).first();
        let abs = first.and_then(|value| match value.as_integer() {
            Some(i) => Some(TValue::integer(i.wrapping_abs())),
            None => value.as_number().map(|n| TValue::number(n.abs())),
        });
        result(l, abs.ok_or_else(|| expected("number", "abs", first)))
    }
}

unsafe extern "C" fn math_tointeger(l: *mut State) -> i32 {
    // SAFETY: see `print`.
    unsafe {
        let Some(first) = arguments(l).first() else {
            return result(l, Err(expected("value", "tointeger", None)));
        };
        let integer = first.as_integer();
        let integer = integer.or_else(|| first.as_number().and_then(number::exact_integer));
        result(l, Ok(integer.map_or(TValue::NIL, TValue::integer)))
    }
}

/// A value as text: as Lua prints it, or with `bits` so that no bit of a float
/// is lost.
pub(crate) fn show(value: &TValue, bits: bool) -> String {
    // SAFETY: the tag says which member was written.
    unsafe {
        match value.tt {
            tag::NIL => "nil".to_owned(),
            tag::BOOLEAN => (value.value.b != 0).to_string(),
            tag::INTEGER => value.value.i.to_string(),
            tag::NUMBER if bits => format!("{:016x}", value.value.n.to_bits()),
            tag::NUMBER => show_number(value.value.n),
            tag::STRING => string(value.value.s).to_owned(),
            _ => format!("{}: {:p}", value.type_name(), value.value.gc),
        }
    }
}

/// # Safety
///
/// The string is one of a living state.
unsafe fn string<'l>(s: *mut TString) -> &'l str {
    // SAFETY: made of a `str`.
    unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts((*s).bytes, (*s).len)) }
}

/// A float as C's `%.14g` writes it, with `.0` if it looks like an integer.
fn show_number(n: f64) -> String {
    if !n.is_finite() {
        let sign = if n.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if n.is_nan() { "nan" } else { "inf" });
    }
    let scientific = format!("{n:.13e}");
    let (digits, exponent) = scientific.split_once('e').expect("`e` stands before the exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is an integer");
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..14).contains(&exponent) {
        let text = trimmed(&format!("{n:.*}", (13 - exponent) as usize));
        return if text.contains('.') { text } else { format!("{text}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}
