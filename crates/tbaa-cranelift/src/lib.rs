//! TBAA for front ends that use Cranelift.
//!
//! Cranelift has no tags. It has *alias regions*: each load and store may name a region, and
//! Cranelift assumes that accesses in two regions never touch the same memory. A front end records
//! the tag of each access in [`Tags`], and [`Regions::apply`] assigns the regions once the function
//! is built. [`check`] compares the regions of any function with its tags.
//!
//! ```
//! use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, MemFlagsData, types};
//! use cranelift_codegen::settings;
//! use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
//! use tbaa::declare::{Declarations, Record, Target};
//! use tbaa::Session;
//! use tbaa_cranelift::{Regions, Tags, check};
//!
//! let mut session = Session::with_unions(Declarations::new(Target::x86_64()));
//! session.define(Record::structure("Vec").field("data", "double *").field("len", "long"))?;
//! let (data, element) = (session.place("Vec.data")?, session.place("*double")?);
//!
//! // Each access records its tag: here a store to an element behind each load of `data`.
//! let mut func = Function::new();
//! func.signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::F64)]);
//! let mut context = FunctionBuilderContext::new();
//! let mut builder = FunctionBuilder::new(&mut func, &mut context);
//! let block = builder.create_block();
//! builder.append_block_params_for_function_params(block);
//! builder.switch_to_block(block);
//! let (vector, value) = (builder.block_params(block)[0], builder.block_params(block)[1]);
//! let (mut tags, flags) = (Tags::new(), MemFlagsData::trusted());
//! for index in 0..2 {
//!     let base = builder.ins().load(types::I64, flags, vector, data.offset as i32);
//!     tags.set_result(&builder.func.dfg, base, data.tag);
//!     let store = builder.ins().store(flags, value, base, 8 * index);
//!     tags.set(store, element.tag);
//! }
//! builder.ins().return_(&[]);
//! builder.seal_all_blocks();
//! let isa = cranelift_native::builder()?.finish(settings::Flags::new(settings::builder()))?;
//! builder.finalize(isa.frontend_config());
//!
//! // The function gets its regions. Cranelift then removes the second load of `data`.
//! let mut regions = Regions::new(session.oracle());
//! let applied = regions.apply(session.oracle(), &mut func, &tags)?;
//! assert_eq!((applied.regions, applied.sequence_points), (2, 0));
//! assert!(check(session.oracle(), &func, &tags).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod check;
mod flow;
mod memory;
mod partition;
mod regions;
mod tags;

pub use check::{Finding, Rule, Why, check};
pub use regions::{Applied, RegionError, Regions, WithoutRegion};
pub use tags::Tags;

// The version of Cranelift that this crate works with.
pub use cranelift_codegen;

#[cfg(doctest)]
#[doc = include_str!("../embed-cranelift.md")]
mod guide {}
