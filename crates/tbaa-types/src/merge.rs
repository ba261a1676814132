//! Merging the types of several modules into one context.

use super::equal::TypeClasses;
use super::{Context, Type, TypeError, TypeKind, canonical_name};
use crate::context::Symbol;
use crate::table::IndexMap;

/// The types of several contexts in one.
///
/// Structs merge that have one canonical name and the same body, bodies being
/// compared in the same way, so that a program's `%struct.Point` is one type
/// again. Names count: two names of one layout stay two types, where LLVM's
/// linker would keep one of them. An opaque struct merges with opaque structs of
/// its name only.
///
/// The result depends on the types alone, their order and the numbers behind
/// names included: merging is associative, commutative and idempotent. Opaque
/// structs without a name are the exception: each is a type of its own.
///
/// ```
/// use tbaa_types::{Context, MergedTypes, Packing};
///
/// let (mut a, mut b) = (Context::new(), Context::new());
/// for (context, name) in [(&mut a, "Point"), (&mut a, "Tuple"), (&mut b, "Point")] {
///     let int = context.int(32)?;
///     let ty = context.named_struct(format!("struct.{name}").as_bytes())?;
///     context.set_body(ty, &[int, int], Packing::Padded)?;
/// }
/// let (s, point) = (b.named_struct(b"struct.S")?, b.struct_by_name(b"struct.Point").unwrap());
/// b.set_body(s, &[point], Packing::Padded)?;
/// let merged = MergedTypes::new(&[&a, &b])?;
/// let mut text = String::new();
/// merged.context().write_definitions(&mut text)?;
/// assert_eq!(
///     text,
///     "%struct.Point = type { i32, i32 }\n\
///      %struct.S = type { %struct.Point }\n\
///      %struct.Tuple = type { i32, i32 }\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// LLVM: `IRLinker`'s `TypeMapTy`.
#[derive(Debug)]
pub struct MergedTypes {
    context: Context,
    classes: TypeClasses,
    /// The type of each class.
    types: Vec<Type>,
    clashes: Vec<TypeClash>,
}

/// A canonical name that several structs have.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TypeClash {
    /// The name's bytes.
    pub name: Vec<u8>,
    /// The structs in the merged context, in the order in which they were made.
    pub types: Vec<Type>,
}

impl MergedTypes {
    /// Merges the types of `contexts`.
    ///
    /// # Errors
    ///
    /// [`TypeError::Full`].
    pub fn new(contexts: &[&Context]) -> Result<MergedTypes, TypeError> {
        let classes = TypeClasses::by_name(contexts);
        // Every class stands for its first type.
        let mut firsts: Vec<Option<(&Context, Type)>> = vec![None; classes.count()];
        for context in contexts {
            for ty in context.types() {
                firsts[classes.class_of(ty)].get_or_insert((context, ty));
            }
        }
        let mut making = Making { context: Context::new(), types: vec![None; firsts.len()] };
        let order = canonical_order(&firsts, &classes);
        for &class in &order {
            let Some((from, ty)) = firsts[class] else { continue };
            if let TypeKind::Identified { name, .. } = from.kind(ty) {
                let name = canonical_name(name.unwrap_or_default());
                making.types[class] = Some(making.context.named_struct(name)?);
            }
        }
        for class in order {
            making.make(class, &firsts, &classes)?;
        }
        let Making { mut context, types } = making;
        let types: Vec<Type> = types.into_iter().flatten().collect();
        for (first, &ty) in firsts.iter().zip(&types) {
            let Some((from, of)) = first else { continue };
            if let TypeKind::Identified { body: Some(body), packing, .. } = from.kind(*of) {
                let body: Vec<Type> = body.iter().map(|&ty| types[classes.class_of(ty)]).collect();
                // No class contains itself, for none of its types does.
                context.complete(ty, &body, packing)?;
            }
        }
        let clashes = clashes(&context);
        Ok(MergedTypes { context, classes, types, clashes })
    }

    /// Returns the merged types.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns what a type of one of the contexts has become.
    ///
    /// # Panics
    ///
    /// If `ty` was issued by a context that is not among those merged.
    #[must_use]
    pub fn ty(&self, ty: Type) -> Type {
        self.types[self.classes.class_of(ty)]
    }

    /// Returns the canonical names that several structs have, in the order in
    /// which the first of them was made. Opaque structs do not count, nor does
    /// `struct.anon`, which is how clang calls a struct without a name.
    #[must_use]
    pub fn clashes(&self) -> &[TypeClash] {
        &self.clashes
    }
}

/// Steps that putting types in order may take beyond those for each type and
/// part: types of one name that differ only deep inside take a round a level.
const STEPS: usize = 1 << 22;

