//! A function under construction: scopes, registers, labels, constants.

use std::rc::Rc;

use full_moon::ast::{Block, FunctionBody, Parameter};
use full_moon::tokenizer::{Position, TokenReference};

use super::read::{Mistake, Result, Types, mistake, read};
use super::{Label, Op, Operand, Proto, Reg, Type, UpvalueAt, Value};

/// Slots that one function may use.
const MOST_SLOTS: u32 = 1000;

/// Parameters of one function, and upvalues of one; a byte counts them.
const MOST_NAMES: usize = 200;

/// Compiles a program.
///
/// Only at a variable's last use is it known whether inner functions use it, so that it lives in a
/// box, and whether it is assigned to. Programs are therefore lowered twice: first as if both were
/// true of all variables.
///
/// # Errors
///
/// The first mistake in the program, or the first thing that is not supported.
pub(crate) fn compile(source: &str) -> std::result::Result<Proto, Mistake> {
    let (tree, types) = read(source)?;
    let mut lowering = Lowering {
        types: &types,
        known: None,
        found: vec![],
        outer: vec![],
        f: Function::default(),
    };
    lowering.main(tree.nodes())?;
    lowering.known = Some(std::mem::take(&mut lowering.found));
    lowering.main(tree.nodes())
}

/// How functions use a variable.
#[derive(Clone, Copy)]
struct Uses {
    /// An inner function uses it.
    captured: bool,
    /// It is assigned to after its declaration.
    assigned: bool,
}

/// A local variable.
pub(super) struct Var {
    pub(super) name: Rc<str>,
    /// Its annotation.
    pub(super) ty: Type,
    /// What is known of its value, which may be more.
    pub(super) known: Type,
    pub(super) reg: Reg,
    /// It lives in a box of its own, which is in its slot.
    pub(super) boxed: bool,
    assigned: bool,
    /// Its number in [`Lowering::found`].
    id: usize,
}

impl Var {
    /// What is known of a variable that is never assigned to may be more than its annotation says.
    pub(super) fn refine(&mut self, ty: Type) {
        if self.ty == Type::Any && !self.boxed && !self.assigned {
            self.known = ty;
        }
    }
}

/// What a name means: a variable by its number in [`Function::vars`], or an upvalue.
pub(super) enum Home {
    Local(usize),
    Upvalue(usize),
    Global,
}

pub(super) struct Upvalue {
    pub(super) name: Rc<str>,
    pub(super) ty: Type,
    at: UpvalueAt,
}

#[derive(Default)]
pub(super) struct Function {
    pub(super) proto: Proto,
    labels: Vec<Option<usize>>,
    /// Variables in scope, the innermost last.
    pub(super) vars: Vec<Var>,
    pub(super) upvalues: Vec<Upvalue>,
    /// The first free slot; all from there on may be given back.
    pub(super) free: Reg,
    /// Where `break` leads, the innermost loop last.
    pub(super) breaks: Vec<Label>,
    pub(super) line: u32,
}

pub(super) struct Lowering<'t> {
    types: &'t Types,
    /// How variables are used, in the order of their declarations; unknown at first.
    known: Option<Vec<Uses>>,
    found: Vec<Uses>,
    /// The functions around `f`, the innermost last.
    pub(super) outer: Vec<Function>,
    pub(super) f: Function,
}

