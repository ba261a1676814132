//! A state: its stack, its frames, its objects.

use std::collections::HashMap;
use std::ptr;

use super::layout::{
    CallInfo, CallInfoL, CallInfoU, FAILED, GCObject, Global, LClosure, Proto, RaviArray, State,
    TString, TValue, Table, UpVal, UpValU, Value, tag,
};
use super::table::{give, no_nodes, take};
use super::{builtin, helpers};
use crate::bytecode::{self, UpvalueAt};

/// Slots of a new stack: few, so that it moves soon.
const FIRST_SLOTS: usize = 64;
/// Slots of the largest stack; Lua's own limit.
const MOST_SLOTS: usize = 1_000_000;
/// Calls inside calls. Each takes space on the machine's stack as well.
const MOST_CALLS: i32 = 50_000;
/// Slots that a built-in function may use.
const BUILTIN_SLOTS: usize = 20;

/// What the runtime knows beside what compiled code reads.
#[derive(Default)]
pub(crate) struct Runtime {
    strings: HashMap<Box<str>, *mut TString>,
    pub(super) error: Option<String>,
    /// The values of each `print`.
    pub(super) output: Vec<Vec<TValue>>,
    /// What `...` is.
    pub(super) argument: Option<i64>,
    /// Times that the stack has moved.
    moves: usize,
}

/// What making a closure needs to know of a function.
pub(crate) struct ProtoInfo {
    pub(crate) upvalues: Vec<UpvalueAt>,
    functions: usize,
}

/// A state, and what hangs on it.
pub(crate) struct Lua {
    state: *mut State,
}

impl Lua {
    pub(crate) fn new() -> Lua {
        let stack = give(vec![TValue::NIL; FIRST_SLOTS]);
        let nil: *mut GCObject = ptr::null_mut();
        let runtime = Box::into_raw(Box::new(Runtime::default()));
        let global = Global { globals: ptr::null_mut(), runtime: runtime.cast() };
        // SAFETY: the stack has more than one slot.
        let after = |slots| unsafe { stack.add(slots) };
        let state = Box::into_raw(Box::new(State {
            next: nil,
            tt: 0,
            marked: 0,
            status: 0,
            top: after(1),
            l_g: Box::into_raw(Box::new(global)),
            ci: ptr::null_mut(),
            stack_last: after(FIRST_SLOTS),
            stack,
            openupval: ptr::null_mut(),
            base_ci: frame(stack, after(1), ptr::null_mut()),
            stacksize: FIRST_SLOTS as i32,
            calls: 0,
        }));
        // SAFETY: all was made above, and lives until the drop.
        unsafe {
            (*state).ci = &raw mut (*state).base_ci;
            (*(*state).l_g).globals = (*state).new_table();
            builtin::install(&mut *state);
        }
        Lua { state }
    }

    /// Makes a function and all in it, without code; `functions` gets each, the
    /// outer one before the inner ones.
    pub(crate) fn load(
        &mut self,
        proto: &bytecode::Proto,
        functions: &mut Vec<*mut Proto>,
    ) -> *mut Proto {
        // SAFETY: the state lives as long as `self`.
        let state = unsafe { &mut *self.state };
        let strings = proto.strings.iter();
        let k = strings.map(|s| TValue { value: Value { s: state.string(s) }, tt: tag::STRING });
        let k = give(k.collect());
        let info = Box::new(ProtoInfo {
            upvalues: proto.upvalues.clone(),
            functions: proto.functions.len(),
        });
        let made = Box::into_raw(Box::new(Proto {
            next: ptr::null_mut(),
            tt: 0,
            marked: 0,
            numparams: proto.params as u8,
            sizeupvalues: proto.upvalues.len() as i32,
            maxstacksize: proto.slots as i32,
            k,
            p: ptr::null_mut(),
            jit: None,
            info: Box::into_raw(info).cast(),
        }));
        functions.push(made);
        let inner = proto.functions.iter().map(|inner| self.load(inner, functions)).collect();
        // SAFETY: it was just made; it is freed by whoever called, through `free`.
        unsafe { (*made).p = give(inner) };
        made
    }

