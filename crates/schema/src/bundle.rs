//! Bundles a schema and the files that it refers to into one text: `spec/schema.md`, "Other files".
//!
//! The compiler works on one text and never opens files. [`Folders::bundle`] therefore resolves references to other files in
//! advance. It reads files inside the given folders only, never from the network, and limits their number and size.

mod read;

use crate::{
    SchemaError,
    compile::{address, percent_decoded, positions},
    infer::write,
    parse::Node,
    pointer,
};
use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
};

use read::read;
pub use read::read_text;

/// The most files in one bundle, and the most files that are searched for an `$id`.
const MAX_FILES: usize = 1000;
/// The most bytes that are read for one bundle. The bundle itself is limited to 1 MiB when it is compiled.
const MAX_TOTAL: usize = 8 << 20;
/// The depth to which folders are searched.
const MAX_DEPTH: usize = 16;
/// The prefix of the names that the bundle gives to files without an absolute `$id`. The folder's number and the path inside it follow.
const NAME: &str = "dunnage://schema";

/// The folders that may contain the files of schemas, and the files that are used for addresses. No other files are read, and nothing is loaded
/// from the network.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// Canonical paths, without symbolic links.
    roots: Vec<PathBuf>,
    /// Addresses without a fragment, each with the canonical path of its file.
    map: Vec<(String, PathBuf)>,
}

/// Returns an error of a folder or of a map, which is not in a schema.
fn outside(message: String) -> SchemaError {
    SchemaError::new("", "", message)
}

/// One file of a bundle.
struct Document {
    /// The canonical path.
    path: PathBuf,
    /// The name by which references of the bundle mean this file.
    id: String,
    node: Node,
}

impl Folders {
    /// Resolves the folders. The error names a folder that does not exist or is not a folder.
    ///
    /// # Errors
    /// A folder does not exist, or cannot be read. The error names it.
    pub fn new(folders: &[PathBuf]) -> Result<Folders, SchemaError> {
        let root = |folder: &PathBuf| match fs::canonicalize(folder) {
            Ok(path) if path.is_dir() => Ok(path),
            Ok(_) => Err(outside(format!("{} is not a folder", folder.display()))),
            Err(error) => Err(outside(format!("{}: {error}", folder.display()))),
        };
        Ok(Folders { roots: folders.iter().map(root).collect::<Result<_, _>>()?, map: Vec::new() })
    }

    /// Adds files that are used for addresses, wherever these files are. `map` is a JSON file, `{"https://example.com/unit.json": "unit.json"}`,
    /// with paths relative to its folder. The error names an address that is not absolute, or a missing file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a map of URIs to files.
    pub fn with_map(mut self, map: &Path) -> Result<Folders, SchemaError> {
        let folder = map.parent().unwrap_or(Path::new(""));
        let Node::Object(entries) = read(map).map_err(outside)?.0 else {
            return Err(outside(format!("{}: not a JSON object of addresses and files", map.display())));
        };
        for (url, file) in entries {
            let wrong = |reason: String| outside(format!("{}: {url:?}: {reason}", map.display()));
            if !address::has_scheme(&url) || url.contains('#') {
                return Err(wrong("not an absolute address without a fragment".to_owned()));
            }
            let Node::Text(file) = file else { return Err(wrong("not the path of a file".to_owned())) };
            let path = folder.join(&file);
            let path =
                fs::canonicalize(&path).map_err(|error| wrong(format!("{}: {error}", path.display())))?;
            self.map.push((url, path));
        }
        Ok(self)
    }

    /// Returns the schema `text` of the file `path`, together with all files in the folders that it refers to, as one text.
    ///
    /// Returns `text` unchanged if there are no folders or if it does not refer to another file. A reference to a missing file stays unchanged;
    /// the compiler rejects it if it is used. A reference to a file outside of the folders is an error.
    ///
    /// # Errors
    /// A file to which the schema refers is outside of the folders, cannot be read, or is not a schema. The error has the pointer of the
    /// reference.
    pub fn bundle(&self, path: &Path, text: &str) -> Result<String, SchemaError> {
        if self.roots.is_empty() && self.map.is_empty() {
            return Ok(text.to_owned());
        }
        let node = Node::parse(text)?;
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let id = id_of(&node).unwrap_or_else(|| self.name(&path));
        let mut bundle =
            Bundle { folders: self, documents: vec![Document { path, id, node }], listed: None, bytes: 0 };
        let mut at = 0;
        while at < bundle.documents.len() {
            bundle.follow(at)?;
            at += 1;
        }
        if at == 1 { Ok(text.to_owned()) } else { bundle.write() }
    }

