//! The profile of a message, chosen once for all steps from its arrival to the queue.

use super::{Codecs, Profiles, Rule, Subject, decoding};
use crate::{
    encoding::{self, Decoding},
    origin,
    rejected::Rejected,
};
use dunnage_buffer::Provenance;
use std::sync::Arc;

/// The profiles, and the one that matches a message.
#[derive(Clone)]
pub struct Chosen {
    profiles: Arc<Profiles>,
    /// Its number, from 0.
    index: Option<usize>,
}

impl Chosen {
    /// Chooses the profile of a message. If a profile has a condition on the port, one that `content_type` states goes into the origin
    /// first, so that the same profile is chosen whenever the message is looked at again.
    pub fn of(profiles: Arc<Profiles>, provenance: &mut Provenance, content_type: &str) -> Chosen {
        if profiles.need_port
            && let Some(port) = encoding::port(content_type)
            && origin::port(provenance.origin.as_deref()) != Some(port)
        {
            provenance.origin = origin::with(provenance.origin.take(), origin::PORT, port);
        }
        let index = profiles.index(&Subject::from(&*provenance));
        Chosen { profiles, index }
    }

    /// Returns the number of the profile, from 0, if one matches.
    pub fn index(&self) -> Option<usize> {
        self.index
    }

    /// Returns the profile, if one matches.
    pub fn rule(&self) -> Option<&Rule> {
        self.profiles.rules.get(self.index?)
    }

    /// Returns the encoding of the message, as [`Profiles::decoding`] does.
    pub fn decoding(&self, content_type: &str) -> Result<Decoding, Rejected> {
        decoding(self.rule(), content_type)
    }

    /// Returns the codecs for the message, as [`Profiles::pick`] does.
    pub fn codecs(&self, schema: Option<&str>) -> Option<&Codecs> {
        self.profiles.pick(self.rule(), schema)
    }
}
