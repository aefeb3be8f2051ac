//! The calls of a codec's functions: their arguments and results.

use crate::{
    exchange::{Call, Output},
    limits,
    realm::eval,
    result::{Failure, Reader},
};
use dunnage_pson::{Kind, Value as Message};
use rquickjs::{Array, Ctx, FromJs, Function, IntoJs, Null, Object, Value, function::This};

/// The functions that a codec may define: those of TS013, and the older ones of ChirpStack v3 and The Things Network v2.
pub const FUNCTIONS: [&str; 5] = ["decodeUplink", "encodeDownlink", "decodeDownlink", "Decode", "Decoder"];

/// Defines what CommonJS gives a module, as globals. ThingPark's catalogue has its codecs in this form.
pub fn define_module(ctx: &Ctx<'_>) -> rquickjs::Result<()> {
    eval(
        ctx,
        "realm.js",
        "globalThis.module = { exports: {} }; globalThis.exports = module.exports; undefined",
    )
}

/// Returns the function `name` that the codec defines as a global, which may also be a constant, or exports, if there is one.
pub fn global<'js, T: FromJs<'js>>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<T> {
    let found = format!(
        "typeof {name} === \"function\" ? {name} : (function (given) {{ \
         return given && typeof given.{name} === \"function\" ? given.{name} : undefined; }})(globalThis.module?.exports)"
    );
    eval(ctx, "realm.js", &found)
}

/// Returns the text of a function that runs a codec and returns its functions. The codec's first line is the first line.
pub fn function_of(codec: &str) -> String {
    let own = FUNCTIONS.map(|name| format!("{name}: typeof {name} === \"function\" ? {name} : undefined"));
    let exported = FUNCTIONS.map(|name| {
        format!("if (!own.{name} && typeof given.{name} === \"function\") own.{name} = given.{name};")
    });
    format!(
        "(function () {{ var module = {{ exports: {{}} }}, exports = module.exports; \
         return (function (own, given) {{ if (given) {{ {} }} return own; }})\
         ((function () {{{codec}\n;return {{{}}}}}).call(this), module.exports); }})",
        exported.join(" "),
        own.join(",")
    )
}

/// Calls what `call` names; `find` returns the codec's functions.
pub fn run<'js>(
    ctx: &Ctx<'js>,
    tools: &Object<'js>,
    call: Call<'_>,
    find: impl Fn(&str) -> rquickjs::Result<Option<Function<'js>>>,
) -> Result<Output, Failure> {
    let input = call.input();
    let this = || This(ctx.globals());
    let mut reader = Reader::new(tools, input.lenient);
    let (name, direct) = match call {
        Call::DecodeUplink(_) => ("decodeUplink", true),
        Call::DecodeDownlink(_) => ("decodeDownlink", false),
        Call::EncodeDownlink(..) => ("encodeDownlink", false),
    };
    if let Some(function) = find(name)? {
        let argument = match call {
            Call::EncodeDownlink(data, _) => encode_argument(ctx, data)?,
            _ => argument(ctx, tools, call)?,
        };
        let result: Value<'js> = function.call((this(), argument))?;
        return output(&mut reader, &result, matches!(call, Call::EncodeDownlink(..)));
    }
    if !direct {
        return Err(Failure::Unsuitable(
            Kind::Malformed,
            String::new(),
            format!("the codec has no function {name}"),
        ));
    }
    let bytes = Value::from_array(array(ctx, input.bytes)?);
    let port = input.port.into_js(ctx)?;
    let data: Value<'js> = match (find("Decode")?, find("Decoder")?) {
        (Some(decode), _) => decode.call((this(), port, bytes, Object::new(ctx.clone())?))?,
        (None, Some(decoder)) => decoder.call((this(), bytes, port))?,
        (None, None) => return Err(no_data("the codec has no function that decodes")),
    };
    Ok(Output { data: data_of(&mut reader, data)?, warnings: Vec::new(), nulls: reader.nulls })
}

