use super::*;
use crate::{Scope, Tokens};

fn send(pattern: &str) -> Right {
    Right::Send(pattern.into())
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state").join("tokens.toml");
    assert!(list(&path).unwrap().is_empty());
    let (first, secret) = add(&path, Some("a"), send("buoy-*"), None).unwrap();
    let (second, _) =
        add(&path, None, Right::Read(Scope::EVERYTHING), Some("2027-01-31".parse().unwrap())).unwrap();
    assert_eq!(second.name.len(), 8);
    assert!(
        add(&path, Some("a"), Right::Read(Scope::EVERYTHING), None)
            .unwrap_err()
            .to_string()
            .contains("already")
    );
    let names: Vec<_> = list(&path).unwrap().into_iter().map(|token| token.name).collect();
    assert_eq!(names, [first.name.clone(), second.name.clone()]);
    let tokens = Tokens::load(&path).unwrap();
    assert_eq!(tokens.find(&secret, 0).unwrap().right, send("buoy-*"));
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains(&secret) && text.contains("until = 2027-01-31"), "{text}");
    revoke(&path, "a", Some("2020-01-01T00:00:00Z".parse().unwrap())).unwrap();
    let now = dunnage_base::clock::now();
    assert_eq!(Tokens::load(&path).unwrap().find(&secret, now).unwrap_err(), "the token has expired");
    revoke(&path, "a", None).unwrap();
    assert!(revoke(&path, "a", None).unwrap_err().to_string().contains("no token \"a\""));
    assert_eq!(list(&path).unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn the_file_is_its_owners_and_what_a_kill_left_is_no_obstacle() {
    use std::os::unix::fs::{MetadataExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.toml");
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    symlink(&elsewhere, folder.path().join("tokens.toml.new")).unwrap();
    fs::write(&path, "").unwrap();
    add(&path, None, Right::Read(Scope::EVERYTHING), None).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "precious");
    assert!(!folder.path().join("tokens.toml.new").exists());
}

#[test]
fn many_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.toml");
    std::thread::scope(|scope| {
        for n in 0..8 {
            let path = &path;
            scope.spawn(move || {
                add(path, Some(&format!("t{n}")), Right::Read(Scope::EVERYTHING), None).unwrap()
            });
        }
    });
    assert_eq!(list(&path).unwrap().len(), 8);
}

#[test]
fn a_file_with_a_mistake_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.toml");
    fs::write(&path, "[[token]]\nname = 'a'\n").unwrap();
    let e = add(&path, None, Right::Read(Scope::EVERYTHING), None).unwrap_err().to_string();
    assert!(e.contains("tokens.toml:1:1") && e.contains("token[1]"), "{e}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "[[token]]\nname = 'a'\n");
    assert!(add(&path, None, send(""), None).unwrap_err().to_string().contains("valid device ID"));
}

#[test]
fn tokens_are_imported_all_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.toml");
    let import = |rows: &str| {
        let mut secrets = Vec::new();
        let count = import(&path, rows.as_bytes(), &mut secrets).map_err(|e| e.to_string());
        count.map(|count| (count, String::from_utf8(secrets).unwrap()))
    };
    let (count, secrets) =
        import("name,device,until,read,operate\nbuoy-1, buoy-1,2027-01-31,,\n,ship-*,,false,\nr,,,true,\no,,,,true\n").unwrap();
    assert_eq!((count, secrets.lines().count()), (4, 5));
    let operates = secrets.lines().find_map(|line| line.strip_prefix("o,")).unwrap();
    assert_eq!(Tokens::load(&path).unwrap().find(operates, 0).unwrap().right, Right::Operate);
    let secret = secrets.lines().find_map(|line| line.strip_prefix("buoy-1,")).unwrap();
    assert_eq!(Tokens::load(&path).unwrap().find(secret, 0).unwrap().right, send("buoy-1"));
    let (_, scoped) =
        import("name,device,read,tag.site,tag.kind\ncustomer,buoy-*,true,pisa,7\nall,,true,,\n").unwrap();
    let find = |name: &str| {
        let secret = scoped.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        Tokens::load(&path).unwrap().find(secret, 0).unwrap().right.clone()
    };
    assert_eq!(find("customer,").to_string(), "read devices buoy-* with kind=7, site=pisa");
    assert_eq!(find("all,"), Right::Read(Scope::EVERYTHING));
    // A token that exists somewhere else.
    let (_, other) = Token::make("x", Right::Read(Scope::EVERYTHING), None).unwrap();
    import(&format!("token,device\n{other},a\n")).unwrap();
    assert!(Tokens::load(&path).unwrap().find(&other, 0).is_ok());
    let before = fs::read_to_string(&path).unwrap();
    for (rows, error) in [
        ("name,device\na,a\nb,b\tc\n".to_owned(), "line 3: device: \"b\\tc\" is not a valid device ID"),
        ("name,device\na,a\na,b\n".into(), "line 3: name: \"a\" already exists"),
        ("name,device\nbuoy-1,b\n".into(), "line 2: name: \"buoy-1\" already exists"),
        (format!("token,device\n{other},a\n"), "line 2: token: this token already exists"),
        ("token,device\npassword,a\n".into(), "line 2: token: "),
        ("name,device,until\na,a,tomorrow\n".into(), "line 2: until: must be a date"),
        ("name,tag.site\na,pisa\n".into(), "line 2: tags: only a token that reads"),
        ("name,device,operate\na,a,true\n".into(), "line 2: operate: "),
        ("name,read,device\na,true,b\tc\n".into(), "line 2: device: \"b\\tc\" is not a valid"),
        ("name,name,device\na,b,c\n".into(), "the column \"name\" is there twice"),
        ("name,read,operate\na,true,true\n".into(), "line 2: read: "),
        ("name,operate\na,yes\n".into(), "line 2: operate: must be true or false"),
        ("name,devise\na,a\n".into(), "devise"),
        ("name,device\na\n".into(), "line"),
    ] {
        let message = import(&rows).unwrap_err();
        assert!(message.contains(error), "{rows}: {message}");
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
}
