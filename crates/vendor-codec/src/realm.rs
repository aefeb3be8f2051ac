//! A context of the engine with the globals of a codec.

use crate::limits;
use rquickjs::{
    Context, Ctx, Function, Object, Persistent, Runtime,
    context::{EvalOptions, intrinsic},
};
use rustix::time::{ClockId, clock_gettime};
use std::{cell::Cell, rc::Rc, time::Duration};

/// Leaves out what the globals must not have (`performance`), or what no codec needs (`Proxy`).
type Globals = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    // Without it, the engine cannot create an asynchronous function. `realm.js` deletes its constructor.
    intrinsic::Promise,
);

/// Prepares the globals.
const PREPARE: &str = include_str!("realm.js");

/// A runtime with the limits of one codec. Its processor time counts from [`Limited::begin`].
pub struct Limited {
    pub runtime: Runtime,
    allowed: Cell<Duration>,
    deadline: Rc<Cell<Duration>>,
    late: Rc<Cell<bool>>,
}

impl Limited {
    pub fn new() -> rquickjs::Result<Limited> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(limits::MEMORY);
        runtime.set_max_stack_size(limits::STACK);
        let (deadline, late) = (Rc::new(Cell::new(Duration::MAX)), Rc::new(Cell::new(false)));
        let (until, is_late) = (Rc::clone(&deadline), Rc::clone(&late));
        runtime.set_interrupt_handler(Some(Box::new(move || {
            is_late.set(is_late.get() || thread_time() > until.get());
            is_late.get()
        })));
        Ok(Limited { runtime, allowed: Cell::default(), deadline, late })
    }

    /// Allows `time` from now on.
    pub fn begin(&self, time: Duration) {
        self.late.set(false);
        self.allowed.set(time);
        self.deadline.set(thread_time() + time);
    }

    /// Returns the time that the codec has.
    pub fn allowed(&self) -> Duration {
        self.allowed.get()
    }

    /// Whether the time since [`Limited::begin`] is over.
    pub fn is_late(&self) -> bool {
        self.late.get() || thread_time() > self.deadline.get()
    }
}

/// The processor time of this thread. A busy machine must not make a codec late, as the time of day would.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
}

/// A context and what `realm.js` returns for it.
pub struct Realm {
    // Dropped before the context.
    tools: Persistent<Object<'static>>,
    set_now: Persistent<Function<'static>>,
    context: Context,
}

impl Realm {
    pub fn new(limited: &Limited) -> rquickjs::Result<Realm> {
        let context = Context::custom::<Globals>(&limited.runtime)?;
        let (tools, set_now) = context.with(|ctx| {
            let tools: Object<'_> = eval(&ctx, "realm.js", PREPARE)?;
            let set_now: Function<'_> = tools.get("setNow")?;
            rquickjs::Result::Ok((Persistent::save(&ctx, tools), Persistent::save(&ctx, set_now)))
        })?;
        Ok(Realm { tools, set_now, context })
    }

    /// Calls `run` with the context and the tools.
    pub fn with<T>(&self, run: impl for<'js> FnOnce(&Ctx<'js>, &Object<'js>) -> T) -> rquickjs::Result<T> {
        self.context.with(|ctx| {
            let tools = self.tools.clone().restore(&ctx)?;
            Ok(run(&ctx, &tools))
        })
    }

    /// Sets the time that the codec sees, in milliseconds since 1970.
    pub fn set_now(&self, ctx: &Ctx<'_>, time: f64) -> rquickjs::Result<()> {
        self.set_now.clone().restore(ctx)?.call((time,))
    }
}

/// Evaluates `text` as a script, in which strict mode is the script's own choice.
pub fn eval<'js, T: rquickjs::FromJs<'js>>(ctx: &Ctx<'js>, file: &str, text: &str) -> rquickjs::Result<T> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(file.to_owned());
    ctx.eval_with_options(text, options)
}
