//! Runs a codec. One engine has one codec and belongs to one thread.
//!
//! No message may change the result of a later one. The codec's file is therefore run again for each message, as the functions and
//! variables of a function, so that its variables are new; what it creates as globals is deleted. The built-in objects are constant. A
//! codec that changes them, or that fails under these conditions, gets new globals for each message instead, which takes longer but is how
//! network servers run codecs.

use crate::{
    call::{define_module, function_of, global, run},
    codec::Codec,
    error::Error,
    exchange::{Call, Downlink, Input, Output},
    fault::{failed, late, out_of_memory, thrown},
    limits,
    realm::{Limited, Realm, eval},
    result::Failure,
};
use dunnage_pson::{Kind, Value as Message};
use rquickjs::{Function, Object, Persistent, Value, function::This};
use std::{cell::Cell, sync::Arc};

/// A codec at work.
pub struct Engine {
    codec: Arc<Codec>,
    /// Created for the first message, and again after a message that exceeded a limit.
    loaded: Option<Loaded>,
}

/// A runtime with the codec.
struct Loaded {
    // Dropped before its realm, and that before its runtime.
    shared: Option<Shared>,
    limited: Limited,
}

/// The codec as a function that creates its functions, in globals that do not change.
struct Shared {
    make: Persistent<Function<'static>>,
    /// Deletes what a message left as globals.
    clean: Persistent<Function<'static>>,
    /// Whether that left the globals as before.
    is_clean: Cell<bool>,
    realm: Realm,
}

impl Engine {
    /// Creates an engine. The first message loads the codec.
    pub fn new(codec: Arc<Codec>) -> Engine {
        Engine { codec, loaded: None }
    }

    /// Decodes an uplink with `decodeUplink`, else with `Decode` or `Decoder`.
    ///
    /// # Errors
    /// `malformed` if the codec threw or returned errors, `limit` if it took too much, `type` or `range` if its result has no form as a
    /// message.
    pub fn decode_uplink(&mut self, input: &Input<'_>) -> Result<Output, Error> {
        self.call(Call::DecodeUplink(input))
    }

    /// Decodes a downlink with `decodeDownlink`. The errors are those of [`Engine::decode_uplink`].
    pub fn decode_downlink(&mut self, input: &Input<'_>) -> Result<Output, Error> {
        self.call(Call::DecodeDownlink(input))
    }

    /// Encodes a downlink with `encodeDownlink`. The errors are those of [`Engine::decode_uplink`].
    pub fn encode_downlink(&mut self, data: &Message, received_at: i64) -> Result<Downlink, Error> {
        let input = Input::new(&[], None, received_at);
        let output = self.call(Call::EncodeDownlink(data, &input))?;
        let unsuitable = || {
            Error::new(Kind::Type, &self.codec.file, None, "encodeDownlink must return bytes from 0 to 255")
        };
        let bytes = output.data.get("bytes").and_then(bytes_of).ok_or_else(unsuitable)?;
        let port = match output.data.get("fPort") {
            Some(Message::U64(port)) => u8::try_from(*port).ok(),
            _ => None,
        };
        Ok(Downlink { bytes, port, warnings: output.warnings })
    }

    /// Returns the memory that the codec takes now, in bytes.
    pub fn memory(&self) -> usize {
        let used = |loaded: &Loaded| loaded.limited.runtime.memory_usage().malloc_size;
        self.loaded.as_ref().map_or(0, |loaded| usize::try_from(used(loaded)).unwrap_or(0))
    }

    /// Checks the syntax of a codec, and that it can be loaded and decodes. Notes whether it needs fresh globals.
    pub(crate) fn check(codec: &Codec) -> Result<(), Error> {
        let limited = Limited::new().map_err(|_| out_of_memory(codec))?;
        limited.begin(limits::LOAD_TIME);
        let realm = Realm::new(&limited).map_err(|_| out_of_memory(codec))?;
        let checked = realm.with(|ctx, tools| {
            let loaded = || -> rquickjs::Result<(bool, bool)> {
                let unchanged: Function<'_> = tools.get::<_, Function<'_>>("remember")?.call(())?;
                define_module(ctx)?;
                eval::<Value<'_>>(ctx, &codec.file, &codec.text)?;
                let decodes = ["decodeUplink", "Decode", "Decoder"];
                let is_there = |name: &&str| {
                    global::<Option<Function<'_>>>(ctx, name).is_ok_and(|found| found.is_some())
                };
                Ok((decodes.iter().any(is_there), unchanged.call(())?))
            };
            loaded().map_err(|_| thrown(ctx, tools, &limited, codec))
        });
        let (found, unchanged) = checked.map_err(|_| out_of_memory(codec))??;
        if !found {
            let message = "the codec must define or export the function decodeUplink, Decode or Decoder";
            return Err(Error::new(Kind::Malformed, &codec.file, None, message));
        }
        if !unchanged || Shared::new(&limited, codec).is_err() {
            codec.set_fresh();
        }
        Ok(())
    }

