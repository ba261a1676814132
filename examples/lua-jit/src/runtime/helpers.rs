//! What compiled code calls. Values are passed as their two words: the bits of
//! [`Value`], and [`TValue::tt`].

use super::layout::{FAILED, Proto, RaviArray, State, TValue, Value, tag};
use super::number::{self, lua_float_modulo, lua_floor, lua_floor_div, lua_modulo, lua_power};
use super::state::grow;
use super::table::normal;
use crate::bytecode::{self, Binary, UpvalueAt};

type L = *mut State;

/// What memory a helper touches of that which compiled code touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// All: it runs other code, and moves the stack.
    All,
    /// All but the state and the frames: the stack stays where it is.
    NoFrames,
    /// None.
    Nothing,
}

/// A function of this file.
pub(crate) struct Helper {
    pub(crate) name: &'static str,
    pub(crate) address: usize,
    pub(crate) effect: Effect,
    /// The types of its result and parameters: `p`ointer, `i`nt, `l`ong,
    /// `d`ouble, `v`oid.
    pub(crate) signature: &'static str,
}

macro_rules! helpers {
    ($($name:ident $effect:ident $signature:literal,)*) => {
        /// All of them.
        pub(crate) fn all() -> Vec<Helper> {
            vec![$(Helper {
                name: stringify!($name),
                address: $name as *const () as usize,
                effect: Effect::$effect,
                signature: $signature,
            },)*]
        }
    };
}

helpers! {
    lua_call All "ipiiii",
    lua_return NoFrames "ipii",
    lua_vararg NoFrames "vpi",
    lua_check NoFrames "ipiii",
    lua_newbox NoFrames "vpili",
    lua_closure NoFrames "vpii",
    lua_newtable NoFrames "vpiii",
    lua_newarray NoFrames "vpii",
    lua_append NoFrames "ipplli",
    lua_setlist NoFrames "ipiiiii",
    lua_index NoFrames "ipililii",
    lua_setindex NoFrames "iplililii",
    lua_length NoFrames "lplii",
    lua_arith NoFrames "ipiililii",
    lua_minus NoFrames "ipilii",
    lua_less NoFrames "ipililii",
    lua_forprep NoFrames "ipii",
    lua_forloop NoFrames "ipi",
    lua_fail NoFrames "ipii",
    lua_equal Nothing "ilili",
    lua_power Nothing "ddd",
    lua_floor Nothing "dd",
    lua_float_modulo Nothing "ddd",
    lua_floor_div Nothing "lll",
    lua_modulo Nothing "lll",
}

/// What [`lua_fail`] says.
pub(crate) const FAILURES: [&str; 3] =
    ["array index out of bounds", "attempt to perform 'n//0'", "attempt to perform 'n%%0'"];

fn value(bits: i64, tt: i32) -> TValue {
    TValue { value: Value { i: bits }, tt: tt as u16 }
}

/// The slot of the running function.
unsafe fn slot(l: L, at: u32) -> *mut TValue {
    // SAFETY: compiled code names slots of its own frame.
    unsafe { (*(*l).ci).u.l.base.add(at as usize) }
}

/// Stores a result, or notes what is wrong.
unsafe fn store(l: L, to: u32, result: Result<TValue, String>, line: u32) -> i32 {
    // SAFETY: see `slot`.
    unsafe {
        match result {
            Ok(value) => {
                *slot(l, to) = value;
                0
            }
            Err(message) => (*l).fail(line, message),
        }
    }
}

/// Calls what is in a slot; a count of -1 goes up to the top of the stack.
pub(crate) unsafe extern "C" fn lua_call(
    l: L,
    at: u32,
    arguments: i32,
    results: i32,
    line: u32,
) -> i32 {
    // SAFETY: the arguments stand behind the function, in the caller's frame.
    unsafe {
        let func = slot(l, at);
        let given = match arguments {
            -1 => (*l).top.offset_from(func) as usize - 1,
            count => count as usize,
        };
        let callee = *func;
        let (run, slots) = match callee.tt {
            tag::CLOSURE => {
                let proto = (*callee.value.cl).p;
                ((*proto).jit, ((*proto).maxstacksize as usize).max(given))
            }
            tag::BUILTIN => (callee.value.f, given),
            _ => return (*l).fail(line, format!("attempt to call a {} value", callee.type_name())),
        };
        let Some(run) = run else { return (*l).fail(line, "the function has no code") };
        // Also space for results that nobody gave.
        let Some(ci) = (*l).enter(func, slots.max(results.max(0) as usize), line) else {
            return FAILED;
        };
        let base = (*ci).u.l.base;
        (*l).top = base.add(given);
        if callee.tt == tag::CLOSURE {
            for missing in given..(*(*callee.value.cl).p).numparams.into() {
                *base.add(missing) = TValue::NIL;
            }
        }
        let count = run(l);
        if count == FAILED {
            if callee.tt == tag::BUILTIN {
                let message = (*l).runtime().error.take().unwrap_or_default();
                (*l).fail(line, message);
            }
            return FAILED;
        }
        let func = (*ci).func;
        for missing in count..results {
            *func.add(missing as usize) = TValue::NIL;
        }
        (*l).top = func.add(count as usize);
        (*l).ci = (*ci).previous;
        (*l).calls -= 1;
        0
    }
}

