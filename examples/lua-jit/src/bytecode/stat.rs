//! Statements.

use super::build::Builder;
use super::expr::is_open;
use super::{Op, Operand, Reg, Value};
use crate::syntax::SyntaxError;
use crate::syntax::ast::{Expr, ExprKind, Stat, Type, VarId};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Where an assignment goes, its operands computed.
enum Target {
    Slot(Reg),
    Box(Reg),
    Upvalue(usize),
    Global(usize),
    Index { table: Reg, key: Value },
    Element { array: Reg, key: Value, element: Type },
}

impl Builder<'_> {
    pub(super) fn block(&mut self, stats: &[Stat]) -> Result<()> {
        let mark = self.mark();
        for stat in stats {
            self.statement(stat)?;
        }
        self.release(mark);
        Ok(())
    }

    fn statement(&mut self, stat: &Stat) -> Result<()> {
        let mark = self.mark();
        match stat {
            // A declaration keeps its slots until the block ends.
            Stat::Local { vars, values } => return self.local(vars, values),
            Stat::LocalFunction { var, function } => {
                let reg = self.temporary();
                self.bind(*var, reg);
                if self.is_boxed(*var) {
                    // The box is there before the function that may use it.
                    self.emit(Op::NewBox { to: reg, from: Operand::Nil });
                    let (value, _) = self.in_slot(function)?;
                    self.emit(Op::SetBox { boxed: reg, from: Operand::Reg(value) });
                } else {
                    self.into(function, reg)?;
                }
                self.release(reg + 1);
                return Ok(());
            }
            Stat::Assign { targets, values } => self.assign(targets, values)?,
            Stat::Call(call) => {
                self.call(call, Some(0))?;
            }
            Stat::Do(body) => self.block(body)?,
            Stat::If { arms, otherwise } => {
                let end = self.label();
                for (at, (condition, body)) in arms.iter().enumerate() {
                    let next = self.label();
                    self.branch(condition, false, next)?;
                    self.block(body)?;
                    if at + 1 < arms.len() || !otherwise.is_empty() {
                        self.emit(Op::Jump { target: end });
                    }
                    self.place(next);
                }
                self.block(otherwise)?;
                self.place(end);
            }
            Stat::While { condition, body } => {
                let (again, end) = (self.label(), self.label());
                self.place(again);
                self.branch(condition, false, end)?;
                self.breaks.push(end);
                self.block(body)?;
                self.breaks.pop();
                self.emit(Op::Jump { target: again });
                self.place(end);
            }
            Stat::Repeat { body, condition } => {
                let (again, end) = (self.label(), self.label());
                self.place(again);
                self.breaks.push(end);
                for stat in body {
                    self.statement(stat)?;
                }
                self.breaks.pop();
                self.branch(condition, false, again)?;
                self.place(end);
            }
            Stat::For { var, start, limit, step, body } => {
                self.for_loop(*var, (start, limit, step.as_ref()), body)?;
            }
            Stat::Return { values, line } => {
                let at = self.mark();
                let count = self.list(values, true)?;
                self.line = *line;
                self.emit(Op::Return { at, count });
            }
            Stat::Break { offset } => {
                let Some(&target) = self.breaks.last() else {
                    return Err(SyntaxError::new(*offset, "`break` outside a loop"));
                };
                self.emit(Op::Jump { target });
            }
        }
        self.release(mark);
        Ok(())
    }

    fn local(&mut self, vars: &[VarId], values: &[Expr]) -> Result<()> {
        let first = self.mark();
        for _ in vars {
            self.temporary();
        }
        let end = self.mark();
        for (at, expr) in values.iter().enumerate() {
            let (to, var) = (first + at as u32, vars.get(at).copied());
            let Some(var) = var else {
                // One value too many is computed and forgotten.
                let to = self.temporary();
                self.into(expr, to)?;
                self.release(end);
                continue;
            };
            let rest = vars.len() - at;
            if at + 1 == values.len() && rest > 1 && is_open(expr) {
                let from = self.call(expr, Some(rest as u32))?;
                for (at, &var) in (0..).zip(&vars[at..]) {
                    self.emit(Op::Move { to: to + at, from: Operand::Reg(from + at) });
                    self.check_var(to + at, Type::Any, var, expr)?;
                }
                self.release(end);
                break;
            }
            let declared = self.function.vars[var].ty;
            if declared == Type::Any {
                let found = self.into(expr, to)?;
                self.refine(var, found);
            } else {
                let what = format!("`{}`", self.function.vars[var].name);
                self.put_typed(expr, to, declared, &what)?;
            }
        }
        let open = values.last().is_some_and(is_open);
        if !open || vars.len() <= values.len() {
            for (at, &var) in vars.iter().enumerate().skip(values.len()) {
                let to = first + at as u32;
                let from = match self.function.vars[var].ty {
                    Type::Any => Operand::Nil,
                    Type::Integer => Operand::Integer(0),
                    Type::Number => Operand::Number(0.0),
                    ty => {
                        self.emit(Op::NewArray { to, element: ty.element() });
                        continue;
                    }
                };
                self.emit(Op::Move { to, from });
            }
        }
        for (at, &var) in (0..).zip(vars) {
            self.bind(var, first + at);
            self.box_if_captured(var);
        }
        Ok(())
    }

    fn check_var(&mut self, reg: Reg, found: Type, var: VarId, expr: &Expr) -> Result<()> {
        let declared = &self.function.vars[var];
        let what = format!("`{}`", declared.name);
        self.check(reg, found, declared.ty, &what, expr)
    }

    fn assign(&mut self, targets: &[Expr], values: &[Expr]) -> Result<()> {
        if let ([target], [value]) = (targets, values) {
            let (home, ty) = self.target(target, false)?;
            return self.store(home, ty, target, value);
        }
        let homes = targets.iter().map(|target| self.target(target, true));
        let homes = homes.collect::<Result<Vec<_>>>()?;
        let first = self.mark();
        let mut known = Vec::new();
        for (at, expr) in values.iter().enumerate() {
            let rest = targets.len().saturating_sub(at);
            if at + 1 == values.len() && rest > 1 && is_open(expr) {
                let from = self.call(expr, Some(rest as u32))?;
                debug_assert_eq!(from, first + at as u32);
                known.resize(targets.len(), Type::Any);
            } else {
                let slot = self.temporary();
                known.push(self.into(expr, slot)?);
            }
        }
        for ((at, target), (home, ty)) in (0..).zip(targets).zip(homes) {
            let mut operand = Operand::Nil;
            if let Some(&found) = known.get(at as usize) {
                operand = Operand::Reg(first + at);
                self.check(first + at, found, ty, "what is assigned to", target)?;
            } else if ty != Type::Any {
                let message = format!("this is of type {}, and no value is left for it", ty.name());
                return Err(SyntaxError::new(target.offset, message));
            }
            self.put(home, Value { operand, ty });
        }
        Ok(())
    }

    /// Computes what an assignment needs to know of its target, and the type that
    /// the target wants. Operands that the assignment itself may change are
    /// copied if `copied`.
    fn target(&mut self, target: &Expr, copied: bool) -> Result<(Target, Type)> {
        Ok(match &target.kind {
            ExprKind::Local(var) => {
                let (reg, ty) = (self.var(*var).0, self.function.vars[*var].ty);
                (if self.is_boxed(*var) { Target::Box(reg) } else { Target::Slot(reg) }, ty)
            }
            ExprKind::Upvalue(index) => {
                (Target::Upvalue(*index), self.function.upvalues[*index].ty)
            }
            ExprKind::Global(name) => (Target::Global(self.string(name)), Type::Any),
            ExprKind::Index(table, key) => {
                let (mut reg, ty) = self.in_slot(table)?;
                let mut key = self.key(ty, key)?;
                if copied {
                    let value = Value { operand: Operand::Reg(reg), ty };
                    reg = self.temporary();
                    self.move_to(reg, value);
                    let slot = self.temporary();
                    self.move_to(slot, key);
                    key.operand = Operand::Reg(slot);
                }
                match ty.element() {
                    Type::Any => (Target::Index { table: reg, key }, Type::Any),
                    element => (Target::Element { array: reg, key, element }, element),
                }
            }
            _ => return Err(SyntaxError::new(target.offset, "this cannot be assigned to")),
        })
    }

    /// One value to one target.
    fn store(&mut self, home: Target, ty: Type, target: &Expr, value: &Expr) -> Result<()> {
        let what = match &target.kind {
            ExprKind::Local(var) => format!("`{}`", self.function.vars[*var].name),
            ExprKind::Upvalue(index) => format!("`{}`", self.function.upvalues[*index].name),
            _ => "an element".to_owned(),
        };
        let value = match home {
            // The slot is written last, so the expression may read it.
            Target::Slot(to) => return self.put_typed(value, to, ty, &what),
            _ if ty == Type::Any => self.value(value)?,
            _ => {
                let slot = self.temporary();
                self.put_typed(value, slot, ty, &what)?;
                Value { operand: Operand::Reg(slot), ty }
            }
        };
        self.line = target.line;
        self.put(home, value);
        Ok(())
    }

    fn put(&mut self, home: Target, value: Value) {
        let from = value.operand;
        match home {
            Target::Slot(to) => self.move_to(to, value),
            Target::Box(boxed) => self.emit(Op::SetBox { boxed, from }),
            Target::Upvalue(index) => self.emit(Op::SetUpvalue { index, from }),
            Target::Global(name) => self.emit(Op::SetGlobal { name, from }),
            Target::Index { table, key } => self.emit(Op::SetIndex { table, key, from }),
            Target::Element { array, key, element } => {
                self.emit(Op::SetElement { array, key, from: value, element });
            }
        }
    }

    fn for_loop(
        &mut self,
        var: VarId,
        (start, limit, step): (&Expr, &Expr, Option<&Expr>),
        body: &[Stat],
    ) -> Result<()> {
        let at = self.mark();
        let mut types = Vec::new();
        for bound in [Some(start), Some(limit), step] {
            let to = self.temporary();
            let ty = match bound {
                Some(expr) => self.into(expr, to)?,
                None => {
                    self.emit(Op::Move { to, from: Operand::Integer(1) });
                    Type::Integer
                }
            };
            if ty != Type::Any && !ty.is_number() {
                let message = format!("a bound of type {}", ty.name());
                return Err(SyntaxError::new(bound.unwrap_or(start).offset, message));
            }
            types.push(ty);
        }
        let ty = match (types[0], types[2]) {
            (Type::Integer, Type::Integer) => Type::Integer,
            (Type::Number, _) | (_, Type::Number) => Type::Number,
            _ => Type::Any,
        };
        let all_integers = types.iter().all(|&ty| ty == Type::Integer);
        let (reg, line) = (self.temporary(), start.line);
        self.bind(var, reg);
        self.refine(var, ty);
        let (again, exit) = (self.label(), self.label());
        self.line = line;
        self.emit(Op::ForPrep { at, all_integers, exit });
        self.place(again);
        self.check_var(reg, ty, var, start)?;
        self.box_if_captured(var);
        self.breaks.push(exit);
        self.block(body)?;
        self.breaks.pop();
        self.line = line;
        self.emit(Op::ForLoop { at, ty, body: again });
        self.place(exit);
        Ok(())
    }
}
