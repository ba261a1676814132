//! Statements.

use full_moon::ast::{Block, Expression, Index, LastStmt, NumericFor, Prefix, Stmt, Suffix};
use full_moon::tokenizer::{Position, TokenReference};

use super::expr::{Chain, Expr, is_open};
use super::function::{Home, Lowering, Var, start};
use super::read::{Result, mistake};
use super::{Op, Operand, Reg, Type, Value};

/// Where an assignment goes, its operands computed.
enum Target {
    Slot(Reg),
    Box(Reg),
    Upvalue(usize),
    Global(usize),
    Index { table: Reg, key: Value },
    Element { array: Reg, key: Value, element: Type },
}

impl Lowering<'_> {
    pub(super) fn block(&mut self, block: &Block) -> Result<()> {
        let (mark, vars) = (self.f.free, self.f.vars.len());
        self.statements(block)?;
        self.f.free = mark;
        self.f.vars.truncate(vars);
        Ok(())
    }

    fn loop_block(&mut self, block: &Block, end: usize) -> Result<()> {
        self.f.breaks.push(end);
        self.block(block)?;
        self.f.breaks.pop();
        Ok(())
    }

    fn statements(&mut self, block: &Block) -> Result<()> {
        for stat in block.stmts() {
            let mark = self.f.free;
            self.statement(stat)?;
            // A declaration keeps its slots until the block ends.
            if !matches!(stat, Stmt::LocalAssignment(_) | Stmt::LocalFunction(_)) {
                self.f.free = mark;
            }
        }
        match block.last_stmt() {
            Some(LastStmt::Return(it)) => {
                let at = self.f.free;
                let count = self.list(&it.returns().iter().collect::<Vec<_>>(), true)?;
                self.f.line = it.token().start_position().line() as u32;
                self.emit(Op::Return { at, count });
                self.f.free = at;
            }
            Some(LastStmt::Break(token)) => match self.f.breaks.last() {
                Some(&target) => self.emit(Op::Jump { target }),
                None => return mistake(token.start_position(), "`break` outside a loop"),
            },
            _ => {}
        }
        Ok(())
    }

    fn statement(&mut self, stat: &Stmt) -> Result<()> {
        match stat {
            Stmt::LocalAssignment(it) => {
                if let Some(attribute) = it.attributes().flatten().next() {
                    return mistake(
                        start(attribute),
                        "attributes such as <const> are not supported",
                    );
                }
                let names: Vec<_> = it.names().iter().collect();
                self.local(&names, &it.expressions().iter().collect::<Vec<_>>())?;
            }
            Stmt::LocalFunction(it) => {
                let var = self.declare(it.name());
                let (reg, boxed) = (var.reg, var.boxed);
                self.f.vars.push(var);
                let at = start(it.function_token());
                if boxed {
                    // The box is there before the function that may use it.
                    self.emit(Op::NewBox { to: reg, from: Operand::Nil });
                }
                let to = if boxed { self.temporary() } else { reg };
                self.closure(it.body(), at, to)?;
                if boxed {
                    self.emit(Op::SetBox { boxed: reg, from: Operand::Reg(to) });
                }
                self.f.free = reg + 1;
            }
            Stmt::Assignment(it) => {
                let targets: Vec<_> = it.variables().iter().map(Expr::from).collect();
                self.assign(targets, &it.expressions().iter().collect::<Vec<_>>())?;
            }
            Stmt::FunctionDeclaration(it) => {
                let (name, at) = (it.name(), start(it.function_token()));
                if let Some(colon) = name.method_colon() {
                    return mistake(start(colon), "methods are not supported: write `t.f`");
                }
                let mut names = name.names().iter().cloned();
                let Some(first) = names.next() else { return Ok(()) };
                // Nothing reads the token of the dot.
                let field = |name| Suffix::Index(Index::Dot { dot: first.clone(), name });
                let suffixes: Vec<_> = names.map(field).collect();
                let prefix = Prefix::Name(first.clone());
                let chain = Chain { prefix: &prefix, suffixes: suffixes.iter().collect() };
                let (home, ty) = self.target(chain.into(), false)?;
                let reg = if let Target::Slot(reg) = home { reg } else { self.temporary() };
                self.closure(it.body(), at, reg)?;
                if ty != Type::Any {
                    self.emit(Op::Check { reg, ty });
                }
                self.put(home, Value { operand: Operand::Reg(reg), ty });
            }
            Stmt::FunctionCall(call) => {
                self.call(call.into(), Some(0))?;
            }
            Stmt::Do(it) => self.block(it.block())?,
            Stmt::If(it) => {
                let none = Vec::new();
                let is_full = |it: &&Block| it.last_stmt().is_some() || it.stmts().next().is_some();
                let otherwise = it.else_block().filter(is_full);
                let rest = it.else_if().unwrap_or(&none).iter();
                let rest = rest.map(|arm| (arm.condition(), arm.block()));
                let (end, mut arms) = (self.label(), rest.len());
                for (condition, block) in [(it.condition(), it.block())].into_iter().chain(rest) {
                    let next = self.label();
                    self.branch(condition, false, next)?;
                    self.block(block)?;
                    if arms > 0 || otherwise.is_some() {
                        self.emit(Op::Jump { target: end });
                    }
                    arms = arms.saturating_sub(1);
                    self.place(next);
                }
                if let Some(block) = otherwise {
                    self.block(block)?;
                }
                self.place(end);
            }
            Stmt::While(it) => {
                let (again, end) = (self.label(), self.label());
                self.place(again);
                self.branch(it.condition(), false, end)?;
                self.loop_block(it.block(), end)?;
                self.emit(Op::Jump { target: again });
                self.place(end);
            }
            Stmt::Repeat(it) => {
                let (again, end, vars) = (self.label(), self.label(), self.f.vars.len());
                self.place(again);
                self.f.breaks.push(end);
                self.statements(it.block())?;
                self.f.breaks.pop();
                // The condition sees the body's variables.
                self.branch(it.until(), false, again)?;
                self.place(end);
                self.f.vars.truncate(vars);
            }
            Stmt::NumericFor(it) => self.for_loop(it)?,
            Stmt::GenericFor(it) => {
                let message = "`for ... in` is not supported: count with `for i = 1, n`";
                return mistake(start(it.in_token()), message);
            }
            Stmt::Goto(_) | Stmt::Label(_) => {
                return mistake(start(stat), "`goto` is not supported");
            }
            _ => return mistake(start(stat), "this statement is not supported"),
        }
        Ok(())
    }

    fn local(&mut self, names: &[&TokenReference], values: &[&Expression]) -> Result<()> {
        let mut vars: Vec<Var> = names.iter().map(|name| self.declare(name)).collect();
        let end = self.f.free;
        for (at, &expr) in values.iter().enumerate() {
            let rest = vars.len().saturating_sub(at);
            if rest == 0 {
                // One value too many is computed and forgotten.
                let to = self.temporary();
                self.into(expr, to)?;
            } else if rest > 1 && at + 1 == values.len() && is_open(expr) {
                let from = self.call(expr.into(), Some(rest as u32))?;
                for (at, var) in (from..).zip(&vars[at..]) {
                    self.emit(Op::Move { to: var.reg, from: Operand::Reg(at) });
                    self.check((var.reg, Type::Any), var.ty, "", Expr::from(expr).at(), None)?;
                }
            } else if vars[at].ty == Type::Any {
                let found = self.into(expr, vars[at].reg)?;
                vars[at].refine(found);
            } else {
                let var = &vars[at];
                self.put_typed(expr, var.reg, var.ty, &format!("`{}`", var.name))?;
            }
            self.f.free = end;
        }
        if !values.last().is_some_and(|&last| is_open(last)) {
            for &Var { reg: to, ty, .. } in vars.iter().skip(values.len()) {
                match ty {
                    Type::Any => self.emit(Op::Move { to, from: Operand::Nil }),
                    Type::Integer => self.emit(Op::Move { to, from: Operand::Integer(0) }),
                    Type::Number => self.emit(Op::Move { to, from: Operand::Number(0.0) }),
                    _ => self.emit(Op::NewArray { to, element: ty.element() }),
                }
            }
        }
        for var in vars {
            self.f.vars.push(var);
            self.box_if_captured(self.f.vars.len() - 1);
        }
        Ok(())
    }

    fn assign(&mut self, targets: Vec<Expr<'_>>, values: &[&Expression]) -> Result<()> {
        let places: Vec<Position> = targets.iter().map(Expr::at).collect();
        let several = targets.len() > 1 || values.len() > 1;
        let what = match targets.first() {
            Some(Expr::Name(name)) if !several => format!("`{}`", name.token()),
            _ => "an element".to_owned(),
        };
        let homes = targets.into_iter().map(|target| self.target(target, several));
        let mut homes = homes.collect::<Result<Vec<_>>>()?;
        if !several && let (Some((home, ty)), [value]) = (homes.pop(), values) {
            let value = match home {
                // The slot is written last, so the expression may read it.
                Target::Slot(to) => return self.put_typed(value, to, ty, &what),
                _ if ty == Type::Any => self.value(*value)?,
                _ => {
                    let slot = self.temporary();
                    self.put_typed(value, slot, ty, &what)?;
                    Value { operand: Operand::Reg(slot), ty }
                }
            };
            self.f.line = places[0].line() as u32;
            self.put(home, value);
            return Ok(());
        }
        let first = self.f.free;
        let mut known = Vec::new();
        for (at, &expr) in values.iter().enumerate() {
            let rest = homes.len().saturating_sub(at);
            if at + 1 == values.len() && rest > 1 && is_open(expr) {
                self.call(expr.into(), Some(rest as u32))?;
                known.resize(homes.len(), Type::Any);
            } else {
                let slot = self.temporary();
                known.push(self.into(expr, slot)?);
            }
        }
        for (at, (home, ty)) in homes.into_iter().enumerate() {
            let (mut operand, reg) = (Operand::Nil, first + at as u32);
            if let Some(&found) = known.get(at) {
                operand = Operand::Reg(reg);
                self.check((reg, found), ty, "what is assigned to", places[at], None)?;
            } else if ty != Type::Any {
                let message = format!("this is of type {}, and no value is left for it", ty.name());
                return mistake(places[at], message);
            }
            self.put(home, Value { operand, ty });
        }
        Ok(())
    }

    /// Computes what an assignment needs to know of its target, and the type that the target wants.
    /// Operands that the assignment itself may change are copied if `copied`.
    fn target(&mut self, target: Expr<'_>, copied: bool) -> Result<(Target, Type)> {
        let at = target.at();
        Ok(match target {
            Expr::Name(name) => {
                let name = name.token().to_string();
                match self.resolve(&name) {
                    Home::Local(var) => {
                        self.assigned(var);
                        let Var { reg, ty, boxed, .. } = self.f.vars[var];
                        (if boxed { Target::Box(reg) } else { Target::Slot(reg) }, ty)
                    }
                    Home::Upvalue(index) => (Target::Upvalue(index), self.f.upvalues[index].ty),
                    Home::Global => (Target::Global(self.string(&name)), Type::Any),
                }
            }
            Expr::Index(chain, index) => {
                let (mut table, ty) = self.in_slot(chain)?;
                let mut key = self.key(ty, index)?;
                if copied {
                    let value = Value { operand: Operand::Reg(table), ty };
                    table = self.temporary();
                    self.move_to(table, value);
                    let slot = self.temporary();
                    self.move_to(slot, key);
                    key.operand = Operand::Reg(slot);
                }
                match ty.element() {
                    Type::Any => (Target::Index { table, key }, Type::Any),
                    element => (Target::Element { array: table, key, element }, element),
                }
            }
            _ => return mistake(at, "this cannot be assigned to"),
        })
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

    fn for_loop(&mut self, it: &NumericFor) -> Result<()> {
        let at = self.f.free;
        let mut types = Vec::new();
        for bound in [Some(it.start()), Some(it.end()), it.step()] {
            let to = self.temporary();
            let Some(bound) = bound else {
                self.emit(Op::Move { to, from: Operand::Integer(1) });
                types.push(Type::Integer);
                continue;
            };
            let ty = self.into(bound, to)?;
            if ty != Type::Any && !ty.is_number() {
                let place = Expr::from(bound).at();
                return mistake(place, format!("a bound of type {}", ty.name()));
            }
            types.push(ty);
        }
        let ty = match (types[0], types[2]) {
            (Type::Integer, Type::Integer) => Type::Integer,
            (Type::Number, _) | (_, Type::Number) => Type::Number,
            _ => Type::Any,
        };
        let all_integers = types.iter().all(|&ty| ty == Type::Integer);
        let mut var = self.declare(it.index_variable());
        var.refine(ty);
        let (again, exit) = (self.label(), self.label());
        let place = Expr::from(it.start()).at();
        self.f.line = place.line() as u32;
        self.emit(Op::ForPrep { at, all_integers, exit });
        self.place(again);
        self.check((var.reg, ty), var.ty, &format!("`{}`", var.name), place, None)?;
        self.f.vars.push(var);
        self.box_if_captured(self.f.vars.len() - 1);
        self.loop_block(it.block(), exit)?;
        self.f.vars.pop();
        self.f.line = place.line() as u32;
        self.emit(Op::ForLoop { at, ty, body: again });
        self.place(exit);
        Ok(())
    }
}