    /// Returns a unique name for the file at `path`. Names begin with `dunnage://schemas/` in the first folder, with `dunnage://schemas-2/`
    /// in the second, and with `dunnage://schema/` for a schema outside of the folders.
    fn name(&self, path: &Path) -> String {
        let in_root = |(i, root): (usize, &PathBuf)| Some((i + 1, path.strip_prefix(root).ok()?));
        let (folder, inside) = self.roots.iter().enumerate().find_map(in_root).unwrap_or((0, path));
        let parts: Vec<_> = inside
            .iter()
            .map(|part| part.to_string_lossy().replace('%', "%25").replace('#', "%23").replace(' ', "%20"))
            .filter(|part| part != "/")
            .collect();
        let folder = match folder {
            0 => String::new(),
            1 => "s".to_owned(),
            more => format!("s-{more}"),
        };
        format!("{NAME}{folder}/{}", parts.join("/"))
    }

    /// Returns the canonical path of the file at `path`, `None` if there is no such file, and an error if it is outside of the folders.
    fn inside(&self, path: &Path) -> Result<Option<PathBuf>, String> {
        let Ok(path) = fs::canonicalize(path) else { return Ok(None) };
        if self.roots.is_empty() {
            return Ok(None);
        }
        if !self.roots.iter().any(|root| path.starts_with(root)) {
            return Err("leads out of the folders of schemas".to_owned());
        }
        Ok(path.is_file().then_some(path))
    }

    /// Returns the JSON files in the folders, at most [`MAX_FILES`].
    fn files(&self) -> Vec<PathBuf> {
        let mut folders: VecDeque<_> = self.roots.iter().map(|root| (root.clone(), 0)).collect();
        let mut files = Vec::new();
        while let Some((folder, depth)) = folders.pop_front() {
            let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                // Symbolic links are not followed: they may lead out of the folders, or form cycles.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => {
                        folders.push_back((entry.path(), depth + 1));
                    }
                    Ok(kind)
                        if kind.is_file() && entry.path().extension().is_some_and(|end| end == "json") =>
                    {
                        files.push(entry.path());
                    }
                    _ => {}
                }
                if files.len() == MAX_FILES {
                    return files;
                }
            }
        }
        files
    }
}

/// A bundle under construction. The first document is the schema itself.
struct Bundle<'f> {
    folders: &'f Folders,
    documents: Vec<Document>,
    /// The files that have an absolute `$id`. Listed when the first `$id` is looked up.
    listed: Option<Vec<(String, PathBuf)>>,
    /// The number of bytes read so far.
    bytes: usize,
}

