//! What the broker's acknowledgement means for a message.

use crate::{Class, Failed, FailureKind, publisher::Session};
use dunnage_clients::mqtt::{Acknowledgement, Publication};

/// Publishes a message. `Ok` means that the broker has it.
pub async fn send(session: &Session, publication: Publication) -> Result<(), Failed> {
    let topic = publication.topic.clone();
    let acknowledgement = session.publish(publication).await?;
    verdict(&topic, acknowledgement)
}

/// Returns whether the broker has a message with the topic `topic`. The codes are those of MQTT 5, section 2.4.
fn verdict(topic: &str, acknowledgement: Acknowledgement) -> Result<(), Failed> {
    let (code, why) = match acknowledgement {
        Acknowledgement::Taken | Acknowledgement::NoSubscriber => return Ok(()),
        Acknowledgement::Refused(code, why) => (code, why),
    };
    let reason = format!("the broker refused {topic}: {why}");
    Err(match code {
        // Topic name invalid, packet too large, payload format invalid.
        0x90 | 0x95 | 0x99 => Failed::refused(reason),
        // Not authorized.
        0x87 => Failed::retry(reason).because(Class::Denied),
        // Server busy, message rate too high, quota exceeded.
        0x89 | 0x96 | 0x97 => Failed::retry(reason).because(Class::Busy),
        // Unspecified error, implementation specific error.
        0x80 | 0x83 => Failed::retry(reason).because(Class::Failing),
        _ => Failed::retry(reason),
    })
}

/// Returns the failure that decides over a message with several publications: one that is retried comes before one that is refused, so
/// that the broker gets everything that it accepts.
pub fn worst(results: Vec<Result<(), Failed>>) -> Result<(), Failed> {
    let mut failures: Vec<_> = results.into_iter().filter_map(Result::err).collect();
    let retried = failures.iter().position(|failed| failed.kind != FailureKind::Refused);
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures.swap_remove(retried.unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_decide_what_is_delivered_retried_and_refused() {
        let of = |code| verdict("t", Acknowledgement::Refused(code, "why".into())).unwrap_err();
        assert_eq!(verdict("t", Acknowledgement::Taken), Ok(()));
        assert_eq!(verdict("t", Acknowledgement::NoSubscriber), Ok(()));
        for code in [0x90, 0x95, 0x99] {
            assert_eq!(of(code).kind, FailureKind::Refused, "{code:#x}");
        }
        for (code, class) in [
            (0x80, Class::Failing),
            (0x83, Class::Failing),
            (0x87, Class::Denied),
            (0x91, Class::Other),
            (0x97, Class::Busy),
            (0xfe, Class::Other),
        ] {
            assert_eq!((of(code).kind, of(code).class), (FailureKind::Retry(None), class), "{code:#x}");
        }
        assert_eq!(of(0x87).reason, "the broker refused t: why");
    }

    #[test]
    fn a_failure_to_retry_comes_first() {
        let (refused, retried) = (Failed::refused("a"), Failed::retry("b"));
        assert_eq!(worst(vec![Ok(()), Err(refused.clone()), Err(retried.clone())]), Err(retried));
        assert_eq!(worst(vec![Err(refused.clone()), Ok(())]), Err(refused));
        assert_eq!(worst(vec![Ok(())]), Ok(()));
    }
}
