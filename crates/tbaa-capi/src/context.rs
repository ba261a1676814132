//! A context: the growing set of types and tags of one program or runtime.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::{Arc, Once};

use tbaa::declare::{DeclareError, Policy, TaggedTypes, Target};
use tbaa::spec::{Built, DeclareDecl, NameError, Spec};
use tbaa::{Graph, Publisher};

use crate::oracle::{Oracle, Tag, rule_of};
use crate::status::{Error, OrStatus, Status, free, given, made, status};
use crate::tags::{ContextTags, Declared, TagPlace, undeclared};
use crate::text::{Out, Str, constant, slice, write};

/// The policy by which declared types become TBAA metadata.
#[repr(u32)]
pub enum PolicyNumber {
    /// Like clang 22, so that code may be linked with C. The tag of a union's member is that of
    /// `char`, which may alias everything. To separate the members of unions in LLVM, use
    /// `tbaa_options_for_llvm`.
    Clang = 0,
    /// Unions are types with overlapping members, as the rules `TBAA_RULE_UNION` and
    /// `TBAA_RULE_UNION_STRICT` need them. LLVM gets tags of such types wrong unless they were
    /// lowered (rewritten for LLVM's own rule), as `tbaa_places` does.
    Rfc = 1,
}

/// The options of a new context. Zero means C on this machine, clang's policy and LLVM's rule.
#[repr(C)]
pub struct Options {
    /// The target: `x86-64`, a triple, or a data layout string. Empty for the machine that the
    /// program runs on.
    pub target: Str,
    /// The name of the root of all types. Empty for clang's, so that code may be linked with C.
    pub root: Str,
    /// A `tbaa_policy`.
    pub policy: u32,
    /// A `tbaa_rule`, by which the context's oracle answers.
    pub rule: u32,
    /// True for the types of C++.
    pub cplusplus: bool,
}

/// A snapshot: an oracle that does not change while the C program holds it.
pub(crate) struct Snapshot {
    pub(crate) rule: tbaa::AliasRule,
    pub(crate) oracle: Arc<Oracle>,
}

/// Types, tags and an oracle for them. A function that takes a `tbaa_context *` needs exclusive
/// access; functions that take a `const` one may run at the same time.
pub struct Context {
    /// The oracle, which owns the graph of types and tags. It is boxed: C holds pointers to it.
    live: NonNull<Oracle>,
    /// The declared types, and the tags by name. The graph in `built` is empty: `grow_spec`
    /// exchanges it with the oracle's graph for the time of a change.
    built: Built,
    /// The last snapshots, the oldest first.
    pub(crate) snapshots: Vec<Snapshot>,
    /// Publishes the tags to the readers on other threads; `None` until a reader is made.
    pub(crate) publisher: Option<Publisher>,
    /// The metadata for LLVM; `None` until the program requests some or sets tag options.
    tags: Option<ContextTags>,
    /// True while a function modifies the context. It stays true if that function panics.
    broken: bool,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `Context::new` made `live` from a box, and only this function frees it.
        drop(unsafe { Box::from_raw(self.live.as_ptr()) });
    }
}

impl Context {
    fn new(mut built: Built, rule: tbaa::AliasRule) -> Box<Context> {
        let graph = std::mem::take(built.graph_mut());
        let oracle = Oracle { inner: tbaa::Oracle::new(graph, rule), shared: false };
        let live = NonNull::from(Box::leak(Box::new(oracle)));
        let (snapshots, publisher, tags) = (Vec::new(), None, None);
        Box::new(Context { live, built, snapshots, publisher, tags, broken: false })
    }

    pub(crate) fn oracle(&self) -> &Oracle {
        // SAFETY: `live` is valid as long as the context. Only `grow` and `tagging` lend it
        // mutably, and they need exclusive access to the context.
        unsafe { self.live.as_ref() }
    }

    /// Runs `change` on the graph, and updates the oracle.
    pub(crate) fn grow<R>(&mut self, change: impl FnOnce(&mut Graph) -> R) -> R {
        // SAFETY: as in `oracle`; the header tells callers not to use the oracle meanwhile.
        unsafe { self.live.as_mut() }.inner.update(change)
    }

    /// Runs `change` on `built` with the oracle's graph in it, and updates the oracle.
    pub(crate) fn grow_spec<R>(&mut self, change: impl FnOnce(&mut Built) -> R) -> R {
        self.tagging().1.grow_spec(change)
    }

    /// Returns the metadata for LLVM (`tags`), and the types and the oracle that it comes from.
    pub(crate) fn tagging(&mut self) -> (&mut Option<ContextTags>, Declared<'_>) {
        let Context { live, built, tags, .. } = self;
        // SAFETY: as in `grow`.
        (tags, Declared { oracle: unsafe { &mut live.as_mut().inner }, built })
    }

    /// Runs `change` on the declared types and the graph. Fails if a loaded spec has no `declare`.
    pub(crate) fn grow_declared<R>(
        &mut self,
        change: impl FnOnce(&mut TaggedTypes, &mut Graph) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.grow_spec(|built| match built.tagged_mut() {
            Some((lowering, graph)) => change(lowering, graph),
            None => Err(undeclared()),
        })
    }
}