    fn call(&mut self, call: Call<'_>) -> Result<Output, Error> {
        let codec = Arc::clone(&self.codec);
        let input = call.input();
        if input.bytes.len() > limits::INPUT {
            let message = format!("a codec decodes at most {} bytes", limits::INPUT);
            return Err(Error::new(Kind::Limit, &codec.file, None, &message));
        }
        let loaded = match self.loaded.take() {
            Some(loaded) => loaded,
            None => Loaded::new(&codec)?,
        };
        loaded.limited.begin(limits::TIME);
        let mut outcome = match &loaded.shared {
            Some(shared) if !codec.is_fresh() => shared.call(&loaded.limited, &codec, call),
            _ => fresh(&loaded.limited, &codec, call),
        };
        // The cause may be that the built-in objects are constant.
        let again = |error: &Error| error.kind != Kind::Limit;
        if !codec.is_fresh() && outcome.as_ref().is_err_and(again) {
            loaded.limited.begin(limits::TIME);
            outcome = fresh(&loaded.limited, &codec, call);
            if outcome.is_ok() {
                codec.set_fresh();
            }
        }
        if outcome.is_ok() && loaded.limited.is_late() {
            outcome = Err(late(&loaded.limited, &codec, None));
        }
        // After a limit, with globals that cannot be deleted, or with work that would run later, the runtime is not as before.
        if !outcome.as_ref().is_err_and(|error| error.kind == Kind::Limit)
            && loaded.shared.as_ref().is_none_or(|shared| shared.is_clean.get())
            && !loaded.limited.runtime.is_job_pending()
        {
            self.loaded = Some(loaded);
        }
        outcome
    }
}

impl Loaded {
    fn new(codec: &Codec) -> Result<Loaded, Error> {
        let limited = Limited::new().map_err(|_| out_of_memory(codec))?;
        limited.begin(limits::LOAD_TIME);
        let shared = match codec.is_fresh() {
            true => None,
            false => Some(Shared::new(&limited, codec)?),
        };
        Ok(Loaded { shared, limited })
    }
}

impl Shared {
    fn new(limited: &Limited, codec: &Codec) -> Result<Shared, Error> {
        let realm = Realm::new(limited).map_err(|_| out_of_memory(codec))?;
        let text = function_of(&codec.text);
        let make = realm.with(|ctx, tools| {
            let make = || -> rquickjs::Result<_> {
                let clean: Function<'_> = tools.get::<_, Function<'_>>("freeze")?.call(())?;
                let make: Function<'_> = eval(ctx, &codec.file, &text)?;
                let make: Function<'_> = tools.get::<_, Function<'_>>("seal")?.call((make,))?;
                make.call::<_, Object<'_>>((This(ctx.globals()),))?;
                let is_clean: bool = clean.call(())?;
                Ok((Persistent::save(ctx, make), Persistent::save(ctx, clean), is_clean))
            };
            make().map_err(|_| thrown(ctx, tools, limited, codec))
        });
        let (make, clean, is_clean) = make.map_err(|_| out_of_memory(codec))??;
        Ok(Shared { make, clean, is_clean: Cell::new(is_clean), realm })
    }

    fn call(&self, limited: &Limited, codec: &Codec, call: Call<'_>) -> Result<Output, Error> {
        let called = self.realm.with(|ctx, tools| {
            let output = || -> Result<Output, Failure> {
                self.realm.set_now(ctx, call.time())?;
                let made = self.make.clone().restore(ctx)?.call::<_, Object<'_>>((This(ctx.globals()),))?;
                run(ctx, tools, call, |name| made.get(name))
            };
            let output = output().map_err(|failure| failed(failure, (ctx, tools), limited, codec));
            let cleaned = || self.clean.clone().restore(ctx)?.call::<_, bool>(());
            self.is_clean.set(cleaned().unwrap_or(false));
            let _ = ctx.catch();
            output
        });
        called.map_err(|_| out_of_memory(codec))?
    }
}

/// Calls the codec in globals that only this message has.
fn fresh(limited: &Limited, codec: &Codec, call: Call<'_>) -> Result<Output, Error> {
    let realm = Realm::new(limited).map_err(|_| out_of_memory(codec))?;
    let called = realm.with(|ctx, tools| {
        let output = || -> Result<Output, Failure> {
            realm.set_now(ctx, call.time())?;
            define_module(ctx)?;
            eval::<Value<'_>>(ctx, &codec.file, &codec.text)?;
            run(ctx, tools, call, |name| global(ctx, name))
        };
        output().map_err(|failure| failed(failure, (ctx, tools), limited, codec))
    });
    called.map_err(|_| out_of_memory(codec))?
}

/// Returns the bytes of an array of integers.
fn bytes_of(value: &Message) -> Option<Vec<u8>> {
    match value {
        Message::Bytes(bytes) => Some(bytes.clone()),
        Message::Array(items) => {
            let byte = |item: &Message| match item {
                Message::U64(number) => u8::try_from(*number).ok(),
                _ => None,
            };
            items.iter().map(byte).collect()
        }
        _ => None,
    }
}