impl Bundle<'_> {
    /// Adds the files that document `at` refers to, and rewrites its references to their names in the bundle.
    fn follow(&mut self, at: usize) -> Result<(), SchemaError> {
        let mut node = std::mem::replace(&mut self.documents[at].node, Node::Null);
        let own = positions::identifiers(&node, &self.documents[at].id);
        // The name in the bundle is another one if two files have the same `$id`.
        let declared = id_of(&node).filter(|declared| *declared != self.documents[at].id);
        let mut references = Vec::new();
        positions::each(&mut node, &self.documents[at].id, &mut |schema, base| {
            references.extend(schema.text("$ref").map(|reference| (reference.to_owned(), base.to_owned())));
        });
        let mut names = Vec::with_capacity(references.len());
        for (reference, base) in references {
            let (document, fragment) = reference.split_once('#').unwrap_or((&reference, ""));
            let absolute = address::absolute(&base, document);
            let found = if document.is_empty() || own.contains(&absolute) {
                None
            } else if declared.as_ref() == Some(&absolute) {
                Some(self.documents[at].id.clone())
            } else {
                self.find(at, &base, document).map_err(|m| self.refuse(at, &node, &reference, &m))?
            };
            names.push(found.map(|id| if fragment.is_empty() { id } else { format!("{id}#{fragment}") }));
        }
        let mut names = names.into_iter();
        positions::each(&mut node, "", &mut |schema, _| {
            if schema.text("$ref").is_some()
                && let Some(name) = names.next().flatten()
            {
                schema.set("$ref", Node::Text(name));
            }
        });
        self.documents[at].node = node;
        Ok(())
    }

    /// Returns the error for a reference of document `at`.
    fn refuse(&self, at: usize, node: &Node, reference: &str, message: &str) -> SchemaError {
        let file = match at {
            0 => String::new(),
            _ => format!(" (in {})", self.documents[at].path.display()),
        };
        let pointer = pointer_of(node, reference).unwrap_or_default();
        SchemaError::new(&pointer, "$ref", format!("{reference:?} {message}{file}"))
    }

    /// Returns the name in the bundle of the document that `reference` means in document `from`, where `base` is the base of its
    /// references. Adds the file if necessary; returns `None` if no file is found.
    fn find(&mut self, from: usize, base: &str, reference: &str) -> Result<Option<String>, String> {
        let absolute = address::absolute(base, reference);
        if let Some((_, path)) = self.folders.map.iter().find(|(url, _)| *url == absolute) {
            return self.add(path.clone(), Some(&absolute)).map(Some);
        }
        let mut with_id = if absolute.starts_with(NAME) { Vec::new() } else { self.with_id(&absolute) };
        if let Some(there) = self.documents.iter().find(|document| document.id == absolute)
            && !with_id.contains(&there.path)
        {
            with_id.push(there.path.clone());
        }
        let path = match with_id.as_slice() {
            [] => self.beside(from, base, reference)?,
            [path] => Some(path.clone()),
            [first, second, ..] => {
                // The reference means the one at its path, if it has one.
                let beside = self.beside(from, base, reference)?.filter(|path| with_id.contains(path));
                Some(beside.ok_or_else(|| {
                    let (first, second) = (first.display(), second.display());
                    format!("is the $id of {first} and of {second}: refer to one by its path, or map the address to one")
                })?)
            }
        };
        path.map(|path| self.add(path, None)).transpose()
    }

    /// Returns the file at the path `reference` from the document `from`, if it is a path and the file exists.
    fn beside(&self, from: usize, base: &str, reference: &str) -> Result<Option<PathBuf>, String> {
        if address::has_scheme(reference) {
            return Ok(None);
        }
        let absolute = address::absolute(base, reference);
        let Document { path, id, .. } = &self.documents[from];
        let beside = &id[..id.rfind('/').map_or(0, |end| end + 1)];
        let Some(relative) = (if base == id { Some(reference) } else { absolute.strip_prefix(beside) })
        else {
            return Ok(None);
        };
        let relative = percent_decoded(relative).ok_or("is not percent-encoded UTF-8")?;
        if Path::new(&relative).is_absolute() {
            return Err("is an absolute path; references to files are relative".to_owned());
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        self.folders.inside(&folder.join(relative))
    }

    /// Returns the canonical paths of the files whose `$id` is `id`.
    fn with_id(&mut self, id: &str) -> Vec<PathBuf> {
        let listed = self.listed.get_or_insert_with(|| {
            let files = self.folders.files().into_iter();
            files.filter_map(|path| Some((id_of(&read(&path).ok()?.0)?, path))).collect()
        });
        let found = listed.iter().filter(|(listed, _)| listed == id);
        found.map(|(_, path)| fs::canonicalize(path).unwrap_or_else(|_| path.clone())).collect()
    }

    /// Adds the file at the canonical path `path` unless the bundle has it, and returns its name: its own `$id`, unless another file has the
    /// same, otherwise `url`, the address for which it is used, otherwise one that is made of its path.
    fn add(&mut self, path: PathBuf, url: Option<&str>) -> Result<String, String> {
        if let Some(there) = self.documents.iter().find(|document| document.path == path) {
            return Ok(there.id.clone());
        }
        if self.documents.len() == MAX_FILES {
            return Err(format!("is one of more than {MAX_FILES} files"));
        }
        let (node, bytes) = read(&path)?;
        self.bytes += bytes;
        if self.bytes > MAX_TOTAL {
            return Err("is one of files that have more than 8 MiB together".to_owned());
        }
        let is_free = |id: &String| self.documents.iter().all(|document| document.id != *id);
        let id = id_of(&node).filter(&is_free).or_else(|| url.map(str::to_owned).filter(&is_free));
        let id = id.unwrap_or_else(|| self.folders.name(&path));
        self.documents.push(Document { path, id: id.clone(), node });
        Ok(id)
    }

    /// Returns the bundle as text: the schema, with the other documents among its definitions, under their names.
    fn write(self) -> Result<String, SchemaError> {
        let mut documents = self.documents.into_iter();
        let Some(mut whole) = documents.next() else { return Ok(String::new()) };
        let dialect = whole.node.get("$schema").cloned();
        let keyword = positions::id_keyword(&whole.node);
        let stands_alone = positions::reference_stands_alone(&whole.node);
        let mut definitions = Vec::new();
        for mut document in documents {
            if let (Some(own), dialect) = (document.node.get("$schema"), &dialect)
                && dialect.as_ref().is_some_and(|dialect| !is_same_dialect(own, dialect))
            {
                let message =
                    format!("{} is of another dialect than the schema that refers to it", document.id);
                return Err(SchemaError::new("", "$schema", message));
            }
            document.node.remove("$schema");
            let mut node = if stands_alone { beside_nothing(document.node) } else { document.node };
            node.set(keyword, Node::Text(document.id.clone()));
            definitions.push((document.id, node));
        }
        whole.node.set(keyword, Node::Text(whole.id));
        let home = if whole.node.get("definitions").is_some() { "definitions" } else { "$defs" };
        let mut all = match whole.node.get(home) {
            Some(Node::Object(own)) => own.clone(),
            _ => Vec::new(),
        };
        all.extend(definitions);
        whole.node.set(home, Node::Object(all));
        Ok(write::schema(&whole.node) + "\n")
    }
}

