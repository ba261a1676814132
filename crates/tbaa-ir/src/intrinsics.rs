//! What the intrinsics of LLVM 22 that belong to no target do to memory.
//!
//! LLVM takes it from its own table, whatever a declaration says. Source: what
//! `Intrinsic::getFnAttributes` says of each number below `num_intrinsics` that
//! `Intrinsic::isTargetIntrinsic` does not name; LLVM has them from `Intrinsics.td`.

/// What stands in `memory(...)`, and the names of the intrinsics that have it, without
/// `llvm.` and without the types at the end of an overloaded one.
pub(super) const INTRINSICS: &[(&str, &str)] = &[
    (
        "none",
        "\
         abs acos addressofreturnaddress alloc.token.id arithmetic.fence asin atan atan2 bitreverse \
         bswap canonicalize ceil clmul convert.from.fp16 convert.to.fp16 copysign coro.align \
         coro.frame coro.is_in_ramp coro.noop coro.prepare.async coro.prepare.retcon coro.promise \
         coro.size cos cosh ctlz ctpop cttz dbg.assign dbg.declare dbg.label dbg.value donothing \
         eh.exceptioncode eh.exceptionpointer eh.recoverfp eh.sjlj.callsite eh.sjlj.lsda \
         eh.typeid.for exp exp10 exp2 expect expect.with.probability \
         experimental.convergence.anchor experimental.convergence.entry \
         experimental.convergence.loop experimental.cttz.elts experimental.gc.get.pointer.base \
         experimental.gc.get.pointer.offset experimental.gc.relocate experimental.gc.result \
         experimental.get.vector.length experimental.vector.compress \
         experimental.vector.extract.last.active experimental.vector.match experimental.vp.reverse \
         experimental.vp.splice fabs floor fma fmuladd fptosi.sat fptoui.sat fptrunc.round \
         frameaddress frexp fshl fshr get.active.lane.mask is.constant is.fpclass ldexp llrint \
         llround localaddress localrecover log log10 log2 loop.dependence.raw.mask \
         loop.dependence.war.mask lrint lround matrix.multiply matrix.transpose maximum maximumnum \
         maxnum minimum minimumnum minnum modf nearbyint objectsize pow powi \
         preserve.array.access.index preserve.static.offset preserve.struct.access.index \
         preserve.union.access.index protected.field.ptr ptrauth.auth ptrauth.blend ptrauth.resign \
         ptrauth.sign ptrauth.sign.generic ptrauth.strip ptrmask public.type.test returnaddress \
         rint round roundeven sadd.sat sadd.with.overflow scmp sdiv.fix sdiv.fix.sat \
         seh.scope.begin seh.scope.end sin sincos sincospi sinh smax smin smul.fix smul.fix.sat \
         smul.with.overflow sponentry sqrt ssa.copy sshl.sat ssub.sat ssub.with.overflow stepvector \
         strip.invariant.group tan tanh thread.pointer threadlocal.address trunc type.checked.load \
         type.checked.load.relative type.test uadd.sat uadd.with.overflow ucmp udiv.fix \
         udiv.fix.sat umax umin umul.fix umul.fix.sat umul.with.overflow ushl.sat usub.sat \
         usub.with.overflow vector.deinterleave2 vector.deinterleave3 vector.deinterleave4 \
         vector.deinterleave5 vector.deinterleave6 vector.deinterleave7 vector.deinterleave8 \
         vector.extract vector.insert vector.interleave2 vector.interleave3 vector.interleave4 \
         vector.interleave5 vector.interleave6 vector.interleave7 vector.interleave8 \
         vector.partial.reduce.add vector.partial.reduce.fadd vector.reduce.add vector.reduce.and \
         vector.reduce.fadd vector.reduce.fmax vector.reduce.fmaximum vector.reduce.fmin \
         vector.reduce.fminimum vector.reduce.fmul vector.reduce.mul vector.reduce.or \
         vector.reduce.smax vector.reduce.smin vector.reduce.umax vector.reduce.umin \
         vector.reduce.xor vector.reverse vector.splice.left vector.splice.right vp.abs vp.add \
         vp.and vp.ashr vp.bitreverse vp.bswap vp.ceil vp.copysign vp.ctlz vp.ctpop vp.cttz \
         vp.cttz.elts vp.fabs vp.fadd vp.fcmp vp.fdiv vp.floor vp.fma vp.fmul vp.fmuladd vp.fneg \
         vp.fpext vp.fptosi vp.fptoui vp.fptrunc vp.frem vp.fshl vp.fshr vp.fsub vp.icmp \
         vp.inttoptr vp.is.fpclass vp.llrint vp.lrint vp.lshr vp.maximum vp.maxnum vp.merge \
         vp.minimum vp.minnum vp.mul vp.nearbyint vp.or vp.ptrtoint vp.reduce.add vp.reduce.and \
         vp.reduce.fadd vp.reduce.fmax vp.reduce.fmaximum vp.reduce.fmin vp.reduce.fminimum \
         vp.reduce.fmul vp.reduce.mul vp.reduce.or vp.reduce.smax vp.reduce.smin vp.reduce.umax \
         vp.reduce.umin vp.reduce.xor vp.rint vp.round vp.roundeven vp.roundtozero vp.sadd.sat \
         vp.sdiv vp.select vp.sext vp.shl vp.sitofp vp.smax vp.smin vp.sqrt vp.srem vp.ssub.sat \
         vp.sub vp.trunc vp.uadd.sat vp.udiv vp.uitofp vp.umax vp.umin vp.urem vp.usub.sat vp.xor \
         vp.zext vscale",
    ),
    (
        "argmem: read",
        "\
         adjust.trampoline coro.free coro.id coro.subfn.addr experimental.vp.strided.load gcread \
         load.relative masked.load matrix.column.major.load vp.load vp.load.ff",
    ),
    (
        "argmem: write",
        "\
         experimental.memset.pattern experimental.vp.strided.store masked.compressstore \
         masked.store matrix.column.major.store memset memset.element.unordered.atomic \
         memset.inline vp.store",
    ),
    (
        "argmem: readwrite",
        "\
         coro.done experimental.vector.histogram.add experimental.vector.histogram.uadd.sat \
         experimental.vector.histogram.umax experimental.vector.histogram.umin gcwrite \
         init.trampoline invariant.end invariant.start lifetime.end lifetime.start memcpy \
         memcpy.element.unordered.atomic memcpy.inline memmove memmove.element.unordered.atomic",
    ),
    ("inaccessiblemem: write", "assume trap ubsantrap"),
    (
        "inaccessiblemem: readwrite",
        "\
         allow.runtime.check allow.sanitize.address allow.sanitize.hwaddress allow.sanitize.memory \
         allow.sanitize.thread allow.ubsan.check annotation codeview.annotation \
         experimental.constrained.acos experimental.constrained.asin experimental.constrained.atan \
         experimental.constrained.atan2 experimental.constrained.ceil experimental.constrained.cos \
         experimental.constrained.cosh experimental.constrained.exp experimental.constrained.exp2 \
         experimental.constrained.fadd experimental.constrained.fcmp experimental.constrained.fcmps \
         experimental.constrained.fdiv experimental.constrained.floor experimental.constrained.fma \
         experimental.constrained.fmul experimental.constrained.fmuladd \
         experimental.constrained.fpext experimental.constrained.fptosi \
         experimental.constrained.fptoui experimental.constrained.fptrunc \
         experimental.constrained.frem experimental.constrained.fsub experimental.constrained.ldexp \
         experimental.constrained.llrint experimental.constrained.llround \
         experimental.constrained.log experimental.constrained.log10 experimental.constrained.log2 \
         experimental.constrained.lrint experimental.constrained.lround \
         experimental.constrained.maximum experimental.constrained.maxnum \
         experimental.constrained.minimum experimental.constrained.minnum \
         experimental.constrained.nearbyint experimental.constrained.pow \
         experimental.constrained.powi experimental.constrained.rint experimental.constrained.round \
         experimental.constrained.roundeven experimental.constrained.sin \
         experimental.constrained.sinh experimental.constrained.sitofp \
         experimental.constrained.sqrt experimental.constrained.tan experimental.constrained.tanh \
         experimental.constrained.trunc experimental.constrained.uitofp \
         experimental.noalias.scope.decl experimental.widenable.condition fake.use get.fpenv \
         get.fpmode get.rounding launder.invariant.group objc.clang.arc.noop.use pseudoprobe \
         ptr.annotation reset.fpenv reset.fpmode set.fpenv set.fpmode set.rounding sideeffect \
         var.annotation",
    ),
    ("argmem: readwrite, inaccessiblemem: readwrite", "prefetch"),
    ("read", "masked.expandload masked.gather read_register vp.gather"),
    (
        "write",
        "\
         masked.scatter seh.try.begin seh.try.end xray.customevent xray.typedevent",
    ),
    (
        "readwrite",
        "\
         asan.check.memaccess call.preallocated.arg call.preallocated.setup \
         call.preallocated.teardown callbr.landingpad clear_cache coro.alloc coro.alloca.alloc \
         coro.alloca.free coro.alloca.get coro.async.context.alloc coro.async.context.dealloc \
         coro.async.resume coro.async.size.replace coro.await.suspend.bool \
         coro.await.suspend.handle coro.await.suspend.void coro.begin coro.begin.custom.abi \
         coro.destroy coro.end coro.end.async coro.end.results coro.id.async coro.id.retcon \
         coro.id.retcon.once coro.resume coro.save coro.suspend coro.suspend.async \
         coro.suspend.retcon debugtrap eh.dwarf.cfa eh.return.i32 eh.return.i64 \
         eh.sjlj.functioncontext eh.sjlj.longjmp eh.sjlj.setjmp eh.sjlj.setup.dispatch \
         eh.unwind.init experimental.deoptimize experimental.gc.statepoint experimental.guard \
         experimental.patchpoint experimental.patchpoint.void experimental.stackmap gcroot \
         get.dynamic.area.offset hwasan.check.memaccess hwasan.check.memaccess.fixedshadow \
         hwasan.check.memaccess.shortgranules hwasan.check.memaccess.shortgranules.fixedshadow \
         icall.branch.funnel instrprof.callsite instrprof.cover instrprof.increment \
         instrprof.increment.step instrprof.mcdc.parameters instrprof.mcdc.tvbitmap.update \
         instrprof.timestamp instrprof.value.profile localescape loop.decrement loop.decrement.reg \
         objc.arc.annotation.bottomup.bbend objc.arc.annotation.bottomup.bbstart \
         objc.arc.annotation.topdown.bbend objc.arc.annotation.topdown.bbstart objc.autorelease \
         objc.autoreleasePoolPop objc.autoreleasePoolPush objc.autoreleaseReturnValue \
         objc.claimAutoreleasedReturnValue objc.clang.arc.use objc.copyWeak objc.destroyWeak \
         objc.initWeak objc.loadWeak objc.loadWeakRetained objc.moveWeak objc.release objc.retain \
         objc.retain.autorelease objc.retainAutorelease objc.retainAutoreleaseReturnValue \
         objc.retainAutoreleasedReturnValue objc.retainBlock objc.retainedObject objc.storeStrong \
         objc.storeWeak objc.sync.enter objc.sync.exit objc.unretainedObject objc.unretainedPointer \
         objc.unsafeClaimAutoreleasedReturnValue pcmarker read_volatile_register readcyclecounter \
         readsteadycounter reloc.none set.loop.iterations stackaddress stackguard stackprotector \
         stackrestore stacksave start.loop.iterations swift.async.context.addr \
         test.set.loop.iterations test.start.loop.iterations va_copy va_end va_start vp.scatter \
         write_register",
    ),
];
