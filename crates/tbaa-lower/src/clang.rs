//! Lists the accesses to declared types, and the tags that clang gives to them.

use tbaa::declare::{DeclId, Declarations, DeclareError, Policy};
use tbaa::parts::table::HashSet;
use tbaa::{Graph, TagId, TypeKind};

/// The largest number of paths that are listed for one record.
const MOST_PATHS: usize = 1 << 16;

/// Returns paths of accesses to declared types: to each scalar member of each record for which `of`
/// is true, also in nested records and arrays, and to each scalar type by itself. At most 65,536
/// members of a record are listed.
///
/// ```
/// use tbaa::declare::{Declarations, Record, Target};
/// use tbaa_lower::access_paths;
///
/// let mut types = Declarations::new(Target::x86_64());
/// let point = types.define(Record::structure("Point").field("x", "int").field("y", "double [2]"))?;
/// let paths = access_paths(&types, |record| record == point);
/// assert_eq!(paths[..2], ["Point.x", "Point.y[*]"]);
/// assert!(paths.contains(&"*int".to_owned()) && paths.contains(&"*char".to_owned()));
/// # Ok::<(), tbaa::declare::DeclareError>(())
/// ```
pub fn access_paths(types: &Declarations, of: impl Fn(DeclId) -> bool) -> Vec<String> {
    let mut paths = Vec::new();
    for record in types.records().filter(|&record| of(record)) {
        members(types, record, &mut paths);
    }
    for ty in types.types() {
        let (element, lens) = types.array_parts(ty);
        if lens.is_empty() && element == ty && !types.is_record(ty) && types.size_of(ty).is_some() {
            paths.push(format!("*{}", types.display(ty)));
        }
    }
    let mut seen = HashSet::default();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}

/// Appends the paths of a record's scalar members to `paths`, in order.
fn members(types: &Declarations, record: DeclId, paths: &mut Vec<String>) {
    let mut work = vec![(types.display(record), record)];
    let most = paths.len() + MOST_PATHS;
    while let Some((path, ty)) = work.pop() {
        if paths.len() >= most {
            return;
        }
        let (element, lens) = types.array_parts(ty);
        let path = path + &"[*]".repeat(lens.len());
        if !types.is_record(element) {
            paths.push(path);
            continue;
        }
        for member in types.members(element).rev() {
            let step = match member.name {
                "" => path.clone(),
                name => format!("{path}.{name}"),
            };
            work.push((step, member.ty));
        }
    }
}

/// Returns the graph of clang 22's tags for declared types, and pairs of tags for
/// [`Lowering::fix`](super::Lowering::fix). The first tag of a pair is in `source`, under policy
/// [`Rfc`](Policy::Rfc); the second is clang's tag for the same access. `shared` returns whether C
/// code, compiled by clang, accesses a record. C code may always access scalars.
///
/// Clang's tag of plain `char` aliases everything, and is in only one pair: the first.
///
/// NB: clang makes equal nodes in two modules only if the records and the relevant flags are equal.
/// `-fno-pointer-tbaa`, for instance, makes other nodes.
///
/// # Errors
///
/// Returns [`DeclareError::Build`] if a graph is full.
pub fn tags_of_clang(
    types: &Declarations,
    source: &mut Graph,
    shared: impl Fn(DeclId) -> bool,
) -> Result<(Graph, Vec<(TagId, TagId)>), DeclareError> {
    let mut theirs = Graph::new();
    let mut rfc = types.clone().into_tagged(Policy::Rfc);
    let mut clang = types.clone().into_tagged(Policy::Clang);
    let mut pairs = Vec::new();
    for path in access_paths(types, shared) {
        let tag = match (rfc.tag(source, &path), clang.tag(&mut theirs, &path)) {
            (Ok(ours), Ok(tag)) => (ours, tag),
            (Err(DeclareError::Build(error)), _) | (_, Err(DeclareError::Build(error))) => {
                return Err(DeclareError::Build(error));
            }
            // Some accesses, such as to a bit-field, have no tag under one of the policies.
            _ => continue,
        };
        let Ok(said) = theirs.tag(tag.1) else { continue };
        let parent = theirs.ty(said.access).parent();
        let below = parent.is_some_and(|parent| theirs.ty(parent).kind() != TypeKind::Root);
        // Skip the tag of plain `char`, which aliases everything. A `char` in a struct does not.
        if below || !said.is_whole() {
            pairs.push(tag);
        }
    }
    // The first pair has the tags that alias everything.
    if let (Ok(ours), Ok(char)) = (rfc.tag(source, "*char"), clang.tag(&mut theirs, "*char")) {
        pairs.insert(0, (ours, char));
    }
    Ok((theirs, pairs))
}