fn is_same_dialect(a: &Node, b: &Node) -> bool {
    let short = |node: &Node| match node {
        Node::Text(text) => text.trim_end_matches('#').replace("http://", "https://"),
        _ => String::new(),
    };
    short(a) == short(b)
}

/// Returns the absolute `$id` of a schema, without an empty fragment.
fn id_of(node: &Node) -> Option<String> {
    let id = node.text(positions::id_keyword(node))?.trim_end_matches('#');
    address::has_scheme(id).then(|| id.to_owned())
}

/// Moves the `$ref` of a schema into an `allOf`, for dialects in which `$ref` would hide the `$id` beside it.
fn beside_nothing(mut node: Node) -> Node {
    let Some(reference) = node.get("$ref").cloned() else { return node };
    let Node::Object(entries) = &mut node else { return node };
    entries.retain(|(keyword, _)| matches!(keyword.as_str(), "definitions" | "$defs"));
    let reference = Node::Object(vec![("$ref".to_owned(), reference)]);
    entries.push(("allOf".to_owned(), Node::Array(vec![reference])));
    node
}

/// Returns the pointer of the first schema in `node` that has this reference.
fn pointer_of(node: &Node, reference: &str) -> Option<String> {
    match node {
        Node::Object(_) if node.text("$ref") == Some(reference) => Some(String::new()),
        Node::Object(entries) => entries.iter().find_map(|(key, inner)| {
            Some(format!("/{}{}", pointer::escape(key), pointer_of(inner, reference)?))
        }),
        Node::Array(items) => {
            let item = |(at, inner)| Some(format!("/{at}{}", pointer_of(inner, reference)?));
            items.iter().enumerate().find_map(item)
        }
        _ => None,
    }
}