/// Returns the argument of `decodeUplink` and `decodeDownlink`.
fn argument<'js>(ctx: &Ctx<'js>, tools: &Object<'js>, call: Call<'_>) -> rquickjs::Result<Object<'js>> {
    let input = call.input();
    let argument = Object::new(ctx.clone())?;
    argument.set("bytes", array(ctx, input.bytes)?)?;
    argument.set("fPort", input.port)?;
    argument
        .set("recvTime", tools.get::<_, Function<'js>>("date")?.call::<_, Value<'js>>((call.time(),))?)?;
    Ok(argument)
}

fn encode_argument<'js>(ctx: &Ctx<'js>, data: &Message) -> rquickjs::Result<Object<'js>> {
    let argument = Object::new(ctx.clone())?;
    argument.set("data", to_js(ctx, data)?)?;
    Ok(argument)
}

fn array<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> rquickjs::Result<Array<'js>> {
    let array = Array::new(ctx.clone())?;
    for (index, byte) in bytes.iter().enumerate() {
        array.set(index, i32::from(*byte))?;
    }
    Ok(array)
}

fn to_js<'js>(ctx: &Ctx<'js>, message: &Message) -> rquickjs::Result<Value<'js>> {
    Ok(match message {
        Message::Null => Null.into_js(ctx)?,
        Message::Bool(yes) => yes.into_js(ctx)?,
        Message::U64(number) => (*number as f64).into_js(ctx)?,
        Message::I64(number) => (*number as f64).into_js(ctx)?,
        Message::F64(number) => number.into_js(ctx)?,
        Message::Text(text) => text.as_str().into_js(ctx)?,
        Message::Bytes(bytes) => Value::from_array(array(ctx, bytes)?),
        Message::Array(items) => {
            let array = Array::new(ctx.clone())?;
            for (index, item) in items.iter().enumerate() {
                array.set(index, to_js(ctx, item)?)?;
            }
            Value::from_array(array)
        }
        Message::Map(entries) => {
            let object = Object::new(ctx.clone())?;
            for (key, member) in entries {
                object.set(key.as_str(), to_js(ctx, member)?)?;
            }
            Value::from_object(object)
        }
    })
}

/// Reads the result of a function of TS013: `{data, errors, warnings}`, or for an encoder `{bytes, fPort, errors, warnings}`.
fn output<'js>(reader: &mut Reader<'_, 'js>, result: &Value<'js>, encodes: bool) -> Result<Output, Failure> {
    if result.is_promise() {
        return Err(no_data("a codec must not be asynchronous"));
    }
    let Some(object) = result.as_object().filter(|_| !result.is_function()) else {
        return Err(no_data("the codec returned no object with data or errors"));
    };
    let errors = texts(reader.tools, object.get("errors")?)?;
    if !errors.is_empty() {
        return Err(Failure::Reported(errors.join("; ")));
    }
    let warnings = texts(reader.tools, object.get("warnings")?)?;
    let data = match encodes {
        true => result.clone(),
        false => object.get("data")?,
    };
    Ok(Output { data: data_of(reader, data)?, warnings, nulls: reader.nulls })
}

fn data_of<'js>(reader: &mut Reader<'_, 'js>, data: Value<'js>) -> Result<Message, Failure> {
    match reader.read(data, 0)? {
        Some(data @ Message::Map(_)) => Ok(data),
        None | Some(Message::Null) => Err(no_data("the codec returned no data, and no errors that say why")),
        Some(_) => Err(Failure::Unsuitable(Kind::Type, String::new(), "data must be an object".into())),
    }
}

/// Reads errors or warnings: an array of texts, or a single one. Whatever else is there becomes a text.
fn texts<'js>(tools: &Object<'js>, value: Value<'js>) -> rquickjs::Result<Vec<String>> {
    tools.get::<_, Function<'js>>("texts")?.call((value, limits::WARNINGS, limits::TEXT))
}

fn no_data(why: &str) -> Failure {
    Failure::Unsuitable(Kind::Malformed, String::new(), why.to_owned())
}