    /// Frees what [`Lua::load`] made.
    ///
    /// # Safety
    ///
    /// `load` of this state gave the function with so many strings, and nothing
    /// runs it any more.
    pub(crate) unsafe fn unload(proto: *mut Proto, loaded: &bytecode::Proto) {
        // SAFETY: as `load` made them.
        unsafe {
            let proto = Box::from_raw(proto);
            let info = Box::from_raw(proto.info.cast::<ProtoInfo>());
            drop(take(proto.k, loaded.strings.len()));
            drop(take(proto.p, info.functions));
        }
    }

    /// Runs a main chunk with one argument for `...`, or none.
    ///
    /// # Errors
    ///
    /// The message of what went wrong.
    ///
    /// # Safety
    ///
    /// The code of the function and of those in it is code for these structs.
    pub(crate) unsafe fn run(
        &mut self,
        main: *mut Proto,
        argument: Option<i64>,
    ) -> Result<Vec<Vec<TValue>>, String> {
        // SAFETY: the state lives as long as `self`; the caller vouches for the
        // code.
        unsafe {
            let state = &mut *self.state;
            state.runtime().argument = argument;
            let slot = (*state.ci).u.l.base;
            *slot = TValue { value: Value { cl: state.new_closure(main) }, tt: tag::CLOSURE };
            let status = helpers::lua_call(self.state, 0, 0, 0, 0);
            let runtime = (*self.state).runtime();
            if status == FAILED {
                return Err(runtime.error.take().unwrap_or_default());
            }
            Ok(std::mem::take(&mut runtime.output))
        }
    }

    /// Times that the stack has moved so far.
    pub(crate) fn moves(&self) -> usize {
        // SAFETY: the state lives as long as `self`.
        unsafe { (*self.state).runtime().moves }
    }
}

/// A frame; the slot in front of its base is its function's.
pub(super) fn frame(func: *mut TValue, base: *mut TValue, previous: *mut CallInfo) -> CallInfo {
    CallInfo {
        func,
        top: base,
        previous,
        next_ci: ptr::null_mut(),
        u: CallInfoU { l: CallInfoL { base: func, savedpc: ptr::null() } },
        extra: 0,
        nresults: 0,
        callstatus: 0,
        stacklevel: 0,
        jitstatus: 0,
    }
}

