//! A state: its stack, its frames, its objects.

use std::alloc::Layout;
use std::collections::HashMap;
use std::slice::Iter;

use bumpalo::Bump;
use tbaa::declare::Tbaa;

use super::layout::{
    CallInfo, CallInfoL, CallInfoU, FAILED, Function, Global, LClosure, Proto, RaviArray, State,
    TString, TValue, Table, UpVal, UpValU, Value, tag,
};
use super::table::no_nodes;
use super::{builtin, helpers};
use crate::bytecode;

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
    /// The state, all objects, and all arrays that they point to.
    pub(super) memory: Bump,
    strings: HashMap<Box<str>, *mut TString>,
    pub(super) error: Option<String>,
    /// The values of each `print`.
    pub(super) output: Vec<Vec<TValue>>,
    /// What `...` is.
    pub(super) argument: Option<i64>,
    /// Times that the stack has moved.
    moves: usize,
}

/// A state, and all that belongs to it.
pub(crate) struct Lua {
    state: *mut State,
}

/// A struct whose pointers are null and whose numbers are 0.
fn empty<T: Tbaa>() -> T {
    // SAFETY: the structs of `layout` consist of pointers and numbers.
    unsafe { std::mem::zeroed() }
}

/// A new array in the arena that begins with the elements of an old one.
pub(super) fn grow<T: Copy>(memory: &Bump, old: *mut T, len: u32, size: usize, fill: T) -> *mut T {
    let layout = Layout::array::<T>(size).expect("callers limit the size");
    let new = memory.alloc_layout(layout).cast::<T>().as_ptr();
    // SAFETY: callers know the length, and grow.
    unsafe {
        std::ptr::copy_nonoverlapping(old, new, len as usize);
        (len as usize..size).for_each(|at| new.add(at).write(fill));
    }
    new
}

impl Lua {
    pub(crate) fn new() -> Lua {
        let runtime = Box::into_raw(Box::new(Runtime::default()));
        // SAFETY: all is made here, and lives until the drop.
        unsafe {
            let memory = &(*runtime).memory;
            let stack = grow(memory, std::ptr::null_mut(), 0, FIRST_SLOTS, TValue::NIL);
            let l = CallInfoL { base: stack, ..empty() };
            let state: *mut State = memory.alloc(State {
                top: stack.add(1),
                l_g: memory.alloc(Global { runtime: runtime.cast(), ..empty() }),
                stack_last: stack.add(FIRST_SLOTS),
                stack,
                base_ci: CallInfo { func: stack, top: stack.add(1), u: CallInfoU { l }, ..empty() },
                stacksize: FIRST_SLOTS as i32,
                ..empty()
            });
            (*state).ci = &raw mut (*state).base_ci;
            (*(*state).l_g).globals = (*state).new_table();
            builtin::install(&mut *state);
            Lua { state }
        }
    }

    /// Makes a function and all in it, with their code, the outer one before the inner ones.
    pub(crate) fn load(
        &mut self,
        proto: &bytecode::Proto,
        code: &mut Iter<'_, Function>,
    ) -> *mut Proto {
        // SAFETY: the state lives as long as `self`.
        let state = unsafe { &mut *self.state };
        let memory = &state.runtime().memory;
        let strings = proto.strings.iter();
        let k = strings.map(|s| TValue { value: Value { s: state.string(s) }, tt: tag::STRING });
        let k = memory.alloc_slice_fill_iter(k.collect::<Vec<_>>()).as_mut_ptr();
        let jit = code.next().copied().flatten();
        let inner: Vec<_> = proto.functions.iter().map(|inner| self.load(inner, code)).collect();
        memory.alloc(Proto {
            numparams: proto.params as u8,
            sizeupvalues: proto.upvalues.len() as i32,
            maxstacksize: proto.slots as i32,
            k,
            p: memory.alloc_slice_fill_iter(inner).as_mut_ptr(),
            jit,
            info: (&raw const *proto).cast_mut().cast(),
            ..empty()
        })
    }

    /// Runs a main chunk with one argument for `...`, or none.
    ///
    /// # Errors
    ///
    /// The message of what went wrong.
    ///
    /// # Safety
    ///
    /// The code of the function and of those in it is code for these structs, and what `load` was
    /// given still lives.
    pub(crate) unsafe fn run(
        &mut self,
        main: *mut Proto,
        argument: Option<i64>,
    ) -> Result<Vec<Vec<TValue>>, String> {
        // SAFETY: the state lives as long as `self`; the caller vouches for the code.
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

impl Drop for Lua {
    fn drop(&mut self) {
        // SAFETY: the runtime was boxed, and all else is in its arena.
        unsafe { drop(Box::from_raw((*(*self.state).l_g).runtime.cast::<Runtime>())) }
    }
}

impl State {
    /// What only the runtime reads.
    pub(super) fn runtime(&self) -> &'static mut Runtime {
        // SAFETY: it was boxed for the state's life, and no two borrows of it overlap: each is used
        // within one statement or function.
        unsafe { &mut *(*self.l_g).runtime.cast::<Runtime>() }
    }

    /// Notes an error; the result says so to whoever called.
    pub(super) fn fail(&self, line: u32, message: impl AsRef<str>) -> i32 {
        self.runtime().error = Some(format!("line {line}: {}", message.as_ref()));
        FAILED
    }

    pub(super) fn string(&mut self, text: &str) -> *mut TString {
        let Runtime { strings, memory, .. } = self.runtime();
        if let Some(&known) = strings.get(text) {
            return known;
        }
        // FNV-1a.
        let mix = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
        let hash = text.as_bytes().iter().fold(2_166_136_261, mix);
        // The bytes are the map's key, which stays where it is.
        let (tt, len, key) = (tag::STRING as u8, text.len(), Box::<str>::from(text));
        let made = memory.alloc(TString { tt, hash, len, bytes: key.as_ptr(), ..empty() });
        strings.insert(key, made);
        made
    }

    pub(super) fn new_table(&mut self) -> *mut Table {
        let tt = tag::TABLE as u8;
        self.runtime().memory.alloc(Table { tt, node: no_nodes(), ..empty() })
    }

    pub(super) fn new_array(&mut self, tt: u16) -> *mut RaviArray {
        self.runtime().memory.alloc(RaviArray { tt: tt as u8, ..empty() })
    }

    /// Makes a box that holds a value.
    pub(super) fn new_box(&mut self, value: TValue) -> *mut UpVal {
        let (tt, u) = (tag::BOX as u8, UpValU { value });
        let made = self.runtime().memory.alloc(UpVal { tt, u, ..empty() });
        made.v = &raw mut made.u.value;
        made
    }

    /// Makes a closure whose upvalues are not set.
    pub(super) fn new_closure(&mut self, p: *mut Proto) -> *mut LClosure {
        let memory = &self.runtime().memory;
        // SAFETY: the function was loaded.
        let nupvalues = unsafe { (*p).sizeupvalues } as u8;
        let upvals = memory.alloc_slice_fill_copy(nupvalues.into(), std::ptr::null_mut());
        let (tt, upvals) = (tag::CLOSURE as u8, upvals.as_mut_ptr());
        memory.alloc(LClosure { tt, nupvalues, p, upvals, ..empty() })
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
                let memory = &self.runtime().memory;
                (*previous).next_ci = memory.alloc(CallInfo { previous, ..empty() });
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
            let (old, memory) = (self.stack, &self.runtime().memory);
            let stack = grow(memory, old, self.stacksize as u32, size, TValue::NIL);
            let moved = |pointer: *mut TValue| stack.add(pointer.offset_from(old) as usize);
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