/// Runs the body of a function that changes a context, unless an earlier change has panicked.
pub(crate) fn change(
    context: Option<&mut Context>,
    body: impl FnOnce(&mut Context) -> Result<(), Error>,
) -> Status {
    status(|| {
        let context = given(context, "the context")?;
        if context.broken {
            let message = "an earlier call on this context panicked: free it and make another";
            return Err(Error::new(Status::Panicked, message));
        }
        context.broken = true;
        let result = body(context);
        context.broken = false;
        result
    })
}

/// Runs the body of a function that changes a context and writes a result.
pub(crate) fn made_in<T>(
    context: Option<&mut Context>,
    out: Out<'_, T>,
    make: impl FnOnce(&mut Context) -> Result<T, Error>,
) -> Status {
    change(context, |context| write(out, || make(context)))
}

fn host() -> Result<&'static str, Error> {
    let host = Target::host();
    let found = Target::names().find(|name| host.is_some() && Target::by_name(name) == host);
    let message = "this machine is no target by name: give its data layout string";
    found.ok_or_else(|| Error::argument(message))
}

/// Makes a context in which only C's own types are declared. NULL means options of zero. Free it
/// with `tbaa_context_free`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_context_new(
    options: Option<&Options>,
    context: Option<&mut MaybeUninit<Box<Context>>>,
) -> Status {
    made(context, || {
        let mut declare = DeclareDecl {
            target: String::new(),
            policy: Policy::Clang,
            cplusplus: false,
            root: None,
            types: Vec::new(),
            tags: Vec::new(),
        };
        let mut rule = 0;
        if let Some(options) = options {
            let all = [Policy::Clang, Policy::Rfc];
            declare.policy = constant(&all, options.policy, "tbaa_policy")?;
            declare.cplusplus = options.cplusplus;
            declare.target = options.target.text()?.to_owned();
            declare.root = Some(options.root.text()?.to_owned()).filter(|root| !root.is_empty());
            rule = options.rule;
        }
        if declare.target.is_empty() {
            declare.target = host()?.to_owned();
        }
        let name = "context".to_owned();
        let spec = Spec { name, declare: Some(declare), ..Spec::default() };
        let built = spec.build().map_err(|error| Error::argument(error.message()))?;
        Ok(Context::new(built, rule_of(rule, tbaa::AliasRule::Llvm)?))
    })
}

/// Makes a context from the text of a spec in RON: see `docs/specs.md`. `tbaa_tag_of` also accepts
/// the names of the spec's tags. `rule` is a `tbaa_rule`; the default is the spec's own. Errors in
/// the spec are reported with line and column.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_context_load(
    spec: Str,
    rule: u32,
    context: Option<&mut MaybeUninit<Box<Context>>>,
) -> Status {
    made(context, || {
        let built = Spec::load(spec.text()?).or_status(Status::Spec)?;
        let rule = rule_of(rule, built.spec().rules)?;
        Ok(Context::new(built, rule))
    })
}

/// Frees a context and its oracle, but not its snapshots and readers. NULL is not an error.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_context_free(context: Option<Box<Context>>) {
    free(context);
}

/// Returns a context's oracle, which always knows all tags of the context: use it on the thread
/// that adds to the context. The oracle belongs to the context, lives as long, and must not be used
/// while another thread changes the context; for that case use `tbaa_context_snapshot`. Returns
/// NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_context_oracle(context: Option<&Context>) -> *const Oracle {
    context.map_or(std::ptr::null(), |context| context.live.as_ptr())
}

/// Warns if policy clang gives the member of a union at `path` the tag of `char`, and the member's
/// type is not `char`. A process warns at most once.
pub(crate) fn say_vague(built: &mut Built, path: &str) {
    static SAID: Once = Once::new();
    if !SAID.is_completed()
        && let Some(vague) = built.tagged_mut().and_then(|(types, graph)| vague(types, graph, path))
    {
        SAID.call_once(|| eprintln!("{vague}"));
    }
}

fn vague(types: &mut TaggedTypes, graph: &mut Graph, path: &str) -> Option<String> {
    let clang = types.policy() == Policy::Clang;
    let place = clang.then(|| types.place(graph, path).ok())??;
    let is_char = types.types_mut().ty("char").is_ok_and(|char| char == place.ty);
    (place.in_union && place.tag.is_some() && !is_char).then(|| {
        format!(
            "tbaa: `{path}` is in a union, and under policy clang, that of options of zero, such an access is one \
             to `char`, which may alias everything; tags that go to LLVM say more where the context is made \
             with tbaa_options_for_llvm() (this is said once)"
        )
    })
}

fn tag_of(built: &mut Built, path: Str) -> Result<Tag, Error> {
    path.text().iter().for_each(|path| say_vague(built, path));
    let found = built.tag(path.text()?);
    found.map(Tag::from).map_err(|error| {
        let untagged = matches!(error, NameError::Declared(DeclareError::Untagged { .. }));
        Error::new(if untagged { Status::Untagged } else { Status::Path }, error)
    })
}

