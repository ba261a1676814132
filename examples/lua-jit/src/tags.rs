//! What compiled code accesses, and what LLVM is told of it: the one place where
//! the switches differ.

use std::fmt;

use clap::ValueEnum;
use tbaa::declare::{Declarations, ScalarLayout, Target};
use tbaa::spec::Spec;
use tbaa_lower::emit::{Emitter, Jit, JitOptions, Recorder, TagForm, TaggedCall, TaggedPlace};

use crate::runtime::layout;

/// Where tags come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Switch {
    /// No tags.
    None,
    /// No tags, but functions load the base only at their start and after calls: the goal.
    ByHand,
    /// Clang's policy.
    Clang,
    /// Ravi's own table.
    Ravi,
    /// Rule `union`, lowered to a forest of tags.
    Lowered,
    /// Rule `union` as scopes, and what calls leave alone.
    Scopes,
    /// Both.
    LoweredScopes,
    /// Lowered tags, and the exact relation as classes, which LLVM's passes ask by the plugin.
    Classes,
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
    }
}

/// The machine's type of what is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TagKind {
    Pointer,
    Byte,
    Short,
    Int,
    Long,
    Double,
}

macro_rules! accesses {
    ($($(#[$doc:meta])* $name:ident $kind:ident $path:literal $ravi:literal;)*) => {
        /// An access that compiled code makes.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum At { $($(#[$doc])* $name,)* }

        /// Of each access: itself, its type, its path, and its tag in Ravi's own
        /// table.
        pub(crate) const ACCESSES: &[(At, TagKind, &str, &str)] =
            &[$((At::$name, TagKind::$kind, $path, $ravi),)*];
    };
}

accesses! {
    Ci          Pointer "lua_State.ci"                  "lua_State.ci";
    Global      Pointer "lua_State.l_g"                 "any pointer";
    Globals     Pointer "global_State.globals"          "any pointer";
    Base        Pointer "CallInfo.u.l.base"             "CallInfo.l.base";
    Func        Pointer "CallInfo.func"                 "CallInfo.func";
    Proto       Pointer "LClosure.p"                    "LClosure.p";
    Upvals      Pointer "LClosure.upvals"               "LClosure.upvals";
    Upval       Pointer "LClosure.upvals[*]"            "any pointer";
    Constants   Pointer "Proto.k"                       "Proto.k";
    V           Pointer "UpVal.v"                       "UpVal.v";
    /// Any value as a word, when it is copied.
    Word        Long    "TValue.value"                  "TValue.n";
    Integer     Long    "TValue.value.i"                "TValue.n";
    Number      Double  "TValue.value.n"                "TValue.n";
    Boolean     Int     "TValue.value.b"                "TValue.n";
    Table       Pointer "TValue.value.h"                "TValue.h";
    Array       Pointer "TValue.value.a"                "TValue.h";
    Closure     Pointer "TValue.value.cl"               "CallInfo.func.LClosure";
    Box         Pointer "TValue.value.uv"               "TValue.h";
    String      Pointer "TValue.value.s"                "TValue.h";
    Tag         Short   "TValue.tt"                     "TValue.tt";
    Hash        Int     "TString.hash"                  "int";
    Sizearray   Int     "Table.sizearray"               "Table.sizearray";
    Elements    Pointer "Table.array"                   "Table.array";
    Nodes       Pointer "Table.node"                    "Table.node";
    Lsizenode   Byte    "Table.lsizenode"               "Table.lsizenode";
    KeyString   Pointer "Node.i_key.nk.value.s"         "any pointer";
    KeyTag      Short   "Node.i_key.nk.tt"              "short";
    KeyNext     Int     "Node.i_key.nk.next"            "int";
    Len         Int     "RaviArray.len"                 "RaviArray.len";
    Data        Pointer "RaviArray.data"                "RaviArray.data";
    IntElement  Long    "*integer element"              "long long";
    NumElement  Double  "*number element"               "double";
}

impl At {
    pub(crate) fn kind(self) -> TagKind {
        ACCESSES[self as usize].1
    }

    /// Whether only frames and the state have it. Compiled code does not write
    /// there, and of the helpers only calls do.
    fn is_of_frames(self) -> bool {
        matches!(self, At::Ci | At::Global | At::Base | At::Func)
    }
}

/// The accesses' places, and what calls touch.
pub(crate) struct Tags {
    /// Whether each access is checked at run time.
    pub(crate) checked: bool,
    /// Whether LLVM's passes ask the relation of classes.
    pub(crate) classes: bool,
    places: Vec<TaggedPlace>,
    /// Of a helper that leaves the frames alone.
    helper: TaggedCall,
}

type Error = Box<dyn std::error::Error>;

impl Tags {
    /// # Errors
    ///
    /// Where the structs cannot be declared: on a machine that is not x86-64, or
    /// after a mistake in them.
    pub(crate) fn new(switch: Switch) -> Result<Tags, Error> {
        let target = Target::host().ok_or("this machine's layouts are not known")?;
        let mut types = Declarations::new(target);
        layout::declare(&mut types)?;
        // No element is ever accessed as another value: a store of one leaves the integers and
        // floats in stack slots alone.
        types.scalar("integer element", ScalarLayout { size: 8, align: 8 }, "long long")?;
        types.scalar("number element", ScalarLayout { size: 8, align: 8 }, "double")?;
        let form = match switch {
            Switch::Lowered => TagForm::Lowered,
            Switch::Scopes => TagForm::Scopes,
            Switch::Classes => TagForm::Classes,
            Switch::LoweredScopes => TagForm::LoweredScopes,
            _ => TagForm::Clang,
        };
        let path = |&(_, _, path, _): &(At, TagKind, &'static str, &str)| path;
        let mut jit = Jit::with_options(types, JitOptions::new().form(form))?;
        let mut places = jit.places(&ACCESSES.iter().map(path).collect::<Vec<_>>())?;
        let touched = ACCESSES.iter().filter(|at| !at.0.is_of_frames()).map(path);
        let helper = jit.call(&touched.collect::<Vec<_>>())?;
        if let Switch::None | Switch::ByHand | Switch::Ravi = switch {
            let mut ravi = Spec::load(include_str!("../../../specs/ravi.ron"))?;
            let mut nodes = Emitter::new(Recorder);
            for (place, (.., name)) in places.iter_mut().zip(ACCESSES) {
                let tag = (switch == Switch::Ravi).then(|| ravi.tag(name)).transpose()?;
                let nodes = nodes.access(ravi.graph(), tag)?;
                *place = TaggedPlace::with_nodes(name, *place.place(), nodes);
            }
        }
        Ok(Tags { checked: false, classes: switch == Switch::Classes, places, helper })
    }

    pub(crate) fn place(&self, at: At) -> &TaggedPlace {
        &self.places[at as usize]
    }

    pub(crate) fn helper(&self) -> &TaggedCall {
        &self.helper
    }
}