impl State {
    /// What only the runtime reads.
    pub(super) fn runtime(&self) -> &'static mut Runtime {
        // SAFETY: it was boxed for the state's life, and no two borrows of it
        // overlap: each is used within one statement or function.
        unsafe { &mut *(*self.l_g).runtime.cast::<Runtime>() }
    }

    /// Notes an error; the result says so to whoever called.
    pub(super) fn fail(&self, line: u32, message: impl AsRef<str>) -> i32 {
        self.runtime().error = Some(format!("line {line}: {}", message.as_ref()));
        FAILED
    }

    /// Puts an object into the list of all.
    fn link<T>(&mut self, object: T) -> *mut T {
        let object = Box::into_raw(Box::new(object));
        // SAFETY: all objects begin as `GCObject` does.
        unsafe { (*object.cast::<GCObject>()).next = self.next };
        self.next = object.cast();
        object
    }

    pub(super) fn string(&mut self, text: &str) -> *mut TString {
        let strings = &mut self.runtime().strings;
        if let Some(&known) = strings.get(text) {
            return known;
        }
        // FNV-1a.
        let mix = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
        let hash = text.as_bytes().iter().fold(2_166_136_261, mix);
        let (len, text): (usize, Box<str>) = (text.len(), text.into());
        let (next, tt) = (ptr::null_mut(), tag::STRING as u8);
        // The bytes are the map's key, which stays where it is.
        let made = self.link(TString { next, tt, marked: 0, hash, len, bytes: text.as_ptr() });
        strings.insert(text, made);
        made
    }

    pub(super) fn new_table(&mut self) -> *mut Table {
        self.link(Table {
            next: ptr::null_mut(),
            tt: tag::TABLE as u8,
            marked: 0,
            flags: 0,
            lsizenode: 0,
            sizearray: 0,
            array: ptr::null_mut(),
            node: no_nodes(),
            lastfree: ptr::null_mut(),
            metatable: ptr::null_mut(),
            gclist: ptr::null_mut(),
        })
    }

    pub(super) fn new_array(&mut self, tt: u16) -> *mut RaviArray {
        self.link(RaviArray {
            next: ptr::null_mut(),
            tt: tt as u8,
            marked: 0,
            flags: 0,
            len: 0,
            size: 0,
            data: ptr::null_mut(),
        })
    }

    pub(super) fn new_box(&mut self, value: TValue) -> *mut UpVal {
        let (next, tt) = (ptr::null_mut(), tag::BOX as u8);
        let u = UpValU { value };
        let made = self.link(UpVal { next, tt, marked: 0, v: ptr::null_mut(), u });
        // SAFETY: it was just made, and does not move.
        unsafe { (*made).v = &raw mut (*made).u.value };
        made
    }

    /// Makes a closure whose upvalues are not set.
    pub(super) fn new_closure(&mut self, p: *mut Proto) -> *mut LClosure {
        // SAFETY: the function was loaded.
        let count = unsafe { (*p).sizeupvalues } as usize;
        let upvals = give(vec![ptr::null_mut(); count]);
        self.link(LClosure {
            next: ptr::null_mut(),
            tt: tag::CLOSURE as u8,
            marked: 0,
            nupvalues: count as u8,
            gclist: ptr::null_mut(),
            p,
            upvals,
        })
    }

    /// Enters a frame for the function at `func` with so many slots, and moves
    /// the stack if it has fewer left.
    pub(super) unsafe fn enter(
        &mut self,
        mut func: *mut TValue,
        slots: usize,
        line: u32,
    ) -> Option<*mut CallInfo> {
        // SAFETY: `func` is in the stack, and frames are linked both ways.
        unsafe {
            let at = func.offset_from(self.stack) as usize;
            let needed = at + 1 + slots.max(BUILTIN_SLOTS);
            if self.calls >= MOST_CALLS || needed > MOST_SLOTS {
                self.fail(line, "stack overflow");
                return None;
            }
            if needed > self.stacksize as usize {
                self.grow(needed);
                func = self.stack.add(at);
            }
            let previous = self.ci;
            if (*previous).next_ci.is_null() {
                (*previous).next_ci = Box::into_raw(Box::new(frame(func, func, previous)));
            }
            self.calls += 1;
            self.ci = (*previous).next_ci;
            (*self.ci).func = func;
            (*self.ci).u.l.base = func.add(1);
            (*self.ci).top = func.add(1 + slots);
            Some(self.ci)
        }
    }

    /// Moves the stack to a larger one, and all that points into it.
    unsafe fn grow(&mut self, needed: usize) {
        let size = needed.max(2 * self.stacksize as usize).min(MOST_SLOTS);
        // SAFETY: frames point into the old stack.
        unsafe {
            let old = take(self.stack, self.stacksize as usize);
            let mut slots = vec![TValue::NIL; size];
            slots[..old.len()].copy_from_slice(&old);
            let stack = give(slots);
            let moved =
                |pointer: *mut TValue| stack.add(pointer.offset_from(old.as_ptr()) as usize);
            self.top = moved(self.top);
            let mut ci = self.ci;
            while !ci.is_null() {
                (*ci).func = moved((*ci).func);
                (*ci).top = moved((*ci).top);
                (*ci).u.l.base = moved((*ci).u.l.base);
                ci = (*ci).previous;
            }
            (self.stack, self.stacksize) = (stack, size as i32);
            self.stack_last = stack.add(size);
        }
        self.runtime().moves += 1;
    }
}

impl Drop for Lua {
    fn drop(&mut self) {
        // SAFETY: all objects were boxed by `link`, as what their tags say.
        unsafe {
            let state = Box::from_raw(self.state);
            let mut object = state.next;
            while !object.is_null() {
                let next = (*object).next;
                match u16::from((*object).tt) {
                    tag::STRING => drop(Box::from_raw(object.cast::<TString>())),
                    tag::TABLE => Box::from_raw(object.cast::<Table>()).free_parts(),
                    tag::BOX => drop(Box::from_raw(object.cast::<UpVal>())),
                    tag::CLOSURE => {
                        let closure = Box::from_raw(object.cast::<LClosure>());
                        drop(take(closure.upvals, closure.nupvalues.into()));
                    }
                    _ => {
                        let array = Box::from_raw(object.cast::<RaviArray>());
                        drop(take(array.data.cast::<u64>(), array.size as usize));
                    }
                }
                object = next;
            }
            let mut ci = state.base_ci.next_ci;
            while !ci.is_null() {
                let frame = Box::from_raw(ci);
                ci = frame.next_ci;
            }
            drop(take(state.stack, state.stacksize as usize));
            let global = Box::from_raw(state.l_g);
            drop(Box::from_raw(global.runtime.cast::<Runtime>()));
        }
    }
}
