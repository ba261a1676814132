//! A recursive-descent parser.

use std::rc::Rc;

use super::SyntaxError;
use super::ast::{Binary, Expr, ExprKind, Function, Stat, Type, Unary, VarId};
use super::lex::{Spanned, Token, lex};
use super::scope::Scopes;

/// How deep blocks, functions and expressions may nest; Lua's own limit.
const DEEPEST: usize = 200;

/// How many operators or suffixes may stand in a row; each is a level of the tree.
const LONGEST: usize = 1000;

type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads a program: its main chunk, a function that may use `...`.
///
/// # Errors
///
/// The first mistake in it.
pub(crate) fn parse(source: &str) -> Result<Function> {
    let tokens = lex(source)?;
    let mut parser = Parser { tokens, at: 0, scopes: Scopes::default(), depth: 0, loops: vec![0] };
    parser.scopes.enter_function();
    let body = parser.block()?;
    if *parser.peek() != Token::End {
        return Err(parser.expected("a statement"));
    }
    let open = parser.scopes.leave_function();
    let name = "main chunk".into();
    let (vars, upvalues) = (open.vars, open.upvalues);
    Ok(Function { name, params: Vec::new(), vars, upvalues, body, line: 1 })
}

struct Parser {
    tokens: Vec<Spanned>,
    at: usize,
    scopes: Scopes,
    depth: usize,
    /// Loops around this place, for each open function.
    loops: Vec<usize>,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn offset(&self) -> usize {
        self.tokens[self.at].offset
    }

