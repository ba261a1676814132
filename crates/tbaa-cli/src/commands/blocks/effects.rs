//! What calls do to memory, as far as attributes say.

use std::collections::HashMap;

use tbaa_ir::Statement;

/// What a call may do to memory that other code sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effect {
    /// It writes nothing.
    None,
    /// It may write `errno`, and nothing else.
    Errno,
    /// It may write anything.
    Any,
}

/// The attributes that a module's text gives functions.
pub(super) struct Effects<'t> {
    /// What the groups `#0 = {...}` say.
    groups: HashMap<&'t str, Effect>,
    /// What declarations and definitions say.
    functions: HashMap<&'t str, Effect>,
}

/// Intrinsics that LLVM says write memory, so that they stay in order; they
/// change none that is loaded after.
const HARMLESS: [&str; 8] = [
    "@llvm.assume",
    "@llvm.dbg.",
    "@llvm.experimental.noalias.scope.decl",
    "@llvm.invariant.",
    "@llvm.lifetime.",
    "@llvm.prefetch",
    "@llvm.pseudoprobe",
    "@llvm.sideeffect",
];

impl<'t> Effects<'t> {
    pub(super) fn of(text: &'t [u8]) -> Self {
        let mut found = Effects { groups: HashMap::new(), functions: HashMap::new() };
        let lines = || {
            let lines = text.split(|&byte| byte == b'\n');
            // What is no UTF-8 has no attribute that is looked for.
            lines
                .filter(|line| line.starts_with(b"attributes #") || line.starts_with(b"de"))
                .filter_map(|line| std::str::from_utf8(line).ok())
        };
        for line in lines() {
            if let Some((group, list)) =
                line.strip_prefix("attributes ").and_then(|rest| rest.split_once(" = "))
            {
                found.groups.insert(group, stated(list).unwrap_or(Effect::Any));
            }
        }
        for line in
            lines().filter(|line| line.starts_with("declare ") || line.starts_with("define "))
        {
            if let Some(name) = callee(line) {
                let effect = found.all(line);
                found.functions.insert(name, effect);
            }
        }
        found
    }

    /// What the groups say that a line names.
    fn all(&self, line: &str) -> Effect {
        let words = line.split_ascii_whitespace();
        let groups = words.filter(|word| word.starts_with('#'));
        let groups = groups.filter_map(|group| self.groups.get(group.trim_end_matches(',')));
        groups.copied().min().unwrap_or(Effect::Any)
    }

    /// What a call or fence may do.
    pub(super) fn of_call(&self, statement: &Statement<'_>) -> Effect {
        if statement.word == b"fence" {
            return Effect::Any;
        }
        let line = std::str::from_utf8(statement.text()).unwrap_or_default();
        let Some(name) = callee(line) else { return self.all(line) };
        if HARMLESS.iter().any(|harmless| name.starts_with(harmless)) {
            return Effect::None;
        }
        let of_function = self.functions.get(name).copied().unwrap_or(Effect::Any);
        of_function.min(self.all(line))
    }
}

/// The `@f` that is called, declared or defined on a line.
pub(super) fn callee(line: &str) -> Option<&str> {
    let at = line.find('@')?;
    let rest = &line[at..];
    let end = match rest[1..].strip_prefix('"') {
        Some(quoted) => quoted.find('"')? + 3,
        None => rest.find('(')?,
    };
    // Of `call ptr %p(ptr @g)` the `@g` is an argument.
    (!line[..at].contains('(') && rest[end..].starts_with('(')).then(|| &rest[..end])
}

/// What a list of attributes says; `None` where it says nothing of memory.
///
/// LLVM: `MemoryEffects`.
fn stated(list: &str) -> Option<Effect> {
    let has = |wanted: &str| {
        list.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == wanted)
    };
    let Some((_, memory)) = list.split_once("memory(") else {
        return (has("readnone") || has("readonly")).then_some(Effect::None);
    };
    let memory = &memory[..memory.find(')').unwrap_or(memory.len())];
    let mut effect = Effect::None;
    for part in memory.split(',').map(str::trim).filter(|part| part.contains("write")) {
        let of_part = match part.split_once(':') {
            Some(("errnomem", _)) => Effect::Errno,
            Some((place, _)) if place == "inaccessiblemem" || place.starts_with("target_mem") => {
                Effect::None
            }
            _ => Effect::Any,
        };
        effect = effect.max(of_part);
    }
    Some(effect)
}

#[cfg(test)]
mod tests {
    use super::{Effect, callee, stated};

    #[test]
    fn attributes_say_what_is_written() {
        for (list, effect) in [
            ("nounwind", None),
            ("nounwind memory(none)", Some(Effect::None)),
            ("memory(read)", Some(Effect::None)),
            ("memory(argmem: readwrite)", Some(Effect::Any)),
            ("memory(write, argmem: none)", Some(Effect::Any)),
            ("memory(inaccessiblemem: readwrite)", Some(Effect::None)),
            ("memory(errnomem: write)", Some(Effect::Errno)),
            ("memory(argmem: read, errnomem: write) nounwind", Some(Effect::Errno)),
            ("nounwind readonly", Some(Effect::None)),
            ("readonly_not", None),
        ] {
            assert!(stated(list) == effect, "{list}");
        }
        assert_eq!(callee("  %x = call i32 @f(ptr @g)"), Some("@f"));
        assert_eq!(callee("  call void %p(ptr @g)"), None);
        assert_eq!(callee("call void @\"a b\"(i32 1)"), Some("@\"a b\""));
    }
}
