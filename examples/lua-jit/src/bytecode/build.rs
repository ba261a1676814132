//! A function under construction: registers, labels, constants.

use std::rc::Rc;

use super::{Label, Op, Operand, Proto, Reg, UpvalueAt, Value};
use crate::syntax::SyntaxError;
use crate::syntax::ast::{Function, Source, Type, VarId};

/// Slots that one function may use.
const MOST_SLOTS: u32 = 1000;

/// Parameters of one function, and variables that it takes from around it; a
/// byte counts them.
const MOST_NAMES: usize = 200;

pub(super) struct Builder<'f> {
    pub(super) function: &'f Function,
    pub(super) code: Vec<(Op, u32)>,
    labels: Vec<Option<usize>>,
    strings: Vec<Rc<str>>,
    pub(super) functions: Vec<Proto>,
    /// Where each variable lives, and what is known of it.
    vars: Vec<(Reg, Type)>,
    /// The first free slot.
    free: Reg,
    slots: u32,
    /// Where `break` leads, the innermost loop last.
    pub(super) breaks: Vec<Label>,
    pub(super) line: u32,
}

impl<'f> Builder<'f> {
    pub(super) fn function(
        function: &'f Function,
        home: &dyn Fn(Source) -> UpvalueAt,
    ) -> Result<Proto, SyntaxError> {
        let vars = function.vars.iter().map(|var| (0, var.ty)).collect();
        let mut builder = Builder {
            function,
            code: Vec::new(),
            labels: Vec::new(),
            strings: Vec::new(),
            functions: Vec::new(),
            vars,
            free: 0,
            slots: 1,
            breaks: Vec::new(),
            line: function.line,
        };
        for &param in &function.params {
            let reg = builder.temporary();
            builder.bind(param, reg);
        }
        for &param in &function.params {
            let (reg, ty) = builder.vars[param];
            if ty != Type::Any {
                builder.emit(Op::Check { reg, ty });
            }
            builder.box_if_captured(param);
        }
        builder.block(&function.body)?;
        builder.emit(Op::Return { at: 0, count: Some(0) });
        if builder.slots > MOST_SLOTS {
            let message = format!(
                "function `{}` needs {} slots of the stack, more than {MOST_SLOTS}",
                function.name, builder.slots
            );
            return Err(SyntaxError::new(0, message));
        }
        if function.params.len().max(function.upvalues.len()) > MOST_NAMES {
            let message = format!(
                "function `{}` has more than {MOST_NAMES} parameters, or variables from around it",
                function.name
            );
            return Err(SyntaxError::new(0, message));
        }
        let labels = builder.labels.into_iter().map(|at| at.expect("each label is placed"));
        Ok(Proto {
            code: builder.code,
            labels: labels.collect(),
            strings: builder.strings,
            upvalues: function.upvalues.iter().map(|upvalue| home(upvalue.source)).collect(),
            functions: builder.functions,
            params: function.params.len() as u32,
            slots: builder.slots,
        })
    }

    /// Where a closure made here finds a variable.
    pub(super) fn home(vars: &[(Reg, Type)], source: Source) -> UpvalueAt {
        match source {
            Source::Local(var) => UpvalueAt::Box(vars[var].0),
            Source::Upvalue(index) => UpvalueAt::Upvalue(index),
        }
    }

    pub(super) fn inner(&mut self, function: &Function) -> Result<usize, SyntaxError> {
        let vars = &self.vars;
        let proto = Builder::function(function, &|source| Builder::home(vars, source))?;
        self.functions.push(proto);
        Ok(self.functions.len() - 1)
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.code.push((op, self.line));
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        self.labels.len() - 1
    }

    pub(super) fn place(&mut self, label: Label) {
        self.labels[label] = Some(self.code.len());
    }

    pub(super) fn string(&mut self, string: &Rc<str>) -> usize {
        let known = self.strings.iter().position(|known| known == string);
        known.unwrap_or_else(|| {
            self.strings.push(string.clone());
            self.strings.len() - 1
        })
    }

    /// Takes the next free slot.
    pub(super) fn temporary(&mut self) -> Reg {
        self.free += 1;
        self.slots = self.slots.max(self.free + 1);
        self.free - 1
    }

    /// Returns the first free slot, up to which all may be given back.
    pub(super) fn mark(&self) -> Reg {
        self.free
    }

    pub(super) fn release(&mut self, mark: Reg) {
        self.free = mark;
    }

    /// Makes a slot the home of a variable.
    pub(super) fn bind(&mut self, var: VarId, reg: Reg) {
        self.vars[var].0 = reg;
    }

    /// What is known of a variable that is never assigned to may be more than
    /// its annotation says.
    pub(super) fn refine(&mut self, var: VarId, ty: Type) {
        let declared = &self.function.vars[var];
        if declared.ty == Type::Any && !declared.captured && !declared.assigned {
            self.vars[var].1 = ty;
        }
    }

    pub(super) fn var(&self, var: VarId) -> (Reg, Type) {
        self.vars[var]
    }

    pub(super) fn is_boxed(&self, var: VarId) -> bool {
        self.function.vars[var].captured
    }

    /// The variable's value is in its slot; puts it into a box if need be.
    pub(super) fn box_if_captured(&mut self, var: VarId) {
        if self.is_boxed(var) {
            let to = self.vars[var].0;
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
