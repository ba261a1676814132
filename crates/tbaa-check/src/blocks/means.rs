//! Finds facts for the advice on a load that LLVM must keep because of a store or call (a blocker).

use tbaa_ir::{Inst, Object, Value};

use super::{Blocker, Body, Cause, Event, Judge};
use crate::char_origin::{is_char, is_wider_char};

/// Returns whether `name` is a C math function that may set errno without `-fno-math-errno`.
pub fn sets_errno(name: &[u8]) -> bool {
    const NAMES: &str = "acos acosh asin atan2 atanh cos cosh erfc exp exp10 exp2 expm1 fdim fma \
                         fmod hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb \
                         lrint lround nextafter nexttoward pow remainder remquo scalbln scalbn sin \
                         sincos sinh sqrt tan tgamma";
    let name = String::from_utf8_lossy(name);
    let bare = name.strip_suffix(['f', 'l']).unwrap_or(&name);
    NAMES.split(' ').any(|part| part == name || part == bare)
}

impl Body<'_> {
    /// Returns whether a call may be to a pure function: it has a result that is not `noalias`, and
    /// passes no pointer that may be written through.
    pub fn may_be_pure(&self, inst: &Inst) -> bool {
        let function = &*self.function;
        let Some(call) = function.call(inst) else { return false };
        let has = |attributes: &[u8], words: &[&str]| {
            let mut all = attributes.split(u8::is_ascii_whitespace);
            all.any(|it| words.iter().any(|word| it == word.as_bytes()))
        };
        let mut arguments = call.arguments.iter().zip(function.operands(inst));
        let writable = arguments.any(|(it, &value)| {
            function.is_pointer(value) && !has(it.attributes, &["readonly", "readnone"])
        });
        // The attributes of the result come before the arguments.
        let before = function.text_of(inst).split(|&byte| byte == b'(').next().unwrap_or_default();
        inst.result.is_some() && !has(before, &["noalias"]) && !writable
    }
}

impl Judge<'_> {
    /// Returns whether an access is to a C++ object's vtable pointer, or through such a pointer.
    pub fn is_of_vtable(&self, body: &Body<'_>, load: Event) -> bool {
        let graph = self.module.graph();
        let is_vtable = |index: usize| {
            let tag = self.module.instructions()[index].tag.and_then(|tag| graph.tag(tag).ok());
            tag.is_some_and(|tag| graph.ty(tag.access).name() == Some(b"vtable pointer"))
        };
        let pointer = load.access().and_then(|access| body.pointer(access));
        let base = pointer.map(|pointer| body.pointers.address(pointer).base);
        let from = base.and_then(|base| body.function.inst(base)?.access);
        [load.access(), from].into_iter().flatten().any(is_vtable)
    }

    /// Returns whether the cause is [`Cause::Covers`], and the load or its blocker is tagged `char`
    /// and not accepted by [`is_wider_char`].
    pub fn is_byte(&self, blocker: &Blocker) -> bool {
        let is_byte = |index: usize| {
            let index = &self.module.instructions()[index];
            index.tag.is_some_and(|tag| is_char(self.module, tag))
                && !is_wider_char(self.module, self.sizes, index)
        };
        let mut both = [blocker.event, blocker.load].into_iter().filter_map(Event::access);
        blocker.cause == Cause::Covers && both.any(is_byte)
    }

    /// Returns each parameter on which `restrict` would separate a blocker from its load.
    pub fn separating(&self, body: &Body<'_>, blocker: &Blocker) -> Vec<Value> {
        let pointers = &body.pointers;
        let of = |event: Event| event.access().and_then(|access| body.pointer(access));
        let Some(pointer) = of(blocker.load) else { return Vec::new() };
        let read = pointers.based_on(pointer);
        let write = of(blocker.event).map(|of| pointers.based_on(of));
        // If the blocker is a call, `restrict` must put the load's memory out of the call's reach.
        let is_hidden = match blocker.event {
            Event::Access(_) => false,
            Event::Other(at) => {
                pointers.is_out_of_reach(pointer, at, self.is_store(blocker.load), true)
            }
        };
        if Some(read) == write || !is_hidden && write.is_none() {
            return Vec::new();
        }
        let both = [(Some(read), write), (write, Some(read))].into_iter();
        let open = both.filter_map(|(it, other)| {
            let it = it.filter(|&it| pointers.object(it) == Object::Parameter)?;
            let apart = || other.is_some_and(|other| pointers.restrict_separates(it, other));
            (is_hidden || apart()).then_some(it)
        });
        open.collect()
    }
}
