//! Encodes a type as a sequence of numbers.

use std::fmt::{self, Write};

use crate::context::Symbol;
use crate::table::HashMap;
use crate::{Context, Primitive, Type, TypeKind};

/// The largest length of an encoding, in numbers.
pub const MAX_ENCODING: usize = 1 << 22;

/// Removes the suffixes that LLVM appends to a struct name in use: returns `struct.Point` for
/// `struct.Point.0`.
///
/// ```
/// use tbaa_types::canonical_name;
/// assert_eq!(canonical_name(b"struct.Point.0"), b"struct.Point");
/// assert_eq!(canonical_name(b"struct.v2.0.17"), b"struct.v2");
/// ```
pub fn canonical_name(name: &[u8]) -> &[u8] {
    let mut name = name;
    while let Some(dot) = name.iter().rposition(|&byte| byte == b'.') {
        let suffix = &name[dot + 1..];
        if dot == 0 || suffix.is_empty() || !suffix.iter().all(u8::is_ascii_digit) {
            break;
        }
        name = &name[..dot];
    }
    name
}

/// A type, written as numbers: a letter and parameters for each type in it, in depth-first order.
///
/// Two types are structurally equal exactly if their encodings are equal. Structs are numbered in
/// the order of their first occurrence, so their names do not matter. Where a struct occurs again,
/// the encoding has a placeholder for each of its elements. An opaque struct is represented by its
/// canonical name. An opaque struct without a name is equal only to itself.
///
/// `Display` writes the notation of the article "Type Equality in LLVM":
///
/// ```
/// use tbaa_types::{Context, Encoding, Packing, Primitive};
///
/// // { i32, i8*, float }
/// let mut context = Context::new();
/// let (int, byte) = (context.int(32)?, context.int(8)?);
/// let elements = [int, context.typed_pointer(byte, 0)?, context.primitive(Primitive::Float)];
/// let ty = context.literal_struct(&elements, Packing::Padded)?;
/// assert_eq!(Encoding::of(&context, ty).unwrap().to_string(), "S3S0I32PI8F");
/// # Ok::<(), tbaa_types::TypeError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Encoding(Vec<u64>);

/// Returns the letter of a symbol. `typed` is true for a pointer with a pointee. If types with the
/// same letter differ in their number of parts, [`start`] also writes this number.
pub(super) fn letter(symbol: Symbol, typed: bool) -> u8 {
    match symbol {
        Symbol::Primitive(primitive) => match primitive {
            Primitive::Void => b'V',
            Primitive::Half => b'H',
            Primitive::BFloat => b'B',
            Primitive::Float => b'F',
            Primitive::Double => b'D',
            Primitive::X86Fp80 => b'E',
            Primitive::Fp128 => b'Q',
            Primitive::PpcFp128 => b'W',
            Primitive::Label => b'L',
            Primitive::Metadata => b'M',
            Primitive::Token => b'T',
            Primitive::X86Amx => b'X',
        },
        Symbol::Int(_) => b'I',
        Symbol::Pointer { address_space: 0 } if typed => b'P',
        Symbol::Pointer { .. } if typed => b'N',
        Symbol::Pointer { .. } => b'R',
        Symbol::Array { .. } => b'A',
        Symbol::Vector { scalable: false, .. } => b'Y',
        Symbol::Vector { scalable: true, .. } => b'Z',
        Symbol::Function { var_arg: false } => b'C',
        Symbol::Function { var_arg: true } => b'J',
        Symbol::Identified { opaque: true, .. } => b'O',
        Symbol::Literal { packed: false } | Symbol::Identified { packed: false, .. } => b'S',
        Symbol::Literal { packed: true } | Symbol::Identified { packed: true, .. } => b'K',
        Symbol::Target { .. } => b'G',
    }
}

const PLACEHOLDER: u64 = b'x' as u64;
/// An opaque struct without a name, which is equal only to itself.
const NAMELESS: u64 = b'U' as u64;

impl Encoding {
    /// Returns the encoding of a type, or `None` if it has more than [`MAX_ENCODING`] numbers.
    ///
    /// # Panics
    ///
    /// Panics if `ty` is from another context.
    pub fn of(context: &Context, ty: Type) -> Option<Encoding> {
        let mut out: Vec<u64> = Vec::new();
        let mut ids: HashMap<Type, u64> = HashMap::default();
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            start(context, ty, &mut out, &mut ids, &mut work);
            if out.len() > MAX_ENCODING {
                return None;
            }
        }
        Some(Encoding(out))
    }

    /// Returns the encoding as numbers.
    pub fn numbers(&self) -> &[u64] {
        &self.0
    }
}

/// Appends a type's letter and parameters to `out`, and pushes its parts onto `work`. If a struct
/// occurs again, appends placeholders and pushes nothing.
fn start(
    context: &Context,
    ty: Type,
    out: &mut Vec<u64>,
    ids: &mut HashMap<Type, u64>,
    work: &mut Vec<Type>,
) {
    let parts = context.parts(ty);
    let symbol = context.symbol(ty);
    out.push(letter(symbol, !parts.is_empty()).into());
    match symbol {
        Symbol::Primitive(_) => {}
        Symbol::Int(bits) => out.push(bits.into()),
        Symbol::Pointer { address_space: 0 } if !parts.is_empty() => {}
        Symbol::Pointer { address_space } => out.push(address_space.into()),
        Symbol::Array { len } => out.push(len),
        Symbol::Vector { len, .. } => out.push(len.into()),
        Symbol::Function { .. } => out.push(parts.len() as u64),
        Symbol::Identified { opaque: true, .. } => match context.name(ty) {
            Some(name) => push_name(canonical_name(name), out),
            None => {
                out.pop();
                out.extend([NAMELESS, ty.stamp.into(), ty.index.into()]);
            }
        },
        Symbol::Literal { .. } | Symbol::Identified { .. } => {
            let next = ids.len() as u64;
            let id = *ids.entry(ty).or_insert(next);
            out.extend([parts.len() as u64, id]);
            if id != next {
                out.extend(std::iter::repeat_n(PLACEHOLDER, parts.len()));
                return;
            }
        }
        Symbol::Target { .. } => {
            let TypeKind::Target { name, types, ints } = context.kind(ty) else { return };
            push_name(name, out);
            out.extend([types.len() as u64, ints.len() as u64]);
            out.extend(ints.iter().map(|&int| u64::from(int)));
        }
    }
    work.extend(parts.iter().rev());
}

fn push_name(name: &[u8], out: &mut Vec<u64>) {
    out.push(name.len() as u64);
    out.extend(name.iter().map(|&byte| u64::from(byte)));
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.0.iter().copied();
        let mut next = || numbers.next().unwrap_or_default();
        // A letter, and the lengths after it, say how many numbers follow, so a loop is enough.
        loop {
            let letter = next() as u8;
            if letter == 0 {
                return Ok(());
            }
            f.write_char(letter.into())?;
            match letter {
                b'I' | b'N' | b'R' | b'A' | b'Y' | b'Z' | b'C' | b'J' => write!(f, "{}", next())?,
                b'S' | b'K' => write!(f, "{}S{}", next(), next())?,
                b'U' => write!(f, "{}.{}", next(), next())?,
                b'O' | b'G' => {
                    let name: Vec<u8> = (0..next()).map(|_| next() as u8).collect();
                    write!(f, "({})", String::from_utf8_lossy(&name))?;
                    if letter == b'G' {
                        let (types, ints) = (next(), next());
                        write!(f, "{types}")?;
                        (0..ints).try_for_each(|_| write!(f, ".{}", next()))?;
                    }
                }
                _ => {}
            }
        }
    }
}
