//! Merges the types of several modules into one context.

use super::equal::{Completions, TypeClasses};
use super::{Context, Type, TypeError, TypeKind, canonical_name};
use crate::context::Symbol;
use crate::table::{HashMap, HashSet, IndexMap};

/// One context that holds the merged types of several contexts.
///
/// Structs merge if they have the same canonical name (without final numbers such as `.1`) and the
/// same body after merging. Structs with different canonical names stay different, but LLVM's
/// linker would merge those with equal bodies.
///
/// An opaque struct gets the body that other contexts have for its name, if all these bodies are
/// the same and no struct would contain itself. If no context has a body for exactly this name,
/// structs with the same canonical name may provide it.
///
/// The merged types, their order and the numbers in their names do not depend on the order of
/// contexts, unless types differ only at a great depth. Each unnamed opaque struct stays a type of
/// its own.
///
/// ```
/// use tbaa_types::{Context, MergedTypes, Packing};
///
/// let (mut a, mut b) = (Context::new(), Context::new());
/// let int = a.int(32)?;
/// for name in ["Point", "Tuple"] {
///     let ty = a.named_struct(format!("struct.{name}").as_bytes())?;
///     a.set_body(ty, &[int, int], Packing::Padded)?;
/// }
/// let (point, s) = (b.named_struct(b"struct.Point")?, b.named_struct(b"struct.S")?); // opaque
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
    /// Merges `contexts`. Each context is a module's, or a result of [`MergedTypes::part`].
    /// Fails with [`TypeError::Full`].
    pub fn new(contexts: &[&Context]) -> Result<MergedTypes, TypeError> {
        let (completions, classes) = completions(contexts);
        Self::of(contexts, &completions, classes)
    }

    /// Merges some of a program's modules. Opaque structs stay opaque, because other modules may
    /// define them differently. The merged context remembers that `part` made it. A context read
    /// from its printed definitions does not: pass it to `part(&[&context])` first.
    ///
    /// This operation is associative, commutative and idempotent, except for unnamed opaque
    /// structs. The result of [`MergedTypes::new`] for all parts does not depend on how the modules
    /// were grouped. It may differ from `new` of the modules if names have numbers, as `%T.0` has.
    ///
    /// # Errors
    ///
    /// [`TypeError::Full`].
    ///
    /// ```
    /// use tbaa_types::{Context, MergedTypes, Packing};
    ///
    /// let (mut a, mut b) = (Context::new(), Context::new());
    /// a.named_struct(b"T")?; // opaque
    /// let (t, i32) = (b.named_struct(b"T")?, b.int(32)?);
    /// b.set_body(t, &[i32], Packing::Padded)?;
    /// let part = MergedTypes::part(&[&a, &b])?.into_context();
    /// assert_eq!(part.structs().len(), 2);
    /// let whole = MergedTypes::new(&[&part])?;
    /// assert_eq!(whole.context().structs().len(), 1);
    /// # Ok::<(), tbaa_types::TypeError>(())
    /// ```
    pub fn part(contexts: &[&Context]) -> Result<MergedTypes, TypeError> {
        let none = Completions::default();
        let mut merged = Self::of(contexts, &none, TypeClasses::by_name(contexts, &none))?;
        merged.context.is_part = true;
        Ok(merged)
    }

    fn of(
        contexts: &[&Context],
        completions: &Completions<'_>,
        classes: TypeClasses,
    ) -> Result<MergedTypes, TypeError> {
        // A type of each class, which represents the class.
        let mut firsts: Vec<Option<(&Context, Type)>> = vec![None; classes.count()];
        for context in contexts {
            for ty in context.types().filter(|ty| !completions.contains_key(ty)) {
                firsts[classes.class_of(ty)].get_or_insert((context, ty));
            }
        }
        let (mut context, mut types) = (Context::new(), vec![None; firsts.len()]);
        let order = canonical_order(&firsts, &classes);
        for &class in &order {
            let Some((from, ty)) = firsts[class] else { continue };
            if let TypeKind::Identified { name, .. } = from.kind(ty) {
                let name = canonical_name(name.unwrap_or_default());
                types[class] = Some(context.named_struct(name)?);
            }
        }
        // Make the other types in this order, after the types that they contain.
        let mut work: Vec<usize> = order.into_iter().rev().collect();
        while let Some(&class) = work.last() {
            let Some((from, ty)) = firsts[class].filter(|_| types[class].is_none()) else {
                work.pop();
                continue;
            };
            let parts = from.parts(ty).iter().map(|&part| classes.class_of(part));
            let missing: Vec<usize> = parts.filter(|&part| types[part].is_none()).collect();
            if missing.is_empty() {
                let of = |part: &Type| types[classes.class_of(*part)].unwrap_or(*part);
                let parts: Vec<Type> = from.parts(ty).iter().map(of).collect();
                types[class] = Some(match (from.symbol(ty), from.kind(ty)) {
                    (Symbol::Primitive(primitive), _) => context.primitive(primitive),
                    (_, TypeKind::Identified { .. }) => context.numbered_struct()?,
                    (_, TypeKind::Target { name, ints, .. }) => {
                        context.target(name, &parts, ints)?
                    }
                    // The other symbols have no index into the tables of `from`.
                    (symbol, _) => context.unique(symbol, &parts)?,
                });
            }
            work.extend(missing);
        }
        let types: Vec<Type> = types.into_iter().flatten().collect();
        for (first, &ty) in firsts.iter().zip(&types) {
            let Some((from, of)) = first else { continue };
            if let TypeKind::Identified { body: Some(body), packing, .. } = from.kind(*of) {
                let body: Vec<Type> = body.iter().map(|&ty| types[classes.class_of(ty)]).collect();
                // No body makes a struct contain itself: `completions` leaves such structs opaque.
                context.complete(ty, &body, packing)?;
            }
        }
        let clashes = clashes(&context);
        Ok(MergedTypes { context, classes, types, clashes })
    }

    /// Returns the merged types.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the merged types without the mapping from the original contexts.
    pub fn into_context(self) -> Context {
        self.context
    }

    /// Returns the merged type of a type of one of the contexts. Panics if `ty` was issued by a
    /// context that was not merged.
    pub fn ty(&self, ty: Type) -> Type {
        self.types[self.classes.class_of(ty)]
    }

    /// Returns the canonical names that several structs have, ordered by their first struct.
    /// Opaque structs are ignored. So are names that end with `.anon`: clang's unnamed structs.
    pub fn clashes(&self) -> &[TypeClash] {
        &self.clashes
    }
}

