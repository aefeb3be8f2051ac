//! Warnings at the start about who can reach the listeners.

use crate::config::Config;
use dunnage_access::{Tokens, Who};
use dunnage_inputs::InputKind;
use std::net::SocketAddr;

/// Warns about access settings that an operator may not intend: listeners that anyone may use, a missing token, and tokens sent in the
/// clear.
pub fn warn(config: &Config, tokens: &Tokens) {
    let open: Vec<_> = listeners(config).into_iter().filter(|(_, listen, _)| is_open(*listen)).collect();
    let names = |all: &[&(String, SocketAddr, bool)]| {
        all.iter().map(|(name, listen, _)| format!("{name} ({listen})")).collect::<Vec<_>>().join(", ")
    };
    let all = names(&open.iter().collect::<Vec<_>>());
    let clear: Vec<_> = open.iter().filter(|(_, _, encrypted)| !encrypted).collect();
    match config.access.who {
        Who::Anyone if !open.is_empty() => tracing::warn!(
            listeners = all,
            "[access] who = \"anyone\": any client that reaches these addresses may send as any device and read everything over HTTP"
        ),
        Who::Tokens | Who::Loopback
            if tokens.is_empty() && (!open.is_empty() || config.access.who == Who::Tokens) =>
        {
            tracing::warn!(
                listeners = (!all.is_empty()).then_some(all),
                tokens = %config.tokens().display(),
                "there is no token, so clients that need one get 401: make one with `dunnage gateway token new`, or set \
                 [access] who = \"anyone\" behind a proxy that authenticates clients"
            );
        }
        Who::Tokens | Who::Loopback if !clear.is_empty() => tracing::warn!(
            listeners = names(&clear),
            "tokens cross the network unencrypted: set tls, or put a proxy with TLS in front"
        ),
        _ => {}
    }
}

/// Whether other machines may reach `listen`.
fn is_open(listen: SocketAddr) -> bool {
    !listen.ip().to_canonical().is_loopback()
}

/// Returns every listener that accepts tokens: its name in the configuration, its address, and whether it is encrypted.
fn listeners(config: &Config) -> Vec<(String, SocketAddr, bool)> {
    let mut all = vec![("[http]".to_owned(), config.http.listen, config.http.tls)];
    for input in &config.inputs {
        match &input.kind {
            InputKind::Mqtt(settings) => all.push((input.name.clone(), settings.listen, settings.tls)),
            // With DTLS, devices have keys instead of tokens.
            InputKind::Coap(settings) if !settings.dtls => {
                all.push((input.name.clone(), settings.listen, false));
            }
            _ => {}
        }
    }
    all
}
