"""Decodes many packed messages into a table of pyarrow."""

import dunnage
import pyarrow

weather = dunnage.Schema("weather")
reading = {"station": "PISA01", "time": "2026-03-29T12:00:00Z", "temperature": 14.3, "humidity": 62, "pressure": 1016.8}
messages = [weather.encode({**reading, "humidity": humidity}) for humidity in range(100)]

table = pyarrow.table(weather.decode_arrow(messages))
print(table.num_rows, "rows of", ", ".join(table.column_names))
print(weather.explain())
print(dunnage.compare(reading, weather))