/// The limit of rounds in [`completions`]. If it is reached, all opaque structs stay opaque.
const MAX_ROUNDS: usize = 16;

/// The opaque structs of a name, and the structs with that name and a body.
type Group<'c> = (Vec<Type>, Vec<(&'c Context, Type)>);

/// Returns the struct whose body each opaque struct gets, and the classes of equal types. LLVM:
/// `IRLinker::computeTypeMapping` until LLVM 20, which used the first body that it found and
/// removed one number from the name in the later module.
fn completions<'c>(contexts: &[&'c Context]) -> (Completions<'c>, TypeClasses) {
    let mut groups = groups(contexts);
    let mut rounds = 0;
    loop {
        let completed = |(opaque, bodies): &Group<'c>| {
            let body = bodies[0];
            opaque.iter().map(move |&ty| (ty, body)).collect::<Vec<_>>()
        };
        let completions = groups.iter().flat_map(completed).collect();
        let classes = TypeClasses::by_name(contexts, &completions);
        let bodies = groups.iter().map(|(_, bodies)| bodies[0]);
        let ends = ends(contexts, bodies, &completions);
        // If a group is removed, its structs stay opaque, so bodies that contain them may differ.
        let count = groups.len();
        groups.retain(|(_, bodies)| {
            let first = bodies[0].1;
            ends[&first] && bodies.iter().all(|&(_, ty)| classes.same(ty, first))
        });
        if groups.len() == count {
            return (completions, classes);
        }
        rounds += 1;
        if rounds == MAX_ROUNDS {
            groups.clear();
        }
    }
}

