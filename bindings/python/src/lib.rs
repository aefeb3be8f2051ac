//! The extension module of the Python package `dunnage`. The package's Python code is in `python/dunnage`.

mod arrow;
mod deltas;
mod error;
mod explain;
mod fit;
mod formats;
mod input;
mod keys;
mod object;
mod pson;
mod rows;
mod schema;
mod text;
mod value;

use pyo3::prelude::*;

/// The module. The cache of keys is guarded by the GIL.
#[pymodule(gil_used = true)]
fn _dunnage(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    pson::add_functions(module)?;
    module.add_class::<pson::Unpacker>()?;
    module.add_class::<schema::Schema>()?;
    module.add_class::<fit::Fit>()?;
    module.add_class::<arrow::ArrowTable>()?;
    module.add_class::<deltas::Sender>()?;
    module.add_class::<deltas::Receiver>()?;
    module.add_function(wrap_pyfunction!(formats::convert, module)?)?;
    module.add_function(wrap_pyfunction!(formats::compare, module)?)?;
    module.add_function(wrap_pyfunction!(formats::formats, module)?)?;
    Ok(())
}
