//! Readers, with which threads query tags while another thread adds types. No thread waits.

use std::mem::MaybeUninit;

use tbaa::{Publisher, TagId};

use crate::context::{Context, change, made_in};
use crate::oracle::{ANY_CONFLICT, MemoryAccess, Tag, conflicts};
use crate::status::{Status, answer, free};

/// Queries the state that a context published. Any thread may use a reader, but only one at a time.
pub struct Reader(tbaa::Reader);

impl Reader {
    /// Returns the tag with an id. Takes the newest published state if the id is not known yet.
    #[inline]
    fn tag(&mut self, tag: Tag) -> Option<TagId> {
        let at = (tag.id as usize).checked_sub(1)?;
        let known = self.0.oracle().graph().tag_at(at);
        known.or_else(|| self.0.catch_up().then(|| self.0.oracle().graph().tag_at(at))?)
    }

    fn overlap(&mut self, a: MemoryAccess, b: MemoryAccess) -> bool {
        let [a, b] = [a, b].map(|access| access.of(self.tag(access.tag)));
        self.0.may_alias(a, b)
    }
}

impl Context {
    /// Returns the publisher. If there is none, makes one, which publishes the present state.
    fn publisher(&mut self) -> &mut Publisher {
        // `get_or_insert_with` does not compile here: its closure would use the borrowed context.
        let made = self.publisher.take().unwrap_or_else(|| Publisher::new(&self.oracle().inner));
        self.publisher.insert(made)
    }
}

/// Makes a reader. With it, another thread queries the context's tags by the context's rule, while
/// this thread adds more tags. No function that takes a reader waits for anything. A reader may
/// outlive the context. Free it with `tbaa_reader_free`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_reader_new(
    context: Option<&mut Context>,
    reader: Option<&mut MaybeUninit<Box<Reader>>>,
) -> Status {
    made_in(context, reader, |context| Ok(Box::new(Reader(context.publisher().reader()))))
}

/// Publishes all tags of the context to its readers. Call it before the tags are passed to other
/// threads, for example once for each compiled function. It takes one to three times as long as
/// adding the tags took. Besides the context's own tables of tags, there are two copies of the
/// tables, and one more for each reader that lags behind.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_context_publish(context: Option<&mut Context>) -> Status {
    change(context, |context| {
        let mut publisher = context.publisher.take();
        if let Some(publisher) = &mut publisher {
            publisher.publish(&context.oracle().inner);
        }
        context.publisher = publisher;
        Ok(())
    })
}

/// Frees a reader. NULL is not an error.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_reader_free(reader: Option<Box<Reader>>) {
    free(reader);
}

/// Answers as `tbaa_may_alias`, for the published state. An unknown tag makes the reader take the
/// newest published state. A tag that is not published may alias everything.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_reader_may_alias(reader: Option<&mut Reader>, a: Tag, b: Tag) -> bool {
    answer(true, || {
        let reader = reader?;
        let (a, b) = (reader.tag(a)?, reader.tag(b)?);
        Some(reader.0.may_alias(a, b))
    })
}

/// Answers as `tbaa_access_may_alias`, for the published state.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_reader_access_may_alias(
    reader: Option<&mut Reader>,
    a: MemoryAccess,
    b: MemoryAccess,
) -> bool {
    answer(true, || Some(reader?.overlap(a, b)))
}

/// Answers as `tbaa_may_conflict`, for the published state.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_reader_may_conflict(
    reader: Option<&mut Reader>,
    first: MemoryAccess,
    second: MemoryAccess,
) -> u32 {
    answer(ANY_CONFLICT, || {
        let reader = reader?;
        let found = conflicts(first.effect(), second.effect());
        Some(if found != 0 && reader.overlap(first, second) { found } else { 0 })
    })
}

/// Takes the newest published state, and returns whether it is newer than the reader's. A reader
/// that is idle, or asks only about old tags, keeps an old copy of the tables until this is called.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_reader_catch_up(reader: Option<&mut Reader>) -> bool {
    answer(false, || Some(reader?.0.catch_up()))
}
