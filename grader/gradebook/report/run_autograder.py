#!/usr/bin/env python3
"""Gradescope's autograder for results that exist already: copies the one of this submission.

index.json has a file for each submission's number and each student's e-mail address, as
/autograder/submission_metadata.json gives them.
"""
import json
import shutil
import sys

source = "/autograder/source/"
with open("/autograder/submission_metadata.json") as file:
    metadata = json.load(file)
with open(source + "index.json") as file:
    index = json.load(file)

found = index["submissions"].get(str(metadata["id"]))
for user in metadata["users"]:
    found = found or index["emails"].get(user["email"].lower())
if not found:
    sys.exit("There is no result for this submission yet.")
shutil.copyfile(source + found, "/autograder/results/results.json")
