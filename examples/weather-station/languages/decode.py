"""Decodes a packed message with its schema: decode.py SCHEMA HEX."""

import json
import sys

import dunnage

schema, message = sys.argv[1:]
print(json.dumps(dunnage.Schema(schema).decode(bytes.fromhex(message))))
