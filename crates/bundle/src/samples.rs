//! Samples as Parquet: columns `metric`, `t_ns`, `value`.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::recorded::SampleSeries;
use crate::{Error, Samples};

const SCHEMA: &str = "message samples {
    REQUIRED BYTE_ARRAY metric (UTF8);
    REQUIRED INT64 t_ns;
    REQUIRED DOUBLE value;
}";

/// Encodes samples as the bytes of a file; the same samples give the same bytes.
pub(crate) fn encoded(path: &Path, all: &[Samples]) -> Result<Vec<u8>, Error> {
    let fault = |why: String| Error::Samples {
        path: path.to_path_buf(),
        why,
    };
    for samples in all {
        let (times, values) = (samples.t_ns.len(), samples.values.len());
        if times != values {
            let metric = &samples.metric;
            return Err(fault(format!(
                "{metric}: {times} times and {values} values"
            )));
        }
        if samples.t_ns.iter().any(|&t| i64::try_from(t).is_err()) {
            return Err(fault(format!(
                "{}: a time is beyond 2^63 ns",
                samples.metric
            )));
        }
    }
    parquet_bytes(all).map_err(|error| fault(error.to_string()))
}

fn parquet_bytes(all: &[Samples]) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_created_by("assize".into())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .build();
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    // One row group per metric, so that readers can skip the others.
    for samples in all.iter().filter(|samples| !samples.values.is_empty()) {
        let mut group = file.next_row_group()?;
        let names = vec![ByteArray::from(samples.metric.as_str()); samples.values.len()];
        if let Some(mut column) = group.next_column()? {
            column
                .typed::<ByteArrayType>()
                .write_batch(&names, None, None)?;
            column.close()?;
        }
        let times: Vec<i64> = samples.t_ns.iter().map(|&t| t.cast_signed()).collect();
        if let Some(mut column) = group.next_column()? {
            column
                .typed::<Int64Type>()
                .write_batch(&times, None, None)?;
            column.close()?;
        }
        if let Some(mut column) = group.next_column()? {
            column
                .typed::<DoubleType>()
                .write_batch(&samples.values, None, None)?;
            column.close()?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(bytes)
}

/// Reads a file; `series` gives the units.
pub(crate) fn decoded(path: &Path, series: &[SampleSeries]) -> Result<Vec<Samples>, Error> {
    let file = std::fs::File::open(path).map_err(Error::io(path))?;
    let mut all: Vec<Samples> = series
        .iter()
        .map(|series| Samples {
            metric: series.metric.clone(),
            unit: series.unit.clone(),
            start_ns: series.start_ns,
            t_ns: Vec::new(),
            values: Vec::new(),
        })
        .collect();
    fill(file, &mut all).map_err(|error| Error::Samples {
        path: path.to_path_buf(),
        why: error.to_string(),
    })?;
    let whole = all
        .iter()
        .zip(series)
        .all(|(samples, series)| samples.values.len() as u64 == series.count);
    if !whole {
        return Err(Error::Samples {
            path: path.to_path_buf(),
            why: "does not hold the samples that its run lists".into(),
        });
    }
    Ok(all)
}

/// The number of rows read at a time.
const BATCH: usize = 8192;

/// The columns of one row group, read in batches.
struct RowGroupColumns {
    metric: ColumnReaderImpl<ByteArrayType>,
    t_ns: ColumnReaderImpl<Int64Type>,
    value: ColumnReaderImpl<DoubleType>,
    metrics: Vec<ByteArray>,
    times: Vec<i64>,
    values: Vec<f64>,
}

impl RowGroupColumns {
    fn new(group: &dyn RowGroupReader) -> Result<RowGroupColumns, ParquetError> {
        if group.num_columns() != 3 {
            return Err(not_samples());
        }
        let columns = [0, 1, 2].map(|at| group.get_column_reader(at));
        let [metric, t_ns, value] = columns;
        let (
            ColumnReader::ByteArrayColumnReader(metric),
            ColumnReader::Int64ColumnReader(t_ns),
            ColumnReader::DoubleColumnReader(value),
        ) = (metric?, t_ns?, value?)
        else {
            return Err(not_samples());
        };
        Ok(RowGroupColumns {
            metric,
            t_ns,
            value,
            metrics: Vec::new(),
            times: Vec::new(),
            values: Vec::new(),
        })
    }

    /// The number of rows in the next batch; 0 at the end.
    fn next(&mut self) -> Result<usize, ParquetError> {
        self.metrics.clear();
        self.times.clear();
        self.values.clear();
        let read = [
            self.metric
                .read_records(BATCH, None, None, &mut self.metrics)?,
            self.t_ns.read_records(BATCH, None, None, &mut self.times)?,
            self.value
                .read_records(BATCH, None, None, &mut self.values)?,
        ];
        let rows = self.metrics.len();
        let even = read.iter().all(|(records, ..)| *records == rows)
            && self.times.len() == rows
            && self.values.len() == rows;
        if even { Ok(rows) } else { Err(not_samples()) }
    }
}

fn not_samples() -> ParquetError {
    ParquetError::General("not a file of samples".into())
}

fn fill(file: std::fs::File, all: &mut [Samples]) -> Result<(), ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    for group in 0..reader.num_row_groups() {
        let mut columns = RowGroupColumns::new(&*reader.get_row_group(group)?)?;
        while columns.next()? > 0 {
            add_batch(&columns, all)?;
        }
    }
    Ok(())
}

/// Adds a batch, which usually holds a single metric.
fn add_batch(columns: &RowGroupColumns, all: &mut [Samples]) -> Result<(), ParquetError> {
    let mut from = 0;
    for same in columns.metrics.chunk_by(|a, b| a == b) {
        let metric = same.first().ok_or_else(not_samples)?.as_utf8()?;
        let samples = all.iter_mut().find(|samples| samples.metric == metric);
        let samples = samples.ok_or_else(not_samples)?;
        let rows = from..from + same.len();
        from = rows.end;
        for t in columns.times.get(rows.clone()).unwrap_or_default() {
            samples
                .t_ns
                .push(u64::try_from(*t).map_err(|_| not_samples())?);
        }
        let values = columns.values.get(rows).unwrap_or_default();
        samples.values.extend_from_slice(values);
    }
    Ok(())
}