/// Moves what stands from a slot on to where the caller wants it.
unsafe extern "C" fn lua_return(l: L, at: u32, count: i32) -> i32 {
    // SAFETY: all is in the frame, or below the top.
    unsafe {
        let from = slot(l, at);
        let count = if count < 0 { (*l).top.offset_from(from) as usize } else { count as usize };
        std::ptr::copy(from, (*(*l).ci).func, count);
        count as i32
    }
}

unsafe extern "C" fn lua_vararg(l: L, to: u32) {
    // SAFETY: see `slot`.
    unsafe { *slot(l, to) = (*l).runtime().argument.map_or(TValue::NIL, TValue::integer) }
}

/// Makes a slot's value one of the type with this tag.
unsafe extern "C" fn lua_check(l: L, at: u32, tt: i32, line: u32) -> i32 {
    // SAFETY: see `slot`.
    unsafe {
        let value = *slot(l, at);
        let converted = match tt as u16 {
            tag::NUMBER => value.to_number().map(TValue::number),
            tag::INTEGER => value.as_number().and_then(number::exact_integer).map(TValue::integer),
            _ => None,
        };
        let name = TValue { tt: tt as u16, ..value }.type_name();
        let name = if tt as u16 == tag::INTEGER { "integer" } else { name };
        let message = || format!("{name} expected, got {}", value.type_name());
        let same = (i32::from(value.tt) == tt).then_some(value);
        store(l, at, same.or(converted).ok_or_else(message), line)
    }
}

unsafe extern "C" fn lua_newbox(l: L, to: u32, bits: i64, tt: i32) {
    // SAFETY: see `slot`.
    unsafe {
        let uv = (*l).new_box(value(bits, tt));
        *slot(l, to) = TValue { value: Value { uv }, tt: tag::BOX };
    }
}

unsafe extern "C" fn lua_closure(l: L, to: u32, index: u32) {
    // SAFETY: the running function is a closure, and its slots hold the boxes.
    unsafe {
        let running = (*(*(*l).ci).func).value.cl;
        let proto: *mut Proto = *(*(*running).p).p.add(index as usize);
        let cl = (*l).new_closure(proto);
        let source = &*(*proto).info.cast::<bytecode::Proto>();
        for (at, source) in source.upvalues.iter().enumerate() {
            *(*cl).upvals.add(at) = match *source {
                UpvalueAt::Box(reg) => (*slot(l, reg)).value.uv,
                UpvalueAt::Upvalue(index) => *(*running).upvals.add(index),
            };
        }
        *slot(l, to) = TValue { value: Value { cl }, tt: tag::CLOSURE };
    }
}

unsafe extern "C" fn lua_newtable(l: L, to: u32, items: u32, pairs: u32) {
    // SAFETY: see `slot`.
    unsafe {
        let h = (*l).new_table();
        let memory = &(*l).runtime().memory;
        (*h).grow_array(memory, items);
        (*h).make_nodes(memory, pairs);
        *slot(l, to) = TValue { value: Value { h }, tt: tag::TABLE };
    }
}

unsafe extern "C" fn lua_newarray(l: L, to: u32, tt: i32) {
    // SAFETY: see `slot`.
    unsafe {
        let a = (*l).new_array(tt as u16);
        *slot(l, to) = TValue { value: Value { a }, tt: tt as u16 };
    }
}

/// Appends an element to a typed array if the key is the next; else it fails.
unsafe extern "C" fn lua_append(
    l: L,
    array: *mut RaviArray,
    key: i64,
    bits: i64,
    line: u32,
) -> i32 {
    // SAFETY: compiled code has checked the type.
    unsafe {
        let array = &mut *array;
        if key != i64::from(array.len) + 1 || array.len >= 1 << 28 {
            return (*l).fail(line, FAILURES[0]);
        }
        if array.len == array.size {
            array.size = (2 * array.size).max(4);
            let (memory, old) = (&(*l).runtime().memory, array.data.cast::<i64>());
            array.data = grow(memory, old, array.len, array.size as usize, 0).cast();
        }
        *array.data.cast::<i64>().add(array.len as usize) = bits;
        array.len += 1;
    }
    0
}

