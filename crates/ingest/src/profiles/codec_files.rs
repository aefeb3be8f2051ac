//! The vendors' codecs that profiles name.

use crate::profiles::{Wrong, settings::Profile};
use dunnage_vendor_codec::Codec;
use std::{collections::HashMap, path::PathBuf, sync::Arc};

/// The codecs, by their files. Profiles that name one file share its codec.
#[derive(Default)]
pub struct CodecFiles(HashMap<PathBuf, Option<Arc<Codec>>>);

impl CodecFiles {
    /// Returns the codec of `profile`, if it has one that can be used. Reports a mistake in a file once.
    pub fn codec(&mut self, profile: &Profile, wrong: &mut Wrong) -> Option<Arc<Codec>> {
        let path = profile.codec.as_ref()?;
        if let Some(codec) = self.0.get(path) {
            return codec.clone();
        }
        let codec = Codec::read(path).map_err(|error| wrong.push(("codec", error.to_string()))).ok();
        self.0.insert(path.clone(), codec.clone());
        codec
    }
}
