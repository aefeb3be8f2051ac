//! Loads a codec from its file, and checks it.

use crate::{codec::Codec, engine::Engine, error::Error, limits};
use dunnage_pson::Kind;
use std::{fs::File, io::Read, path::Path, sync::Arc};

impl Codec {
    /// Reads and checks the codec in the file `path`.
    ///
    /// # Errors
    /// `limit` if the file has more than 1 MiB, else `malformed`, with the line of a syntax error.
    pub fn read(path: &Path) -> Result<Arc<Codec>, Error> {
        let name: Arc<str> = path.display().to_string().into();
        let failed = |message: &str| Error::new(Kind::Malformed, &name, None, message);
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|e| failed(&e.to_string()))?;
        file.take(limits::FILE).read_to_end(&mut bytes).map_err(|e| failed(&e.to_string()))?;
        if bytes.len() as u64 >= limits::FILE {
            return Err(Error::new(Kind::Limit, &name, None, "the codec must be smaller than 1 MiB"));
        }
        let text = String::from_utf8(bytes).map_err(|e| {
            let line =
                1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
            Error { line: u32::try_from(line).ok(), ..failed("the codec is not valid UTF-8") }
        })?;
        Codec::compile(&name, text)
    }

    /// Checks the codec `text`, whose errors say that they are in `file`.
    ///
    /// # Errors
    /// `malformed` if it is not a script, fails when it is loaded, or defines none of the functions that decode.
    ///
    /// ```
    /// use dunnage_vendor_codec::{Codec, Engine, Input};
    /// let text = "function decodeUplink(input) { return { data: { level: input.bytes[0] / 2 } } }";
    /// let codec = Codec::compile("level.js", text.into())?;
    /// let output = Engine::new(codec).decode_uplink(&Input::new(&[43], Some(1), 0))?;
    /// assert_eq!(output.data.get("level"), Some(&21.5.into()));
    /// # Ok::<(), dunnage_vendor_codec::Error>(())
    /// ```
    pub fn compile(file: &str, text: String) -> Result<Arc<Codec>, Error> {
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        let codec = Codec::new(file, text);
        Engine::check(&codec)?;
        Ok(Arc::new(codec))
    }
}
