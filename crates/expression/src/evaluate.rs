//! Evaluates compiled expressions for a message.

use crate::{
    json,
    program::{Expressions, Filter, Mistake, compile},
    verdict::Verdict,
};
use jaq_core::{Ctx, Vars, data, unwrap_valr};
use jaq_json::{Val, read};

/// Compiled expressions.
pub struct Program {
    when: Option<Filter>,
    until: Option<Filter>,
    map: Option<Filter>,
}

impl Program {
    /// Compiles expressions.
    pub fn new(expressions: &Expressions) -> Result<Program, Mistake> {
        let compile = |text: &Option<String>| text.as_deref().map(compile).transpose();
        Ok(Program {
            when: compile(&expressions.when)?,
            until: compile(&expressions.until)?,
            map: compile(&expressions.map)?,
        })
    }

    /// Evaluates the expressions for a message: the JSON object that the output would deliver.
    pub fn evaluate(&self, message: &[u8]) -> Verdict {
        let message = match read::parse_single(message) {
            Ok(message) => message,
            Err(error) => return Verdict::failed("the message", &error.to_string()),
        };
        self.verdict(&message).unwrap_or_else(|failed| failed)
    }

    fn verdict(&self, message: &Val) -> Result<Verdict, Verdict> {
        let holds = |key, filter: &Filter| {
            let first = results(filter, message).next().transpose();
            let first = first.map_err(|reason| Verdict::failed(key, &reason))?;
            Ok(first.is_some_and(|value| !matches!(value, Val::Null | Val::Bool(false))))
        };
        if !self.when.as_ref().map_or(Ok(true), |when| holds("when", when))? {
            let ends = self.until.as_ref().map_or(Ok(false), |until| holds("until", until))?;
            return Ok(Verdict::Skipped { ends });
        }
        let Some(map) = &self.map else { return Ok(Verdict::Holds(None)) };
        let mut values = results(map, message);
        let failed = |reason: String| Verdict::failed("map", &reason);
        let Some(value) = values.next().transpose().map_err(failed)? else {
            return Ok(Verdict::Skipped { ends: false });
        };
        if values.next().is_some() {
            return Err(failed(
                "has several results for a message; [ ] around it makes an array of them".into(),
            ));
        }
        json::write(&value).map(|json| Verdict::Holds(Some(json))).map_err(failed)
    }
}

/// Iterates over the results of an expression for a message.
fn results<'f>(filter: &'f Filter, message: &Val) -> impl Iterator<Item = Result<Val, String>> + use<'f> {
    let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
    filter
        .id
        .run((context, message.clone()))
        .map(|result| unwrap_valr(result).map_err(|error| error.to_string()))
}
