//! The runtime's structs: Lua 5.3's with Ravi's typed arrays.
//!
//! They are declared once. Rust lays them out, `#[derive(Tbaa)]` declares them
//! as the C structs that they are, and compiled code takes offsets and tags from
//! there.

use std::ffi::c_void;

use tbaa::declare::{Declarations, DeclareError, Tbaa};

/// What compiled code and built-in functions return: the number of results, or
/// [`FAILED`].
pub(crate) type Function = Option<unsafe extern "C" fn(*mut State) -> i32>;

/// A function failed; the message is in [`Global`].
pub(crate) const FAILED: i32 = -1;

/// What [`TValue::tt`] says.
pub(crate) mod tag {
    pub(crate) const NIL: u16 = 0;
    pub(crate) const BOOLEAN: u16 = 1;
    pub(crate) const INTEGER: u16 = 2;
    pub(crate) const NUMBER: u16 = 3;
    pub(crate) const STRING: u16 = 4;
    pub(crate) const TABLE: u16 = 5;
    pub(crate) const INTEGER_ARRAY: u16 = 6;
    pub(crate) const NUMBER_ARRAY: u16 = 7;
    pub(crate) const CLOSURE: u16 = 8;
    pub(crate) const BUILTIN: u16 = 9;
    /// Of a slot that holds a variable's box; no value of the language.
    pub(crate) const BOX: u16 = 10;
}

/// What every object on the heap begins with.
#[derive(Tbaa)]
#[repr(C)]
pub(crate) struct GCObject {
    pub(crate) next: *mut GCObject,
    pub(crate) tt: u8,
    pub(crate) marked: u8,
}

#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) union Value {
    pub(crate) gc: *mut GCObject,
    pub(crate) h: *mut Table,
    pub(crate) a: *mut RaviArray,
    pub(crate) s: *mut TString,
    pub(crate) cl: *mut LClosure,
    pub(crate) uv: *mut UpVal,
    pub(crate) f: Function,
    pub(crate) b: i32,
    #[tbaa(ty = "long long")]
    pub(crate) i: i64,
    pub(crate) n: f64,
}

/// A value of the language.
#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) struct TValue {
    pub(crate) value: Value,
    pub(crate) tt: u16,
}

/// A string; equal ones are one object.
#[derive(Tbaa)]
#[repr(C)]
pub(crate) struct TString {
    pub(crate) next: *mut GCObject,
    pub(crate) tt: u8,
    pub(crate) marked: u8,
    pub(crate) hash: u32,
    pub(crate) len: usize,
    pub(crate) bytes: *const u8,
}

#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) struct NodeKey {
    pub(crate) value: Value,
    pub(crate) tt: u16,
    /// The next node with the same main position, by distance; 0 for none.
    pub(crate) next: i32,
}

/// A key as a value, or with its link: the link lies in the value's padding.
#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) union TKey {
    pub(crate) nk: NodeKey,
    pub(crate) tvk: TValue,
}

#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) struct Node {
    pub(crate) i_val: TValue,
    pub(crate) i_key: TKey,
}

#[derive(Tbaa)]
#[repr(C)]
pub(crate) struct Table {
    pub(crate) next: *mut GCObject,
    pub(crate) tt: u8,
    pub(crate) marked: u8,
    pub(crate) flags: u8,
    /// Logarithm of the number of nodes.
    pub(crate) lsizenode: u8,
    pub(crate) sizearray: u32,
    pub(crate) array: *mut TValue,
    pub(crate) node: *mut Node,
    pub(crate) lastfree: *mut Node,
    pub(crate) metatable: *mut Table,
    pub(crate) gclist: *mut GCObject,
}

/// An array of integers or of numbers; the first element has index 1.
#[derive(Tbaa)]
#[repr(C)]
pub(crate) struct RaviArray {
    pub(crate) next: *mut GCObject,
    pub(crate) tt: u8,
    pub(crate) marked: u8,
    pub(crate) flags: u8,
    pub(crate) len: u32,
    pub(crate) size: u32,
    pub(crate) data: *mut i8,
}

#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) struct UpValOpen {
    pub(crate) next: *mut UpVal,
    pub(crate) touched: i32,
}

#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) union UpValU {
    pub(crate) open: UpValOpen,
    pub(crate) value: TValue,
}

/// A variable that several functions use.
#[derive(Tbaa)]
#[repr(C)]
pub(crate) struct UpVal {
    pub(crate) next: *mut GCObject,
    pub(crate) tt: u8,
    pub(crate) marked: u8,
    /// Where the value is: here, for the stack moves.
    pub(crate) v: *mut TValue,
    pub(crate) u: UpValU,
}

