//! `Schema.decode_arrow`: many messages into columns, which Arrow's PyCapsule interface hands to others without a copy.

mod column;
mod decode;
mod kind;
mod messages;
mod senders;
mod time;

use arrow_array::{
    Array, RecordBatch, RecordBatchIterator, StructArray, ffi::FFI_ArrowSchema,
    ffi_stream::FFI_ArrowArrayStream,
};
use arrow_schema::{ArrowError, DataType, Schema as ArrowSchema, SchemaRef};
use messages::failed;
use pyo3::{prelude::*, types::PyCapsule};
use std::sync::Arc;

pub use decode::{Request, decode};
pub use senders::{Devices, Texts};

/// Columns of decoded messages. polars, pyarrow, DuckDB and others take it as it is; pandas has `DataFrame.from_arrow(table)` from version 3 on, and
/// `pyarrow.table(table).to_pandas()` makes a frame of every version.
#[pyclass(module = "dunnage", frozen)]
pub struct ArrowTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl ArrowTable {
    /// Makes a table of batches of one type.
    fn new(kind: &kind::Kind, batches: Vec<StructArray>) -> Result<Self, ArrowError> {
        let fields = match kind.data_type() {
            DataType::Struct(fields) => fields,
            _ => arrow_schema::Fields::empty(),
        };
        let schema = Arc::new(ArrowSchema::new(fields));
        let batch = |rows: StructArray| {
            let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows.len()));
            RecordBatch::try_new_with_options(Arc::clone(&schema), rows.into_parts().1, &options)
        };
        let batches = batches.into_iter().map(batch).collect::<Result<_, _>>()?;
        Ok(ArrowTable { schema, batches })
    }
}

#[pymethods]
impl ArrowTable {
    /// The number of messages.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// Returns the schema, as a capsule of Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Returns all columns, as a capsule with a stream of batches.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to ignore the wish, and consumers to convert.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<ArrowTable: {} rows, {} columns>", self.__len__(), self.schema.fields().len())
    }
}
