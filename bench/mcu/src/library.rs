//! The measured libraries: ours, and its peers in `peers/`.

use crate::{
    Failure, debian, registry,
    toolchain::{firmware_folder, root, run},
};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A limit of a library for JSON text, or a task that it leaves to its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// It stores every number as a `double`, which has 32 bits on AVR.
    Double,
    /// It has no integers of 64 bits on AVR.
    Wide,
    /// Escape sequences in text are the caller's task.
    Escapes,
    /// The caller prints 7 digits of a `float` and 15 of a `double`.
    Digits,
}

/// A library in C.
#[derive(Debug, Clone)]
pub struct Library {
    /// `dunnage` for ours.
    pub name: String,
    /// The format's ID.
    pub format: String,
    /// The version of the library.
    pub version: String,
    /// Folders with its headers, and with the `library.h` that calls it.
    pub include: Vec<PathBuf>,
    /// The compiled sources.
    pub sources: Vec<PathBuf>,
    /// Macros that it is compiled with.
    pub defines: Vec<String>,
    /// How the measured code calls it.
    pub style: Style,
    /// Its operations, as `results.rs` names them.
    pub operations: Vec<String>,
    /// Its limits. Only libraries for JSON have any.
    pub limits: Vec<Limit>,
    /// The C libraries that it builds with; all of them if it is empty.
    pub c_libraries: Vec<String>,
    /// Arguments for linking, by the C library of a board.
    pub link: BTreeMap<String, Vec<String>>,
    /// Further arguments for firmware that does something: those that link the conversion of floats whether it is used or not.
    pub conversions: BTreeMap<String, Vec<String>>,
}

/// How the measured code calls a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// With macros, and tables of dn_bind.h.
    Dunnage,
    /// With macros.
    Macros,
    /// With its own structs, which are generated from a `.proto`.
    Nanopb,
    /// With macros. It may use a heap, which is counted.
    Heap,
}

/// `peer.toml`
#[derive(Deserialize)]
struct Peer {
    name: String,
    format: String,
    version: String,
    include: Vec<String>,
    sources: Vec<String>,
    defines: Vec<String>,
    style: Style,
    operations: Option<Vec<String>>,
    #[serde(default)]
    limits: Vec<Limit>,
    #[serde(default)]
    c_libraries: Vec<String>,
    #[serde(default)]
    link: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    conversions: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    source: Source,
}

/// Where its source comes from.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Source {
    Debian {
        package: String,
        archive: String,
        sha256: String,
    },
    Cargo {
        folder: String,
    },
    Npm {
        folder: String,
    },
    /// It is part of the C library.
    C {},
}

impl Library {
    /// Our library.
    pub fn ours() -> Result<Library, Failure> {
        let source = root().join("c/src");
        let mut sources: Vec<_> =
            fs::read_dir(&source)?.map(|e| Ok(e?.path())).collect::<Result<_, Failure>>()?;
        sources.retain(|path| path.extension().is_some_and(|e| e == "c"));
        sources.sort();
        Ok(Library {
            name: "dunnage".into(),
            format: "pson".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            include: vec![crate_folder().join("firmware/dunnage"), source],
            sources,
            defines: Vec::new(),
            style: Style::Dunnage,
            operations: ["encode", "decode", "bind", "print", "parse"].map(str::to_owned).into(),
            limits: Vec::new(),
            c_libraries: Vec::new(),
            link: BTreeMap::new(),
            conversions: BTreeMap::new(),
        })
    }

    /// The peers. Downloads those that are missing.
    pub fn peers() -> Result<Vec<Library>, Failure> {
        let mut folders: Vec<_> = fs::read_dir(crate_folder().join("peers"))?
            .map(|e| Ok(e?.path()))
            .collect::<Result<_, Failure>>()?;
        folders.retain(|path| path.is_dir());
        folders.sort();
        folders.iter().map(|folder| Library::in_folder(folder)).collect()
    }

    /// The peer in this folder of `peers/`. Downloads it if it is missing.
    pub fn peer(folder: &str) -> Result<Library, Failure> {
        Library::in_folder(&crate_folder().join("peers").join(folder))
    }

    fn in_folder(folder: &Path) -> Result<Library, Failure> {
        let text = fs::read_to_string(folder.join("peer.toml"))?;
        let peer: Peer = toml::from_str(&text).map_err(|error| format!("{}: {error}", folder.display()))?;
        let source = match &peer.source {
            Source::Debian { package, archive, sha256 } => debian::source(package, archive, sha256)?,
            Source::Cargo { folder: inside } => registry::cargo(folder)?.join(inside),
            Source::Npm { folder: inside } => registry::npm(folder)?.join(inside),
            Source::C {} => folder.to_owned(),
        };
        let in_source = |names: &[String]| names.iter().map(|name| source.join(name)).collect::<Vec<_>>();
        let mut include = vec![folder.to_owned()];
        include.extend(in_source(&peer.include));
        Ok(Library {
            include,
            sources: in_source(&peer.sources),
            name: peer.name,
            format: peer.format,
            version: peer.version,
            defines: peer.defines,
            style: peer.style,
            operations: peer.operations.unwrap_or_else(|| ["encode", "decode"].map(str::to_owned).into()),
            limits: peer.limits,
            c_libraries: peer.c_libraries,
            link: peer.link,
            conversions: peer.conversions,
        })
    }

    /// The files in its folders that the compiler reads: its sources and headers, and the rig's headers for it.
    pub fn files(&self) -> Result<BTreeSet<PathBuf>, Failure> {
        let folders =
            self.include.iter().map(|folder| folder.canonicalize()).collect::<Result<Vec<_>, _>>()?;
        let mut command = Command::new("cc");
        command.arg("-M").arg("-I").arg(firmware_folder());
        for folder in &folders {
            command.arg("-I").arg(folder);
        }
        command.args(self.defines.iter().map(|define| format!("-D{define}")));
        command.args(&self.sources);
        command.args(folders.iter().map(|folder| folder.join("library.h")).filter(|file| file.exists()));
        let printed = run(&mut command)?;
        let files = printed.split_whitespace().filter_map(|word| PathBuf::from(word).canonicalize().ok());
        Ok(files.filter(|file| folders.iter().any(|folder| file.starts_with(folder))).collect())
    }

    /// Whether it has `operation`.
    pub fn has(&self, operation: &str) -> bool {
        self.operations.iter().any(|own| own == operation)
    }

    /// Returns the actions of a firmware for `operation`; `encode+decode` does both.
    pub fn actions(&self, operation: &str) -> Actions {
        let decode = operation.ends_with("decode");
        let fills = self.style == Style::Nanopb;
        Actions {
            encode: operation.starts_with("encode"),
            walk: decode && !fills,
            bind: operation.ends_with("bind") || (decode && fills),
            print: operation == "print",
            parse: operation == "parse",
            all_data: false,
        }
    }
}

/// The actions of a firmware on its messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Actions {
    /// Encodes the values of a struct.
    pub encode: bool,
    /// Walks the encoded message.
    pub walk: bool,
    /// Fills a struct from it.
    pub bind: bool,
    /// Prints it as JSON.
    pub print: bool,
    /// Parses JSON text to a message.
    pub parse: bool,
    /// Contains the data of all operations, regardless of its actions, so that two firmwares differ only in their code.
    pub all_data: bool,
}

impl Actions {
    /// Whether the firmware does anything.
    pub fn any(self) -> bool {
        self.encode || self.walk || self.bind || self.print || self.parse
    }
}

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