/// Returns the groups whose opaque structs may get bodies.
fn groups<'c>(contexts: &[&'c Context]) -> Vec<Group<'c>> {
    let mut exact: IndexMap<&[u8], Group<'c>> = IndexMap::default();
    // The groups by canonical name. Structs of one module that share such a name are left out.
    let mut alone: IndexMap<&[u8], Group<'c>> = IndexMap::default();
    for &context in contexts {
        let named = || context.structs().filter_map(|ty| Some((ty, context.name(ty)?)));
        let mut count: HashMap<&[u8], usize> = HashMap::default();
        named().for_each(|(_, name)| *count.entry(canonical_name(name)).or_default() += 1);
        for (ty, name) in named() {
            let canonical = canonical_name(name);
            let is_alone = context.is_part || count[canonical] == 1;
            let alone = is_alone.then(|| alone.entry(canonical).or_default());
            let exact = (!context.is_part).then(|| exact.entry(name).or_default());
            for (opaque, bodies) in alone.into_iter().chain(exact) {
                match context.symbol(ty) {
                    Symbol::Identified { opaque: true, .. } => opaque.push(ty),
                    _ => bodies.push((context, ty)),
                }
            }
        }
    }
    exact.retain(|_, (_, bodies)| !bodies.is_empty());
    let found: HashSet<Type> = exact.values().flat_map(|(opaque, _)| opaque).copied().collect();
    alone.values_mut().for_each(|(opaque, _)| opaque.retain(|ty| !found.contains(ty)));
    let groups = exact.into_values().chain(alone.into_values());
    groups.filter(|(opaque, bodies)| !opaque.is_empty() && !bodies.is_empty()).collect()
}

/// Returns whether each type in `bodies`, and each type that they contain, has a finite size.
fn ends<'c>(
    contexts: &[&'c Context],
    bodies: impl Iterator<Item = (&'c Context, Type)>,
    completions: &Completions<'c>,
) -> HashMap<Type, bool> {
    let context_of: HashMap<u32, &Context> =
        contexts.iter().map(|context| (context.stamp, *context)).collect();
    let mut ends: HashMap<Type, bool> = HashMap::default();
    for body in bodies {
        // An entry is a type, the index of its next part, and the result for its earlier parts.
        let mut way = if ends.contains_key(&body.1) { vec![] } else { vec![(body, 0, true)] };
        while let Some(((context, ty), at, so_far)) = way.pop() {
            // If the type is visited again before its result is known, it contains itself.
            ends.insert(ty, false);
            let holds = Context::holds_parts(context.symbol(ty));
            let Some(&part) = context.parts(ty).get(at).filter(|_| holds) else {
                ends.insert(ty, so_far);
                continue;
            };
            let part = completions.get(&part).copied().unwrap_or((context_of[&part.stamp], part));
            match ends.get(&part.1) {
                Some(&part_ends) => way.push(((context, ty), at + 1, so_far && part_ends)),
                // Visit the part first, then this type again.
                None => way.extend([((context, ty), at, so_far), (part, 0, true)]),
            }
        }
    }
    ends
}

/// The number of steps that [`canonical_order`] may take, besides 64 rounds. A round takes a step
/// for each type and part. Types of one name that differ only at depth n need n rounds.
const STEPS: usize = 1 << 22;

/// Returns the classes ordered by kind and name, then by the ranks of their parts. Each round
/// computes new ranks, until they distinguish no more classes or [`STEPS`] are used up.
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

/// Returns the rank of each key (equal keys have equal ranks), and the number of different keys.
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

fn clashes(context: &Context) -> Vec<TypeClash> {
    let mut named: IndexMap<&[u8], Vec<Type>> = IndexMap::default();
    for ty in context.structs() {
        if let TypeKind::Identified { name: Some(name), body: Some(_), .. } = context.kind(ty) {
            let name = canonical_name(name);
            // clang ends the names of unnamed structs, classes and unions with `.anon`.
            if !name.ends_with(b".anon") {
                named.entry(name).or_default().push(ty);
            }
        }
    }
    let several = named.into_iter().filter(|(_, types)| types.len() > 1);
    several.map(|(name, types)| TypeClash { name: name.to_vec(), types }).collect()
}
