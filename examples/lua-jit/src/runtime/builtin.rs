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
    let memory = &state.runtime().memory;
    let mut set = |table: *mut Table, name: &str, value| {
        let key = TValue { value: Value { s: state.string(name) }, tt: tag::STRING };
        // SAFETY: the tables are the state's own.
        unsafe { (*table).set(memory, key, value) }
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

unsafe extern "C" fn print(l: *mut State) -> i32 {
    // SAFETY: as all functions here, called by `lua_call`.
    unsafe {
        let values = arguments(l).to_vec();
        (*l).runtime().output.push(values);
    }
    0
}

/// Returns what a function makes of its first argument; `None` is for arguments of the wrong type.
unsafe fn math(l: *mut State, name: &str, f: impl Fn(&TValue) -> Option<TValue>) -> i32 {
    // SAFETY: see `print`; results go where the function stands.
    unsafe {
        let first = arguments(l).first();
        if let Some(value) = first.and_then(f) {
            *(*(*l).ci).func = value;
            return 1;
        }
        let found = first.map_or("no value", TValue::type_name);
        let message = format!("bad argument #1 to '{name}' (number expected, got {found})");
        (*l).runtime().error = Some(message);
        FAILED
    }
}

unsafe extern "C" fn math_sqrt(l: *mut State) -> i32 {
    let sqrt = |value: &TValue| Some(TValue::number(value.to_number()?.sqrt()));
    // SAFETY: see `print`.
    unsafe { math(l, "sqrt", sqrt) }
}

unsafe extern "C" fn math_floor(l: *mut State) -> i32 {
    let floor = |value: &TValue| {
        let Some(n) = value.as_number().map(f64::floor) else {
            return value.as_integer().and(Some(*value));
        };
        Some(number::exact_integer(n).map_or(TValue::number(n), TValue::integer))
    };
    // SAFETY: see `print`.
    unsafe { math(l, "floor", floor) }
}

unsafe extern "C" fn math_abs(l: *mut State) -> i32 {
    let abs = |value: &TValue| match value.as_integer() {
        Some(i) => Some(TValue::integer(i.wrapping_abs())),
        None => Some(TValue::number(value.as_number()?.abs())),
    };
    // SAFETY: see `print`.
    unsafe { math(l, "abs", abs) }
}

unsafe extern "C" fn math_tointeger(l: *mut State) -> i32 {
    let integer = |value: &TValue| {
        let exact = value.as_number().and_then(number::exact_integer);
        Some(value.as_integer().or(exact).map_or(TValue::NIL, TValue::integer))
    };
    // SAFETY: see `print`.
    unsafe { math(l, "tointeger", integer) }
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
    let mut text = [0; 32];
    // SAFETY: the text of a float is shorter.
    let text = unsafe {
        libc::snprintf(text.as_mut_ptr(), text.len(), c"%.14g".as_ptr(), n);
        std::ffi::CStr::from_ptr(text.as_ptr()).to_string_lossy()
    };
    let integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    format!("{text}{}", if integer { ".0" } else { "" })
}