/// Stores so many values, or all up to the top, into the table in a slot.
unsafe extern "C" fn lua_setlist(
    l: L,
    table: u32,
    at: u32,
    first: u32,
    count: i32,
    line: u32,
) -> i32 {
    // SAFETY: compiled code has just made the table.
    unsafe {
        let (table, from) = ((*slot(l, table)).value.h, slot(l, at));
        let count = if count < 0 { (*l).top.offset_from(from) as usize } else { count as usize };
        for i in 0..count {
            let key = TValue::integer(i64::from(first) + i as i64);
            if !(*table).set(&(*l).runtime().memory, key, *from.add(i)) {
                return (*l).fail(line, "table overflow");
            }
        }
    }
    0
}

/// An element of a typed array; `None` if there is none.
unsafe fn element(array: *mut RaviArray, key: TValue) -> Option<*mut i64> {
    // SAFETY: the caller has checked the type.
    unsafe {
        let i = key.as_integer().filter(|&i| i >= 1 && i <= (*array).len.into())?;
        Some((*array).data.cast::<i64>().add(i as usize - 1))
    }
}

unsafe extern "C" fn lua_index(
    l: L,
    to: u32,
    table: i64,
    table_tt: i32,
    key: i64,
    key_tt: i32,
    line: u32,
) -> i32 {
    // SAFETY: the tags say what the words are.
    unsafe {
        let (table, key) = (value(table, table_tt), normal(value(key, key_tt)));
        let result = match table.tt {
            tag::TABLE => Ok((*table.value.h).get(&key)),
            tag::INTEGER_ARRAY | tag::NUMBER_ARRAY => element(table.value.a, key)
                .map(|at| value(*at, (table.tt - tag::INTEGER_ARRAY + tag::INTEGER).into()))
                .ok_or_else(|| FAILURES[0].to_owned()),
            _ => Err(format!("attempt to index a {} value", table.type_name())),
        };
        store(l, to, result, line)
    }
}

unsafe extern "C" fn lua_setindex(
    l: L,
    table: i64,
    table_tt: i32,
    key: i64,
    key_tt: i32,
    bits: i64,
    tt: i32,
    line: u32,
) -> i32 {
    // SAFETY: the tags say what the words are.
    unsafe {
        let (table, key, new) =
            (value(table, table_tt), normal(value(key, key_tt)), value(bits, tt));
        match table.tt {
            tag::TABLE if key.tt == tag::NIL => (*l).fail(line, "index is nil"),
            tag::TABLE if key.as_number().is_some_and(f64::is_nan) => {
                (*l).fail(line, "index is NaN")
            }
            tag::TABLE if (*table.value.h).set(&(*l).runtime().memory, key, new) => 0,
            tag::TABLE => (*l).fail(line, "table overflow"),
            tag::INTEGER_ARRAY | tag::NUMBER_ARRAY => {
                let integers = table.tt == tag::INTEGER_ARRAY;
                let bits = match (integers, new.as_integer(), new.to_number()) {
                    (true, Some(i), _) => i,
                    (true, None, Some(n)) if number::exact_integer(n).is_some() => n as i64,
                    (false, _, Some(n)) => n.to_bits() as i64,
                    _ => return (*l).fail(line, "no number for an array of numbers"),
                };
                match (element(table.value.a, key), key.as_integer()) {
                    (Some(at), _) => *at = bits,
                    (None, Some(key)) => return lua_append(l, table.value.a, key, bits, line),
                    _ => return (*l).fail(line, FAILURES[0]),
                }
                0
            }
            _ => (*l).fail(line, format!("attempt to index a {} value", table.type_name())),
        }
    }
}

unsafe extern "C" fn lua_length(l: L, bits: i64, tt: i32, line: u32) -> i64 {
    // SAFETY: the tag says what the word is.
    unsafe {
        let of = value(bits, tt);
        match of.tt {
            tag::TABLE => (*of.value.h).length(),
            tag::INTEGER_ARRAY | tag::NUMBER_ARRAY => (*of.value.a).len.into(),
            tag::STRING => (*of.value.s).len as i64,
            _ => {
                let message = format!("attempt to get length of a {} value", of.type_name());
                (*l).fail(line, message).into()
            }
        }
    }
}

/// The operators by the numbers that compiled code gives them.
pub(crate) const OPERATORS: [Binary; 7] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::FloorDiv,
    Binary::Mod,
    Binary::Pow,
];

