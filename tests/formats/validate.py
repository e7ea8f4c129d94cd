#!/usr/bin/env python3
"""validate.py SCHEMA FILE - exits 0 if the JSON file is what the schema says."""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    wanted = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    got = json.load(file)
faults = list(jsonschema.validators.validator_for(wanted)(wanted).iter_errors(got))
for fault in faults[:5]:
    print("/".join(str(step) for step in fault.absolute_path), fault.message[:300])
sys.exit(bool(faults))