/// Gives the tag of an access by its path, such as `CallInfo.l.base`, `Table.array[*].tt`,
/// `*double`, `immutable Proto.code`. After `tbaa_context_load`, a tag's name is also a path.
/// `docs/declare.md` describes paths. The same path always has the same tag, so store it.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_tag_of(
    context: Option<&mut Context>,
    path: Str,
    tag: Option<&mut MaybeUninit<Tag>>,
) -> Status {
    made_in(context, tag, |context| context.grow_spec(|built| tag_of(built, path)))
}

/// Gives the tags of several paths, as `tbaa_tag_of` does, in their order. If a path has no tag,
/// the error names the path, and no tag is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_tags_of(
    context: Option<&mut Context>,
    paths: *const Str,
    count: usize,
    tags: *mut Tag,
) -> Status {
    change(context, |context| {
        // SAFETY: the caller promises `count` paths.
        let paths = unsafe { slice(paths, count, "paths") }?;
        if tags.is_null() && count > 0 {
            return Err(Error::argument("the place of the tags is NULL"));
        }
        let found: Vec<Tag> = context.grow_spec(|built| {
            let tag = |(index, &path): (usize, &Str)| {
                let named = |error: Error| format!("path {index}: {}", error.message);
                tag_of(built, path).map_err(|error| Error::new(error.status, named(error)))
            };
            paths.iter().enumerate().map(tag).collect::<Result<_, _>>()
        })?;
        // SAFETY: the caller promises room for `count` tags; `found` is our own.
        unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), tags, found.len()) };
        Ok(())
    })
}

/// Gives the tag, offset, size and alignment for a path. A path without a tag is not an error here.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_place_of(
    context: Option<&mut Context>,
    path: Str,
    place: Option<&mut MaybeUninit<TagPlace>>,
) -> Status {
    made_in(context, place, |context| {
        let path = path.text()?;
        context.grow_spec(|built| say_vague(built, path));
        let found = context
            .grow_declared(|types, graph| types.place(graph, path).or_status(Status::Path))?;
        Ok(TagPlace::from(&found))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tbaa::declare::{Declarations, Record};

    use crate::oracle::tbaa_may_alias;
    use crate::status::tbaa_last_error;

    #[test]
    fn a_change_that_panics_breaks_the_context_and_nothing_else() {
        let mut made = MaybeUninit::uninit();
        assert_eq!(tbaa_context_new(None, Some(&mut made)), Status::Ok);
        // SAFETY: written, as the status says.
        let mut context = unsafe { made.assume_init() };
        let mut tags = [Tag { id: 0 }; 2];
        for (tag, path) in tags.iter_mut().zip(["*int", "*double"]) {
            let mut made = MaybeUninit::uninit();
            let status = tbaa_tag_of(Some(&mut context), Str::of(path), Some(&mut made));
            assert_eq!(status, Status::Ok);
            // SAFETY: as above.
            *tag = unsafe { made.assume_init() };
        }
        // SAFETY: the context lives.
        let ask = |context: &Context| {
            let oracle = unsafe { tbaa_context_oracle(Some(context)).as_ref() };
            tbaa_may_alias(oracle, tags[0], tags[1])
        };
        assert!(!ask(&context));

        // The panic happens while the oracle's graph is in `built`.
        let status = change(Some(&mut context), |context| context.grow_spec(|_| panic!("oops")));
        assert_eq!(status, Status::Panicked);
        assert!(tbaa_last_error().text().is_ok_and(|text| text.ends_with("please report: oops")));
        assert!(ask(&context), "what is lost may alias everything");
        let mut unwritten = MaybeUninit::new(Tag { id: 77 });
        let again = tbaa_tag_of(Some(&mut context), Str::of("*int"), Some(&mut unwritten));
        assert_eq!(again, Status::Panicked);
        assert!(tbaa_last_error().text().is_ok_and(|text| text.contains("free it")));
        // SAFETY: initialised above, and not written since.
        assert_eq!(unsafe { unwritten.assume_init() }.id, 77);
        tbaa_context_free(Some(context));
    }

    #[test]
    fn a_place_that_the_policy_makes_vague() {
        let says = |policy: Policy, path: &str| {
            let mut types = Declarations::new(Target::x86_64());
            let value = Record::union("").field("n", "double").field("bytes", "char [8]");
            types.define(Record::structure("V").field("u", value).field("tt", "int")).unwrap();
            types.define(Record::structure("F").field("v", "V *")).unwrap();
            vague(&mut types.into_tagged(policy), &mut Graph::new(), path)
        };
        let said = says(Policy::Clang, "V.u.n").unwrap();
        assert!(said.contains("`V.u.n`") && said.contains("tbaa_options_for_llvm()"), "{said}");
        assert!(says(Policy::Clang, "F.v[*].u.n").is_some());
        assert_eq!(says(Policy::Rfc, "V.u.n"), None);
        for path in ["V.tt", "F.v", "V.u.bytes[*]", "*double", "V.missing"] {
            assert_eq!(says(Policy::Clang, path), None, "{path}");
        }
    }
}
