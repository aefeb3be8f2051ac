//! A certificate authority that issues certificates for tests.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use std::{fs, path::Path};

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// Writes a certificate for `names` that expires at the end of the year `until`, and its key.
    pub fn issue(&self, names: &[&str], until: i32, certificate: &Path, key: &Path) {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(until, 12, 31);
        let secret = KeyPair::generate().unwrap();
        let issued = params.signed_by(&secret, &self.issuer).unwrap();
        fs::write(certificate, issued.pem()).unwrap();
        fs::write(key, secret.serialize_pem()).unwrap();
    }

    /// Writes the authority's own certificate, for clients that trust it.
    pub fn write(&self, to: &Path) {
        fs::write(to, &self.pem).unwrap();
    }
}
