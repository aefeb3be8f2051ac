//! A dashboard of Grafana for the table of a schema in PostgreSQL: a time series for each number, the latest values, and silent devices.
//!
//! The model is that of <https://grafana.com/docs/grafana/latest/visualizations/dashboards/build-dashboards/view-dashboard-json-model/>, and the
//! macros are those of <https://grafana.com/docs/grafana/latest/datasources/postgres/query-editor/>.

use crate::sql::{Column, Source, SqlType, Table, literal, quoted};
use serde_json::{Value, json};

/// The type of the data source.
const SOURCE: &str = "grafana-postgresql-datasource";
/// The table, as the variable of the dashboard says.
const TABLE: &str = "\"${table:raw}\"";
/// The devices and the tags that the variables select; `*` is all of them.
const SELECTED: &str = "('*' IN (${device:sqlstring}) OR _device IN (${device:sqlstring})) \
    AND ('*' IN (${tag:sqlstring}) OR EXISTS (SELECT FROM jsonb_each_text(_tags) AS _tag WHERE _tag.key || '=' || _tag.value IN (${tag:sqlstring})))";
/// All rows of the panels have this height, and a series half of the width, 24.
const HEIGHT: usize = 8;

/// Returns a dashboard, as JSON, for `table`, which has the messages of a schema. `title` says what they are.
pub fn grafana(table: &Table, title: &str) -> String {
    let fields: Vec<_> =
        table.columns.iter().filter(|column| matches!(column.source, Source::Field(_))).collect();
    let mut panels = vec![
        panel(1, "Latest values", (0, 0, 24), &latest_values(&fields), &units(&fields)),
        panel(2, "Silent for an hour", (0, HEIGHT, 24), &silent(), &json!({"defaults": {}, "overrides": []})),
    ];
    for (at, column) in fields.iter().filter(|column| is_number(&column.kind)).enumerate() {
        let place = (at % 2 * 12, (2 + at / 2) * HEIGHT, 12);
        panels.push(series(3 + at, column, place));
    }
    let dashboard = json!({
        "title": format!("{title}: values"),
        "uid": null,
        "schemaVersion": 39,
        "editable": true,
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "templating": {"list": variables(table, &fields)},
        "panels": panels,
    });
    format!("{dashboard:#}\n")
}

fn is_number(kind: &SqlType) -> bool {
    use SqlType::{BigInt, Double, Integer, Numeric, SmallInt};
    matches!(kind, SmallInt | Integer | BigInt | Numeric(_) | Double)
}

/// Begins a query with the last row of each device, as `_latest`. It reads one place of the index for each device. The names begin with `_`, as
/// those of no field and of no schema do.
fn with_latest(query: &str) -> String {
    format!(
        "WITH RECURSIVE _devices (_at) AS ((SELECT _device FROM {TABLE} ORDER BY _device LIMIT 1) UNION ALL \
         SELECT (SELECT _device FROM {TABLE} WHERE _device > _at ORDER BY _device LIMIT 1) FROM _devices WHERE _at IS NOT NULL), \
         _latest AS (SELECT _row.* FROM _devices CROSS JOIN LATERAL \
         (SELECT * FROM {TABLE} WHERE _device = _at ORDER BY _received_at DESC LIMIT 1) AS _row) {query}"
    )
}

fn latest_values(fields: &[&Column]) -> String {
    let values: String = fields.iter().map(|column| format!(", {}", quoted(&column.name))).collect();
    let query = "SELECT _device AS \"Device\", _device_name AS \"Name\", _tags::text AS \"Tags\", _received_at AS \"Received\"";
    with_latest(&format!("{query}{values} FROM _latest WHERE {SELECTED} ORDER BY _device_name, _device"))
}

fn silent() -> String {
    with_latest(&format!(
        "SELECT _device AS \"Device\", _device_name AS \"Name\", _tags::text AS \"Tags\", _received_at AS \"Last message\" FROM _latest \
         WHERE _received_at < now() - interval '1 hour' AND {SELECTED} ORDER BY _received_at"
    ))
}

