//! Prints types as LLVM assembly.

use std::fmt::{self, Write};

use tbaa_lex::source;

use super::context::Symbol;
use super::{Context, ElementCount, Packing, Type, TypeKind};

/// The number of types after which the rest of a text is printed as `...`. Without a limit the text
/// can be exponential in the number of types, because a type may occur twice in another.
const MAX_PRINTED: usize = 1 << 22;

/// Prints LLVM assembly. Returned by [`Context::display`] and [`Context::definition`].
#[derive(Clone, Copy)]
pub struct Display<'c> {
    context: &'c Context,
    ty: Type,
    definition: bool,
    limit: usize,
}

impl Context {
    /// Returns a type's text: `[4 x i32]`, `%struct.Point`.
    ///
    /// An identified struct without a name prints as `%N`. N is its index among such structs of the
    /// context. Text of more than 2^22 types is cut off with `...`.
    ///
    /// # Panics
    ///
    /// If `ty` was issued by another context. LLVM: `Type::print`.
    pub fn display(&self, ty: Type) -> Display<'_> {
        assert!(self.owns(ty), "{ty:?} was issued by another context");
        Display { context: self, ty, definition: false, limit: MAX_PRINTED }
    }

    /// Returns the line that defines an identified struct: `%struct.Point = type { i32, i32 }`.
    /// Returns the text of [`Context::display`] for any other type.
    ///
    /// # Panics
    ///
    /// If `ty` was issued by another context.
    pub fn definition(&self, ty: Type) -> Display<'_> {
        Display { definition: true, ..self.display(ty) }
    }

    /// Writes the definitions of all identified structs, one per line, in order of their creation.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write_definitions(&self, out: &mut impl Write) -> fmt::Result {
        self.structs().try_for_each(|ty| writeln!(out, "{}", self.definition(ty)))
    }

    /// Returns the number N of a struct without a name, which prints as `%N`.
    fn number(&self, ty: Type) -> usize {
        // The list is sorted because structs are numbered in the order in which they are made.
        self.numbered.binary_search(&ty.index).unwrap_or_default()
    }
}

/// Returns a type's text for an error message, cut off after 16 types.
pub(super) fn shortened(context: &Context, ty: Type) -> String {
    Display { limit: 16, ..context.display(ty) }.to_string()
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.structs().map(|ty| self.definition(ty).to_string());
        f.debug_list().entries(lines).finish()
    }
}

/// A piece of text that is still to be printed.
enum Step<'c> {
    Type(Type),
    Text(&'static str),
    List(&'c [Type], usize, &'static str),
    Ints(&'c [u32]),
    AddressSpace(u32),
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.limit;
        let mut work = vec![Step::Type(self.ty)];
        if self.definition
            && let TypeKind::Identified { body, packing, .. } = self.context.kind(self.ty)
        {
            self.name(f, self.ty)?;
            f.write_str(" = type ")?;
            work.clear();
            match body {
                None => f.write_str("opaque")?,
                Some(elements) => braces(elements, packing, &mut work),
            }
        }
        while let Some(step) = work.pop() {
            match step {
                Step::Text(text) => f.write_str(text)?,
                Step::AddressSpace(0) => {}
                Step::AddressSpace(number) => write!(f, " addrspace({number})")?,
                Step::Ints(ints) => ints.iter().try_for_each(|int| write!(f, ", {int}"))?,
                Step::List(types, at, separator) => {
                    if let Some(&ty) = types.get(at) {
                        if at > 0 {
                            f.write_str(separator)?;
                        }
                        work.push(Step::List(types, at + 1, separator));
                        work.push(Step::Type(ty));
                    }
                }
                Step::Type(_) if left == 0 => return f.write_str("..."),
                Step::Type(ty) => {
                    left -= 1;
                    self.start(f, ty, &mut work)?;
                }
            }
        }
        Ok(())
    }
}

fn braces<'c>(elements: &'c [Type], packing: Packing, work: &mut Vec<Step<'c>>) {
    let (empty, open, close) = match packing {
        Packing::Packed => ("<{}>", "<{ ", " }>"),
        Packing::Padded => ("{}", "{ ", " }"),
    };
    if elements.is_empty() {
        work.push(Step::Text(empty));
    } else {
        work.extend([Step::Text(close), Step::List(elements, 0, ", "), Step::Text(open)]);
    }
}

impl<'c> Display<'c> {
    /// Writes the start of a type, and pushes the rest on the stack `work`.
    fn start(&self, f: &mut fmt::Formatter<'_>, ty: Type, work: &mut Vec<Step<'c>>) -> fmt::Result {
        match self.context.kind(ty) {
            TypeKind::Primitive(primitive) => f.write_str(primitive.name())?,
            TypeKind::Int(bits) => write!(f, "i{bits}")?,
            TypeKind::Pointer { address_space, pointee: None } => {
                f.write_str("ptr")?;
                work.push(Step::AddressSpace(address_space));
            }
            TypeKind::Pointer { address_space, pointee: Some(pointee) } => {
                work.extend([Step::Text("*"), Step::AddressSpace(address_space)]);
                work.push(Step::Type(pointee));
            }
            TypeKind::Array { element, len } => {
                write!(f, "[{len} x ")?;
                work.extend([Step::Text("]"), Step::Type(element)]);
            }
            TypeKind::Vector { element, count } => {
                match count {
                    ElementCount::Fixed(count) => write!(f, "<{count} x ")?,
                    ElementCount::Scalable(count) => write!(f, "<vscale x {count} x ")?,
                }
                work.extend([Step::Text(">"), Step::Type(element)]);
            }
            TypeKind::Function { result, params, var_arg } => {
                let end = match (var_arg, params.is_empty()) {
                    (false, _) => ")",
                    (true, true) => "...)",
                    (true, false) => ", ...)",
                };
                work.extend([Step::Text(end), Step::List(params, 0, ", "), Step::Text(" (")]);
                work.push(Step::Type(result));
            }
            TypeKind::Literal { elements, packing } => braces(elements, packing, work),
            TypeKind::Identified { .. } => self.name(f, ty)?,
            TypeKind::Target { name, types, ints } => {
                let mut text = String::from("target(");
                source::quoted(name, &mut text);
                f.write_str(&text)?;
                let before = if types.is_empty() { "" } else { ", " };
                work.extend([Step::Text(")"), Step::Ints(ints), Step::List(types, 0, ", ")]);
                work.push(Step::Text(before));
            }
        }
        Ok(())
    }

    /// Writes the name of an identified struct. LLVM: `printLLVMName`.
    fn name(&self, f: &mut fmt::Formatter<'_>, ty: Type) -> fmt::Result {
        let Symbol::Identified { .. } = self.context.symbol(ty) else { return Ok(()) };
        let Some(name) = self.context.name(ty) else {
            return write!(f, "%{}", self.context.number(ty));
        };
        let mut text = String::from("%");
        source::name(name, &mut text);
        f.write_str(&text)
    }
}
