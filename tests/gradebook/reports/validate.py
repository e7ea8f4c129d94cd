#!/usr/bin/env python3
"""validate.py SCHEMA FILE - exits 0 if the JSON file is what the schema says, and nothing else.

The published schema lets a later version add properties; this version must not have any that the
schema does not know.
"""
import json
import sys

import jsonschema


def close(schema):
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            close(part)
    elif isinstance(schema, list):
        for part in schema:
            close(part)


with open(sys.argv[1], encoding="utf-8") as file:
    wanted = json.load(file)
close(wanted)
jsonschema.Draft202012Validator.check_schema(wanted)
with open(sys.argv[2], encoding="utf-8") as file:
    got = json.load(file)
faults = list(jsonschema.Draft202012Validator(wanted).iter_errors(got))
for fault in faults[:5]:
    print("/".join(str(step) for step in fault.absolute_path), fault.message[:300])
sys.exit(bool(faults))