/// What all closures of one function share.
#[derive(Tbaa)]
#[repr(C)]
pub(crate) struct Proto {
    pub(crate) next: *mut GCObject,
    pub(crate) tt: u8,
    pub(crate) marked: u8,
    pub(crate) numparams: u8,
    pub(crate) sizeupvalues: i32,
    pub(crate) maxstacksize: i32,
    /// String constants.
    pub(crate) k: *mut TValue,
    /// The functions inside.
    pub(crate) p: *mut *mut Proto,
    /// The compiled code.
    pub(crate) jit: Function,
    /// The bytecode that this was made of; only the runtime reads it.
    pub(crate) info: *mut c_void,
}

#[derive(Tbaa)]
#[repr(C)]
pub(crate) struct LClosure {
    pub(crate) next: *mut GCObject,
    pub(crate) tt: u8,
    pub(crate) marked: u8,
    pub(crate) nupvalues: u8,
    pub(crate) gclist: *mut GCObject,
    pub(crate) p: *mut Proto,
    pub(crate) upvals: *mut *mut UpVal,
}

#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) struct CallInfoL {
    pub(crate) base: *mut TValue,
    pub(crate) savedpc: *const u32,
}

#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) struct CallInfoC {
    pub(crate) k: Function,
    pub(crate) old_errfunc: isize,
    pub(crate) ctx: isize,
}

#[derive(Clone, Copy, Tbaa)]
#[repr(C)]
pub(crate) union CallInfoU {
    pub(crate) l: CallInfoL,
    pub(crate) c: CallInfoC,
}

/// A function that is running.
#[derive(Tbaa)]
#[repr(C)]
pub(crate) struct CallInfo {
    pub(crate) func: *mut TValue,
    pub(crate) top: *mut TValue,
    pub(crate) previous: *mut CallInfo,
    pub(crate) next_ci: *mut CallInfo,
    pub(crate) u: CallInfoU,
    pub(crate) extra: isize,
    pub(crate) nresults: i16,
    pub(crate) callstatus: u16,
    pub(crate) stacklevel: u16,
    pub(crate) jitstatus: u8,
}

#[derive(Tbaa)]
#[tbaa(name = "global_State")]
#[repr(C)]
pub(crate) struct Global {
    pub(crate) globals: *mut Table,
    /// What only the runtime reads: a `Runtime`.
    pub(crate) runtime: *mut c_void,
}

#[derive(Tbaa)]
#[tbaa(name = "lua_State")]
#[repr(C)]
pub(crate) struct State {
    pub(crate) next: *mut GCObject,
    pub(crate) tt: u8,
    pub(crate) marked: u8,
    pub(crate) status: u8,
    pub(crate) top: *mut TValue,
    pub(crate) l_g: *mut Global,
    pub(crate) ci: *mut CallInfo,
    pub(crate) stack_last: *mut TValue,
    pub(crate) stack: *mut TValue,
    pub(crate) openupval: *mut UpVal,
    pub(crate) base_ci: CallInfo,
    pub(crate) stacksize: i32,
    pub(crate) calls: i32,
}

/// Declares all structs.
///
/// # Errors
///
/// Where the target is not the machine that this runs on.
pub(crate) fn declare(types: &mut Declarations) -> Result<(), DeclareError> {
    State::declare(types)?;
    RaviArray::declare(types)?;
    TString::declare(types)?;
    LClosure::declare(types)?;
    Ok(())
}

impl TValue {
    pub(crate) const NIL: TValue = TValue { value: Value { i: 0 }, tt: tag::NIL };

    pub(crate) fn integer(i: i64) -> TValue {
        TValue { value: Value { i }, tt: tag::INTEGER }
    }

    pub(crate) fn number(n: f64) -> TValue {
        TValue { value: Value { n }, tt: tag::NUMBER }
    }

    /// An integer, if this is one.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        // SAFETY: the word is always written, and any bits are an integer.
        let i = unsafe { self.value.i };
        (self.tt == tag::INTEGER).then_some(i)
    }

    /// A float, if this is one.
    pub(crate) fn as_number(&self) -> Option<f64> {
        // SAFETY: the word is always written, and any bits are a float.
        let n = unsafe { self.value.n };
        (self.tt == tag::NUMBER).then_some(n)
    }

    /// A number of either kind as a float.
    pub(crate) fn to_number(self) -> Option<f64> {
        self.as_number().or_else(|| self.as_integer().map(|i| i as f64))
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self.tt {
            tag::NIL => "nil",
            tag::BOOLEAN => "boolean",
            tag::INTEGER | tag::NUMBER => "number",
            tag::STRING => "string",
            tag::TABLE => "table",
            tag::INTEGER_ARRAY => "integer[]",
            tag::NUMBER_ARRAY => "number[]",
            _ => "function",
        }
    }
}