    fn line(&self) -> u32 {
        self.tokens[self.at].line
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Keyword(w) | Token::Symbol(w) if *w == word)
    }

    fn accept(&mut self, word: &str) -> bool {
        let is = self.is(word);
        if is {
            self.next();
        }
        is
    }

    fn expected(&self, what: &str) -> SyntaxError {
        let found = self.peek().describe();
        SyntaxError::new(self.offset(), format!("expected {what}, found {found}"))
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        if self.accept(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// As `expect`, for what closes something that was opened in `line`.
    fn close(&mut self, word: &str, opened: &str, line: u32) -> Result<()> {
        if self.accept(word) {
            return Ok(());
        }
        Err(self.expected(&format!("`{word}` for the `{opened}` of line {line}")))
    }

    fn name(&mut self) -> Result<Rc<str>> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.next();
                Ok(name)
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("nested more than {DEEPEST} deep");
            return Err(SyntaxError::new(self.offset(), message));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads `: integer` and its like, where there is one.
    fn annotation(&mut self) -> Result<Type> {
        if !self.accept(":") {
            return Ok(Type::Any);
        }
        let offset = self.offset();
        let name = self.name()?;
        let array = self.accept("[");
        if array {
            self.expect("]")?;
        }
        match (&*name, array) {
            ("integer", false) => Ok(Type::Integer),
            ("number", false) => Ok(Type::Number),
            ("integer", true) => Ok(Type::IntegerArray),
            ("number", true) => Ok(Type::NumberArray),
            _ => {
                let message = "no such type: there are integer, number, integer[] and number[]";
                Err(SyntaxError::new(offset, message))
            }
        }
    }

    fn scoped_block(&mut self) -> Result<Vec<Stat>> {
        let mark = self.scopes.enter_block();
        let block = self.block();
        self.scopes.leave_block(mark);
        block
    }

    fn loop_block(&mut self) -> Result<Vec<Stat>> {
        *self.loops.last_mut().expect("a function is open") += 1;
        let block = self.scoped_block();
        *self.loops.last_mut().expect("a function is open") -= 1;
        block
    }

    fn block(&mut self) -> Result<Vec<Stat>> {
        let mut stats = Vec::new();
        let ends = |parser: &Self| {
            let ends = ["end", "else", "elseif", "until"];
            *parser.peek() == Token::End || ends.iter().any(|word| parser.is(word))
        };
        while !ends(self) {
            if self.accept(";") {
                continue;
            }
            let stat = self.deeper(Self::statement)?;
            let last = matches!(stat, Stat::Return { .. });
            stats.push(stat);
            if last {
                if !ends(self) {
                    return Err(self.expected("the end of the block, for `return` is its last"));
                }
                break;
            }
        }
        Ok(stats)
    }

    fn statement(&mut self) -> Result<Stat> {
        let (offset, line) = (self.offset(), self.line());
        let Token::Keyword(word) = *self.peek() else { return self.expression_statement() };
        match word {
            "local" => self.local(),
            "if" => self.if_statement(),
            "for" => self.for_statement(),
            "while" => {
                self.next();
                let condition = self.expression()?;
                self.expect("do")?;
                let body = self.loop_block()?;
                self.close("end", "while", line)?;
                Ok(Stat::While { condition, body })
            }
            "repeat" => {
                self.next();
                // The condition sees the body's variables.
                let mark = self.scopes.enter_block();
                *self.loops.last_mut().expect("a function is open") += 1;
                let body = self.block()?;
                *self.loops.last_mut().expect("a function is open") -= 1;
                self.close("until", "repeat", line)?;
                let condition = self.expression()?;
                self.scopes.leave_block(mark);
                Ok(Stat::Repeat { body, condition })
            }
            "do" => {
                self.next();
                let body = self.scoped_block()?;
                self.close("end", "do", line)?;
                Ok(Stat::Do(body))
            }
            "function" => self.function_statement(),
            "return" => {
                self.next();
                let ends = ["end", "else", "elseif", "until", ";"];
                let none = *self.peek() == Token::End || ends.iter().any(|word| self.is(word));
                let values = if none { Vec::new() } else { self.expressions()? };
                self.accept(";");
                Ok(Stat::Return { values, line })
            }
            "break" => {
                self.next();
                if self.loops.last() == Some(&0) {
                    return Err(SyntaxError::new(offset, "`break` outside a loop"));
                }
                Ok(Stat::Break { offset })
            }
            "goto" => Err(SyntaxError::new(offset, "`goto` is not part of this Lua")),
            _ => self.expression_statement(),
        }
    }

    fn local(&mut self) -> Result<Stat> {
        self.next();
        if self.is("function") {
            let (offset, line) = (self.offset(), self.line());
            self.next();
            let name = self.name()?;
            let var = self.scopes.declare(name.clone(), Type::Any);
            self.scopes.activate(var);
            let function = self.function(name, (offset, line))?;
            return Ok(Stat::LocalFunction { var, function });
        }
        let mut vars = Vec::new();
        loop {
            let name = self.name()?;
            if self.is("<") {
                let message = "attributes such as <const> are not part of this Lua";
                return Err(SyntaxError::new(self.offset(), message));
            }
            let ty = self.annotation()?;
            vars.push(self.scopes.declare(name, ty));
            if !self.accept(",") {
                break;
            }
        }
        let values = if self.accept("=") { self.expressions()? } else { Vec::new() };
        vars.iter().for_each(|&var| self.scopes.activate(var));
        Ok(Stat::Local { vars, values })
    }

    fn if_statement(&mut self) -> Result<Stat> {
        let line = self.line();
        let mut arms = Vec::new();
        loop {
            self.next();
            let condition = self.expression()?;
            self.expect("then")?;
            arms.push((condition, self.scoped_block()?));
            if !self.is("elseif") {
                break;
            }
        }
        let otherwise = if self.accept("else") { self.scoped_block()? } else { Vec::new() };
        self.close("end", "if", line)?;
        Ok(Stat::If { arms, otherwise })
    }

    fn for_statement(&mut self) -> Result<Stat> {
        let line = self.line();
        self.next();
        let name = self.name()?;
        let ty = self.annotation()?;
        if self.is("in") || self.is(",") {
            let message = "`for ... in` is not part of this Lua: count with `for i = 1, n`";
            return Err(SyntaxError::new(self.offset(), message));
        }
        self.expect("=")?;
        let start = self.expression()?;
        self.expect(",")?;
        let limit = self.expression()?;
        let step = if self.accept(",") { Some(self.expression()?) } else { None };
        self.expect("do")?;
        let mark = self.scopes.enter_block();
        let var = self.scopes.declare(name, ty);
        self.scopes.activate(var);
        let body = self.loop_block()?;
        self.scopes.leave_block(mark);
        self.close("end", "for", line)?;
        Ok(Stat::For { var, start, limit, step, body })
    }

    fn function_statement(&mut self) -> Result<Stat> {
        let (start, line) = (self.offset(), self.line());
        self.next();
        let (mut offset, name) = (self.offset(), self.name()?);
        let mut target = Expr { kind: self.scopes.resolve(&name), offset, line };
        let mut full = name.to_string();
        while self.accept(".") {
            offset = self.offset();
            let field = self.name()?;
            full = format!("{full}.{field}");
            let key = Expr { kind: ExprKind::String(field), offset, line };
            let kind = ExprKind::Index(Box::new(target), Box::new(key));
            target = Expr { kind, offset, line };
        }
        let function = self.function(full.into(), (start, line))?;
        Ok(Stat::Assign { targets: vec![target], values: vec![function] })
    }

    /// Reads a function from its parameters on.
    fn function(&mut self, name: Rc<str>, (offset, line): (usize, u32)) -> Result<Expr> {
        self.scopes.enter_function();
        self.loops.push(0);
        self.expect("(")?;
        let mut params: Vec<VarId> = Vec::new();
        while !self.is(")") {
            if self.is("...") {
                let message = "only the main chunk has `...`";
                return Err(SyntaxError::new(self.offset(), message));
            }
            let name = self.name()?;
            let ty = self.annotation()?;
            let param = self.scopes.declare(name, ty);
            self.scopes.activate(param);
            params.push(param);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        let body = self.block()?;
        self.close("end", "function", line)?;
        self.loops.pop();
        let open = self.scopes.leave_function();
        let (vars, upvalues) = (open.vars, open.upvalues);
        let function = Function { name, params, vars, upvalues, body, line };
        Ok(Expr { kind: ExprKind::Function(Box::new(function)), offset, line })
    }

    /// A call or an assignment.
    fn expression_statement(&mut self) -> Result<Stat> {
        let offset = self.offset();
        let first = self.suffixed()?;
        if self.is("=") || self.is(",") {
            let mut targets = vec![first];
            while self.accept(",") {
                targets.push(self.suffixed()?);
            }
            for target in &targets {
                match target.kind {
                    ExprKind::Local(var) => self.scopes.assign(var),
                    ExprKind::Upvalue(_) | ExprKind::Global(_) | ExprKind::Index(..) => {}
                    _ => {
                        let message = "only a variable or a table's element can be assigned to";
                        return Err(SyntaxError::new(target.offset, message));
                    }
                }
            }
            self.expect("=")?;
            let values = self.expressions()?;
            return Ok(Stat::Assign { targets, values });
        }
        if matches!(first.kind, ExprKind::Call(..)) {
            return Ok(Stat::Call(first));
        }
        Err(SyntaxError::new(offset, "an expression is no statement, unless it is a call"))
    }

    fn expressions(&mut self) -> Result<Vec<Expr>> {
        let mut list = vec![self.expression()?];
        while self.accept(",") {
            list.push(self.expression()?);
        }
        Ok(list)
    }

    fn expression(&mut self) -> Result<Expr> {
        self.binary(0)
    }

    fn binary(&mut self, above: u8) -> Result<Expr> {
        self.deeper(|parser| {
            let mut left = parser.unary()?;
            let mut row = 0;
            while let Token::Keyword(word) | Token::Symbol(word) = *parser.peek() {
                if matches!(word, "..") {
                    let message = "strings are not joined in this Lua";
                    return Err(SyntaxError::new(parser.offset(), message));
                }
                if matches!(word, "&" | "|" | "~" | "<<" | ">>") {
                    let message = format!("the operator `{word}` is not part of this Lua");
                    return Err(SyntaxError::new(parser.offset(), message));
                }
                let Some((op, binds, right_binds)) = operator(word) else { break };
                if binds <= above {
                    break;
                }
                let (offset, line) = (parser.offset(), parser.line());
                parser.next();
                let right = parser.binary(right_binds)?;
                row += 1;
                parser.check_row(row, offset)?;
                let (a, b) = (Box::new(left), Box::new(right));
                let kind = match op {
                    Op::And => ExprKind::And(a, b),
                    Op::Or => ExprKind::Or(a, b),
                    Op::Other(op) => ExprKind::Binary(op, a, b),
                };
                left = Expr { kind, offset, line };
            }
            Ok(left)
        })
    }

    fn unary(&mut self) -> Result<Expr> {
        let (offset, line) = (self.offset(), self.line());
        let op = match self.peek() {
            Token::Keyword("not") => Unary::Not,
            Token::Symbol("-") => Unary::Minus,
            Token::Symbol("#") => Unary::Length,
            Token::Symbol("~") => {
                return Err(SyntaxError::new(offset, "the operator `~` is not part of this Lua"));
            }
            _ => return self.simple(),
        };
        self.next();
        let operand = self.binary(UNARY)?;
        let kind = match (op, operand.kind) {
            (Unary::Minus, ExprKind::Integer(i)) => ExprKind::Integer(i.wrapping_neg()),
            (Unary::Minus, ExprKind::Number(n)) => ExprKind::Number(-n),
            (op, kind) => ExprKind::Unary(op, Box::new(Expr { kind, ..operand })),
        };
        Ok(Expr { kind, offset, line })
    }

    fn simple(&mut self) -> Result<Expr> {
        let (offset, line) = (self.offset(), self.line());
        let kind = match self.peek().clone() {
            Token::Integer(i) => ExprKind::Integer(i),
            Token::Number(n) => ExprKind::Number(n),
            Token::String(s) => ExprKind::String(s),
            Token::Keyword("nil") => ExprKind::Nil,
            Token::Keyword("true") => ExprKind::True,
            Token::Keyword("false") => ExprKind::False,
            Token::Symbol("...") if self.loops.len() == 1 => ExprKind::Vararg,
            Token::Symbol("...") => {
                return Err(SyntaxError::new(offset, "only the main chunk has `...`"));
            }
            Token::Symbol("{") => return self.table(),
            Token::Keyword("function") => {
                self.next();
                return self.function(format!("function of line {line}").into(), (offset, line));
            }
            _ => return self.suffixed(),
        };
        self.next();
        Ok(Expr { kind, offset, line })
    }

    /// A variable or something in parentheses, with what follows it.
    fn suffixed(&mut self) -> Result<Expr> {
        let (offset, line) = (self.offset(), self.line());
        let mut expr = match self.peek().clone() {
            Token::Name(name) => {
                self.next();
                Expr { kind: self.scopes.resolve(&name), offset, line }
            }
            Token::Symbol("(") => {
                self.next();
                let inner = self.expression()?;
                self.close(")", "(", line)?;
                Expr { kind: ExprKind::One(Box::new(inner)), offset, line }
            }
            _ => return Err(self.expected("an expression")),
        };
        for row in 0.. {
            let (offset, line) = (self.offset(), self.line());
            self.check_row(row, offset)?;
            let kind = if self.accept(".") {
                let offset = self.offset();
                let key = Expr { kind: ExprKind::String(self.name()?), offset, line };
                ExprKind::Index(Box::new(expr), Box::new(key))
            } else if self.accept("[") {
                let key = self.expression()?;
                self.close("]", "[", line)?;
                ExprKind::Index(Box::new(expr), Box::new(key))
            } else if self.accept("(") {
                let arguments = if self.is(")") { Vec::new() } else { self.expressions()? };
                self.close(")", "(", line)?;
                ExprKind::Call(Box::new(expr), arguments)
            } else if self.is(":") {
                let message = "methods are not part of this Lua: write `t.f(t, ...)`";
                return Err(SyntaxError::new(offset, message));
            } else {
                return Ok(expr);
            };
            expr = Expr { kind, offset, line };
        }
        Ok(expr)
    }

    fn check_row(&self, row: usize, offset: usize) -> Result<()> {
        if row < LONGEST {
            return Ok(());
        }
        let message = format!("more than {LONGEST} operators in a row");
        Err(SyntaxError::new(offset, message))
    }

    fn table(&mut self) -> Result<Expr> {
        let (offset, line) = (self.offset(), self.line());
        self.next();
        let (mut items, mut pairs) = (Vec::new(), Vec::new());
        while !self.is("}") {
            let at = (self.offset(), self.line());
            let named = matches!(self.peek(), Token::Name(_))
                && self.tokens[self.at + 1].token == Token::Symbol("=");
            if named {
                let key = ExprKind::String(self.name()?);
                self.next();
                pairs.push((Expr { kind: key, offset: at.0, line: at.1 }, self.expression()?));
            } else if self.accept("[") {
                let key = self.expression()?;
                self.close("]", "[", at.1)?;
                self.expect("=")?;
                pairs.push((key, self.expression()?));
            } else {
                items.push(self.expression()?);
            }
            if !self.accept(",") && !self.accept(";") {
                break;
            }
        }
        self.close("}", "{", line)?;
        Ok(Expr { kind: ExprKind::Table { items, pairs }, offset, line })
    }
}

enum Op {
    And,
    Or,
    Other(Binary),
}

/// How strongly a unary operator binds.
const UNARY: u8 = 11;

/// An operator, how strongly it binds, and how strongly it does to its right.
fn operator(word: &str) -> Option<(Op, u8, u8)> {
    use Binary::*;
    let (op, binds) = match word {
        "or" => return Some((Op::Or, 1, 1)),
        "and" => return Some((Op::And, 2, 2)),
        "^" => return Some((Op::Other(Pow), 13, 12)),
        "<" => (Lt, 3),
        ">" => (Gt, 3),
        "<=" => (Le, 3),
        ">=" => (Ge, 3),
        "~=" => (Ne, 3),
        "==" => (Eq, 3),
        "+" => (Add, 9),
        "-" => (Sub, 9),
        "*" => (Mul, 10),
        "/" => (Div, 10),
        "//" => (FloorDiv, 10),
        "%" => (Mod, 10),
        _ => return None,
    };
    Some((Op::Other(op), binds, binds))
}