/// The classes in an order that depends on nothing but the types: by kind and
/// name, then by the places of their parts, as often as that tells more apart.
fn canonical_order(firsts: &[Option<(&Context, Type)>], classes: &TypeClasses) -> Vec<usize> {
    let mut parts: Vec<Vec<usize>> = Vec::with_capacity(firsts.len());
    let mut labels: Vec<(String, Vec<u8>)> = Vec::with_capacity(firsts.len());
    for first in firsts {
        let Some((from, ty)) = *first else { continue };
        parts.push(from.parts(ty).iter().map(|&part| classes.class_of(part)).collect());
        labels.push(match (from.symbol(ty), from.kind(ty)) {
            (Symbol::Identified { opaque, packed, .. }, kind) => {
                let TypeKind::Identified { name, .. } = kind else { continue };
                let name = canonical_name(name.unwrap_or_default()).to_vec();
                (format!("struct {opaque} {packed}"), name)
            }
            (_, TypeKind::Target { name, ints, .. }) => (format!("target {ints:?}"), name.to_vec()),
            (symbol, _) => (format!("{symbol:?}"), Vec::new()),
        });
    }
    let (mut ranks, mut distinct) = ranked(&labels);
    let round = labels.len() + parts.iter().map(Vec::len).sum::<usize>();
    let mut left = STEPS + 64 * round;
    while distinct < labels.len() && left >= round {
        left -= round;
        let keys: Vec<(u32, Vec<u32>)> = parts
            .iter()
            .zip(&ranks)
            .map(|(parts, &rank)| (rank, parts.iter().map(|&part| ranks[part]).collect()))
            .collect();
        let (finer, count) = ranked(&keys);
        if count == distinct {
            break;
        }
        (ranks, distinct) = (finer, count);
    }
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&class| ranks[class]);
    order
}

/// The rank of each key among all, equal ones having one, and how many there
/// are.
fn ranked<K: Ord>(keys: &[K]) -> (Vec<u32>, usize) {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[a].cmp(&keys[b]));
    let (mut ranks, mut count) = (vec![0; keys.len()], 0);
    for (at, &index) in order.iter().enumerate() {
        count += u32::from(at == 0 || keys[order[at - 1]] != keys[index]);
        ranks[index] = count;
    }
    (ranks, count as usize)
}

struct Making {
    context: Context,
    types: Vec<Option<Type>>,
}

impl Making {
    /// Makes the type of a class, and before it those of its parts.
    fn make(
        &mut self,
        class: usize,
        firsts: &[Option<(&Context, Type)>],
        classes: &TypeClasses,
    ) -> Result<(), TypeError> {
        let mut work = vec![class];
        while let Some(&class) = work.last() {
            let first = firsts[class].filter(|_| self.types[class].is_none());
            let Some((from, ty)) = first else {
                work.pop();
                continue;
            };
            let before = work.len();
            let parts = from.parts(ty).iter().map(|&part| classes.class_of(part));
            work.extend(parts.filter(|&part| self.types[part].is_none()));
            if work.len() == before {
                let of = |part: &Type| self.types[classes.class_of(*part)].unwrap_or(*part);
                let parts: Vec<Type> = from.parts(ty).iter().map(of).collect();
                self.types[class] = Some(self.remake(from.kind(ty), &parts)?);
                work.pop();
            }
        }
        Ok(())
    }

    /// Makes a type of this kind of other parts.
    fn remake(&mut self, kind: TypeKind<'_>, parts: &[Type]) -> Result<Type, TypeError> {
        let context = &mut self.context;
        match kind {
            TypeKind::Primitive(primitive) => Ok(context.primitive(primitive)),
            TypeKind::Int(bits) => context.int(bits),
            TypeKind::Pointer { address_space, .. } => match parts {
                [] => context.pointer(address_space),
                [pointee, ..] => context.typed_pointer(*pointee, address_space),
            },
            TypeKind::Array { len, .. } => context.array(parts[0], len),
            TypeKind::Vector { count, .. } => context.vector(parts[0], count),
            TypeKind::Function { var_arg: true, .. } => {
                context.variadic_function(parts[0], &parts[1..])
            }
            TypeKind::Function { .. } => context.function(parts[0], &parts[1..]),
            TypeKind::Literal { packing, .. } => context.literal_struct(parts, packing),
            TypeKind::Identified { .. } => context.numbered_struct(),
            TypeKind::Target { name, ints, .. } => context.target(name, parts, ints),
        }
    }
}

fn clashes(context: &Context) -> Vec<TypeClash> {
    let mut named: IndexMap<&[u8], Vec<Type>> = IndexMap::default();
    for ty in context.structs() {
        if let TypeKind::Identified { name: Some(name), body: Some(_), .. } = context.kind(ty) {
            let name = canonical_name(name);
            // What clang calls a struct, class or union without a name.
            if !name.ends_with(b".anon") {
                named.entry(name).or_default().push(ty);
            }
        }
    }
    let several = named.into_iter().filter(|(_, types)| types.len() > 1);
    several.map(|(name, types)| TypeClash { name: name.to_vec(), types }).collect()
}