/// Returns a panel with a table.
fn panel(id: usize, title: &str, place: (usize, usize, usize), query: &str, fields: &Value) -> Value {
    json!({
        "id": id,
        "type": "table",
        "title": title,
        "gridPos": position(place),
        "datasource": source(),
        "fieldConfig": fields,
        "targets": [target("table", query)],
    })
}

/// Returns a panel with the means of a number over time, for each device.
fn series(id: usize, column: &Column, place: (usize, usize, usize)) -> Value {
    let value = quoted(&column.name);
    let query = format!(
        "SELECT $__timeGroupAlias(_received_at, $__interval), coalesce(max(_device_name) || ' (' || _device || ')', _device) AS metric, \
         avg({value}) AS value FROM {TABLE} WHERE $__timeFilter(_received_at) AND {SELECTED} GROUP BY 1, _device ORDER BY 1"
    );
    let unit = column.unit.as_deref().map(unit);
    json!({
        "id": id,
        "type": "timeseries",
        "title": column.name,
        "description": column.comment,
        "gridPos": position(place),
        "datasource": source(),
        "fieldConfig": {"defaults": unit.map_or(json!({}), |unit| json!({"unit": unit})), "overrides": []},
        "targets": [target("time_series", &query)],
    })
}

fn position((x, y, width): (usize, usize, usize)) -> Value {
    json!({"x": x, "y": y, "w": width, "h": HEIGHT})
}

fn source() -> Value {
    json!({"type": SOURCE, "uid": "${source}"})
}

fn target(format: &str, query: &str) -> Value {
    json!({"refId": "A", "format": format, "editorMode": "code", "rawQuery": true, "rawSql": query})
}

/// Returns a unit as Grafana shows one that it need not know.
fn unit(unit: &str) -> String {
    format!("suffix: {unit}")
}

/// Returns what a table shows in its columns.
fn units(fields: &[&Column]) -> Value {
    let of = |column: &&Column| {
        let unit = unit(column.unit.as_deref()?);
        let properties = json!([{"id": "unit", "value": unit}]);
        Some(json!({"matcher": {"id": "byName", "options": column.name}, "properties": properties}))
    };
    json!({"defaults": {}, "overrides": fields.iter().filter_map(of).collect::<Vec<_>>()})
}

/// Returns the variables: the data source, the table (any that has the columns), the devices and the tags.
fn variables(table: &Table, fields: &[&Column]) -> Value {
    let names: Vec<_> = ["_device"].into_iter().chain(fields.iter().map(|column| &*column.name)).collect();
    let (count, names) = (names.len(), names.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", "));
    let tables = format!(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = ANY (current_schemas(false)) \
         AND column_name IN ({names}) GROUP BY table_name HAVING count(*) = {count} ORDER BY 1"
    );
    let devices = "SELECT _device AS __value, coalesce(_device_name || ' (' || _device || ')', _device) AS __text FROM _latest ORDER BY 2";
    let tags = "SELECT DISTINCT _tag.key || '=' || _tag.value FROM _latest CROSS JOIN jsonb_each_text(_tags) AS _tag ORDER BY 1";
    let query = |name: &str, label: &str, query: &str| {
        json!({
            "name": name, "label": label, "type": "query", "datasource": source(), "query": query, "definition": query, "refresh": 1,
        })
    };
    // Without one, Grafana would list all values in each query.
    let of_all = |mut variable: Value| {
        for (key, value) in [("multi", json!(true)), ("includeAll", json!(true)), ("allValue", json!("'*'"))]
        {
            variable[key] = value;
        }
        variable["current"] = json!({"text": ["All"], "value": ["$__all"]});
        variable
    };
    let mut chosen = query("table", "Table", &tables);
    chosen["current"] = json!({"text": table.name, "value": table.name});
    json!([
        {"name": "source", "label": "Database", "type": "datasource", "query": SOURCE},
        chosen,
        of_all(query("device", "Device", &with_latest(devices))),
        of_all(query("tag", "Tag", &with_latest(tags))),
    ])
}