unsafe extern "C" fn lua_arith(
    l: L,
    to: u32,
    op: u32,
    a: i64,
    a_tt: i32,
    b: i64,
    b_tt: i32,
    line: u32,
) -> i32 {
    let result = number::arith(OPERATORS[op as usize], value(a, a_tt), value(b, b_tt));
    // SAFETY: see `slot`.
    unsafe { store(l, to, result, line) }
}

unsafe extern "C" fn lua_minus(l: L, to: u32, bits: i64, tt: i32, line: u32) -> i32 {
    let of = value(bits, tt);
    let minus = of.as_integer().map(|i| TValue::integer(i.wrapping_neg()));
    let minus = minus.or_else(|| of.as_number().map(|n| TValue::number(-n)));
    let message = || format!("attempt to perform arithmetic on a {} value", of.type_name());
    // SAFETY: see `slot`.
    unsafe { store(l, to, minus.ok_or_else(message), line) }
}

unsafe extern "C" fn lua_less(
    l: L,
    or_equal: u32,
    a: i64,
    a_tt: i32,
    b: i64,
    b_tt: i32,
    line: u32,
) -> i32 {
    match number::less(or_equal != 0, value(a, a_tt), value(b, b_tt)) {
        Ok(less) => less.into(),
        // SAFETY: the state is the one that runs.
        Err(message) => unsafe { (*l).fail(line, message) },
    }
}

extern "C" fn lua_equal(a: i64, a_tt: i32, b: i64, b_tt: i32) -> i32 {
    number::equal(value(a, a_tt), value(b, b_tt)).into()
}

/// Prepares a loop whose bounds may be anything: 1 to begin, 0 to pass over it.
unsafe extern "C" fn lua_forprep(l: L, at: u32, line: u32) -> i32 {
    // SAFETY: see `slot`.
    unsafe {
        let [start, limit, step] = [0, 1, 2].map(|i| *slot(l, at + i));
        let put = |i: u32, value| *slot(l, at + i) = value;
        for (value, name) in [(limit, "limit"), (step, "step"), (start, "initial")] {
            if value.to_number().is_none() {
                return (*l).fail(line, format!("'for' {name} value must be a number"));
            }
        }
        if let (Some(first), Some(by)) = (start.as_integer(), step.as_integer()) {
            if by == 0 {
                return (*l).fail(line, "'for' step is zero");
            }
            let last = limit.as_integer().or_else(|| {
                let n = limit.as_number().map(|n| if by > 0 { n.floor() } else { n.ceil() })?;
                let clipped = if n > 0.0 { i64::MAX } else { i64::MIN };
                (!n.is_nan()).then(|| number::exact_integer(n).unwrap_or(clipped))
            });
            let Some(last) =
                last.filter(|&last| if by > 0 { first <= last } else { first >= last })
            else {
                return 0;
            };
            let distance = last.abs_diff(first) / by.unsigned_abs();
            put(1, TValue::integer(distance as i64));
            put(3, start);
            return 1;
        }
        let [start, limit, step] = [start, limit, step].map(|v| v.to_number().unwrap_or(f64::NAN));
        if step == 0.0 {
            return (*l).fail(line, "'for' step is zero");
        }
        for (i, n) in [(0, start), (1, limit), (2, step), (3, start)] {
            put(i, TValue::number(n));
        }
        (if step > 0.0 { start <= limit } else { limit <= start }).into()
    }
}

/// Goes on with such a loop: 1 for another turn, 0 for the end.
unsafe extern "C" fn lua_forloop(l: L, at: u32) -> i32 {
    // SAFETY: see `slot`; `lua_forprep` has made the slots numbers of one kind.
    unsafe {
        let [index, bound, step] = [0, 1, 2].map(|i| *slot(l, at + i));
        let next = match (index.as_integer(), step.as_integer()) {
            (Some(index), Some(step)) => {
                if bound.value.i == 0 {
                    return 0;
                }
                *slot(l, at + 1) = TValue::integer(bound.value.i.wrapping_sub(1));
                TValue::integer(index.wrapping_add(step))
            }
            _ => {
                let (limit, step) = (bound.value.n, step.value.n);
                let next = index.value.n + step;
                if !(if step > 0.0 { next <= limit } else { limit <= next }) {
                    return 0;
                }
                TValue::number(next)
            }
        };
        *slot(l, at) = next;
        *slot(l, at + 3) = next;
        1
    }
}

unsafe extern "C" fn lua_fail(l: L, which: u32, line: u32) -> i32 {
    // SAFETY: the state is the one that runs.
    unsafe { (*l).fail(line, FAILURES[which as usize]) }
}