impl Lowering<'_> {
    fn main(&mut self, block: &Block) -> Result<Proto> {
        self.f.line = 1;
        self.block(block)?;
        self.finish(start(block))
    }

    /// Compiles an inner function, and makes its closure.
    pub(super) fn closure(&mut self, body: &FunctionBody, at: Position, to: Reg) -> Result<()> {
        let line = at.line() as u32;
        self.f.line = line;
        self.outer.push(std::mem::replace(&mut self.f, Function { line, ..Function::default() }));
        for parameter in body.parameters() {
            match parameter {
                Parameter::Name(name) => {
                    let var = self.declare(name);
                    self.f.vars.push(var);
                }
                _ => return mistake(start(parameter), "only the main chunk has `...`"),
            }
        }
        let params = self.f.vars.len();
        self.f.proto.params = params as u32;
        if params > MOST_NAMES {
            return mistake(at, format!("more than {MOST_NAMES} parameters"));
        }
        for var in 0..params {
            let Var { reg, ty, .. } = self.f.vars[var];
            if ty != Type::Any {
                self.emit(Op::Check { reg, ty });
            }
            self.box_if_captured(var);
        }
        self.block(body.block())?;
        let proto = self.finish(at)?;
        self.f.proto.functions.push(proto);
        self.emit(Op::Closure { to, function: self.f.proto.functions.len() - 1 });
        Ok(())
    }

    /// Ends the innermost function.
    fn finish(&mut self, at: Position) -> Result<Proto> {
        self.emit(Op::Return { at: 0, count: Some(0) });
        let f = std::mem::replace(&mut self.f, self.outer.pop().unwrap_or_default());
        if f.proto.slots > MOST_SLOTS || f.upvalues.len() > MOST_NAMES {
            let most = format!("{MOST_SLOTS} stack slots or {MOST_NAMES} upvalues");
            return mistake(at, format!("a function that needs more than {most}"));
        }
        let labels = f.labels.into_iter().map(|at| at.expect("each label is placed")).collect();
        let upvalues = f.upvalues.iter().map(|upvalue| upvalue.at).collect();
        Ok(Proto { labels, upvalues, ..f.proto })
    }

    /// Makes a variable in the next free slot; its name means it once it is in `vars`.
    pub(super) fn declare(&mut self, name: &TokenReference) -> Var {
        let id = self.found.len();
        self.found.push(Uses { captured: false, assigned: false });
        let ty = self.types.get(&name.start_position().bytes()).copied().unwrap_or(Type::Any);
        let unknown = Uses { captured: true, assigned: true };
        let Uses { captured, assigned } = self.known.as_ref().map_or(unknown, |known| known[id]);
        let (name, reg) = (name.token().to_string().into(), self.temporary());
        Var { name, ty, known: ty, reg, boxed: captured, assigned, id }
    }

    pub(super) fn resolve(&mut self, name: &str) -> Home {
        fn find(functions: &mut [Function], found: &mut [Uses], name: &str) -> Home {
            let Some((f, outer)) = functions.split_last_mut() else { return Home::Global };
            if let Some(at) = f.vars.iter().rposition(|var| *var.name == *name) {
                return Home::Local(at);
            }
            if let Some(at) = f.upvalues.iter().position(|upvalue| *upvalue.name == *name) {
                return Home::Upvalue(at);
            }
            let (ty, at) = match (find(outer, found, name), outer.last()) {
                (Home::Local(at), Some(outer)) => {
                    let var = &outer.vars[at];
                    found[var.id].captured = true;
                    (var.ty, UpvalueAt::Box(var.reg))
                }
                (Home::Upvalue(at), Some(outer)) => (outer.upvalues[at].ty, UpvalueAt::Upvalue(at)),
                _ => return Home::Global,
            };
            f.upvalues.push(Upvalue { name: name.into(), ty, at });
            Home::Upvalue(f.upvalues.len() - 1)
        }
        self.outer.push(std::mem::take(&mut self.f));
        let home = find(&mut self.outer, &mut self.found, name);
        self.f = self.outer.pop().unwrap_or_default();
        home
    }

    /// Notes that a variable is assigned to.
    pub(super) fn assigned(&mut self, var: usize) {
        self.found[self.f.vars[var].id].assigned = true;
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.f.proto.code.push((op, self.f.line));
    }

    pub(super) fn label(&mut self) -> Label {
        self.f.labels.push(None);
        self.f.labels.len() - 1
    }

    pub(super) fn place(&mut self, label: Label) {
        self.f.labels[label] = Some(self.f.proto.code.len());
    }

    pub(super) fn string(&mut self, string: &str) -> usize {
        let strings = &mut self.f.proto.strings;
        let known = strings.iter().position(|known| **known == *string);
        known.unwrap_or_else(|| {
            strings.push(string.into());
            strings.len() - 1
        })
    }

    /// Takes the next free slot.
    pub(super) fn temporary(&mut self) -> Reg {
        self.f.free += 1;
        self.f.proto.slots = self.f.proto.slots.max(self.f.free + 1);
        self.f.free - 1
    }

    /// Puts a variable's value, which is in its slot, into a box if need be.
    pub(super) fn box_if_captured(&mut self, var: usize) {
        let Var { boxed, reg: to, .. } = self.f.vars[var];
        if boxed {
            self.emit(Op::NewBox { to, from: Operand::Reg(to) });
        }
    }

    /// Puts an operand into a slot, unless it is there.
    pub(super) fn move_to(&mut self, to: Reg, value: Value) {
        if value.operand != Operand::Reg(to) {
            self.emit(Op::Move { to, from: value.operand });
        }
    }
}

/// Where a node of the tree starts.
pub(super) fn start(node: &impl full_moon::node::Node) -> Position {
    node.start_position().unwrap_or_default()
}
