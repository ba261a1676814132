//! Which variable a name means.

use std::rc::Rc;

use super::ast::{ExprKind, Source, Type, Upvalue, Var, VarId};

/// A function whose body is being read.
#[derive(Default)]
pub(super) struct Open {
    pub(super) vars: Vec<Var>,
    pub(super) upvalues: Vec<Upvalue>,
    /// Variables in scope, the innermost last.
    active: Vec<VarId>,
}

/// The functions around the place that is being read, the innermost last.
#[derive(Default)]
pub(super) struct Scopes {
    open: Vec<Open>,
}

impl Scopes {
    pub(super) fn enter_function(&mut self) {
        self.open.push(Open::default());
    }

    /// # Panics
    ///
    /// If no function is open.
    pub(super) fn leave_function(&mut self) -> Open {
        self.open.pop().expect("each function entered is left once")
    }

    fn function(&mut self) -> &mut Open {
        self.open.last_mut().expect("the main chunk is a function")
    }

    /// Marks the start of a block; give the mark back to `leave_block`.
    pub(super) fn enter_block(&mut self) -> usize {
        self.function().active.len()
    }

    pub(super) fn leave_block(&mut self, mark: usize) {
        self.function().active.truncate(mark);
    }

    /// Makes a variable that no name means yet.
    pub(super) fn declare(&mut self, name: Rc<str>, ty: Type) -> VarId {
        let vars = &mut self.function().vars;
        vars.push(Var { name, ty, captured: false, assigned: false });
        vars.len() - 1
    }

    /// Notes that a variable of the innermost function is assigned to.
    pub(super) fn assign(&mut self, var: VarId) {
        self.function().vars[var].assigned = true;
    }

    /// From here on the variable's name means it.
    pub(super) fn activate(&mut self, var: VarId) {
        self.function().active.push(var);
    }

    pub(super) fn resolve(&mut self, name: &Rc<str>) -> ExprKind {
        let found = |open: &Open| {
            open.active.iter().rev().copied().find(|&var| open.vars[var].name == *name)
        };
        let home = self.open.iter().enumerate().rev().find_map(|(at, open)| {
            let upvalue = open.upvalues.iter().position(|upvalue| upvalue.name == *name);
            // An inner local hides an upvalue of the same name.
            let source = found(open).map(Source::Local);
            source.or(upvalue.map(Source::Upvalue)).map(|source| (at, source))
        });
        let Some((at, mut source)) = home else { return ExprKind::Global(name.clone()) };
        let ty = match source {
            Source::Local(var) => self.open[at].vars[var].ty,
            Source::Upvalue(index) => self.open[at].upvalues[index].ty,
        };
        if let (Source::Local(var), true) = (source, at + 1 < self.open.len()) {
            self.open[at].vars[var].captured = true;
        }
        for open in &mut self.open[at + 1..] {
            open.upvalues.push(Upvalue { name: name.clone(), ty, source });
            source = Source::Upvalue(open.upvalues.len() - 1);
        }
        match source {
            Source::Local(var) => ExprKind::Local(var),
            Source::Upvalue(index) => ExprKind::Upvalue(index),
        }
    }
}
