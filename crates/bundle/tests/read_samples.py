"""Reads the samples of a bundle as anybody would, and prints what it saw.

    read_samples.py pandas|duckdb|polars BUNDLE

One JSON object: the columns, the number of rows, and of each metric the
count, the first time and the sum of the values.
"""

import json
import sys


def of_frame(frame):
    groups = frame.groupby("metric")
    return {
        "columns": list(frame.columns),
        "rows": len(frame),
        "metrics": {
            name: [len(rows), int(rows["t_ns"].min()), float(rows["value"].sum())]
            for name, rows in groups
        },
    }


def by_pandas(bundle):
    import pandas

    return of_frame(pandas.read_parquet(f"{bundle}/samples"))


def by_duckdb(bundle):
    import duckdb

    files = f"read_parquet('{bundle}/samples/*.parquet')"
    columns = [row[0] for row in duckdb.sql(f"describe select * from {files}").fetchall()]
    query = f"""select metric, count(*), min(t_ns), sum(value)
                from {files} group by metric order by metric"""
    metrics = {row[0]: list(row[1:]) for row in duckdb.sql(query).fetchall()}
    # What runs/NNNN.json says joins as it is.
    runs = duckdb.sql(
        f"select count(*), max(seed) from read_json_auto('{bundle}/runs/*.json')"
    ).fetchall()[0]
    assert runs[0] > 0, runs
    return {
        "columns": columns,
        "rows": sum(m[0] for m in metrics.values()),
        "metrics": metrics,
    }


def by_polars(bundle):
    import polars

    frame = polars.read_parquet(f"{bundle}/samples/*.parquet")
    groups = frame.group_by("metric").agg(
        polars.len(), polars.col("t_ns").min(), polars.col("value").sum()
    )
    return {
        "columns": frame.columns,
        "rows": len(frame),
        "metrics": {row[0]: list(row[1:]) for row in groups.iter_rows()},
    }


READERS = {"pandas": by_pandas, "duckdb": by_duckdb, "polars": by_polars}

if __name__ == "__main__":
    print(json.dumps(READERS[sys.argv[1]](sys.argv[2])))
