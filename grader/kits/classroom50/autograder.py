#!/usr/bin/env python3
"""Classroom 50 runs this in the checkout of a student's repository. It grades on the simulated GPU and writes
result.json (schema classroom50/result/v1) and release-body.md. A failure of the machine is a non-zero exit status."""

import datetime
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

here = Path(__file__).resolve().parent
kit = Path(os.environ.get("WARPBOOK_KIT", "/kit"))  # in the image of Containerfile


def root(*command):
    """As root, if sudo needs no password: then bubblewrap confines the kernel."""
    sudo = ["sudo", "-n"] if os.getuid() and not subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode else []
    return [*sudo, *map(str, command)]


def prepared():
    """The kit, built: that of the image, or the one in the bundle."""
    if (kit / "warpbook/build/warpbook").exists():
        return kit
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(here / "kit.tar.gz") as archive:
        archive.extractall(folder)
    subprocess.run(root(folder / "install.sh", (folder / "toolkit").read_text().strip()), check=True, stdout=sys.stderr)
    subprocess.run(["make", "-s", "-C", str(folder / "warpbook"), "programs"], check=True, stdout=sys.stderr)
    return folder


def submitted():
    """The time of the graded commit."""
    seconds = subprocess.run(["git", "-c", "safe.directory=*", "log", "-1", "--format=%ct"], capture_output=True, text=True).stdout.strip()
    time = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc) if seconds else datetime.datetime.now(datetime.timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    folder = prepared()
    labs = (folder / "labs").read_text().split()
    with tempfile.TemporaryDirectory() as out:
        graded = Path(out) / "graded.json"
        subprocess.run(root(folder / "grade.sh", "classroom50", Path.cwd(), graded, *labs), check=True)
        marks = json.loads(graded.read_text())
    environment = os.environ
    result = {
        "schema": "classroom50/result/v1",
        "classroom": environment["CLASSROOM"],
        "assignment": environment["ASSIGNMENT"],
        "submission": environment["SUBMISSION_TAG"],
        "commit": environment["COMMIT_URL"],
        "release": environment["RELEASE_URL"],
        "review": environment.get("REVIEW_URL") or environment["COMMIT_URL"],
        "datetime": submitted(),
        **marks,
    }
    texts = [test["output"] for test in marks["tests"]]
    body = "\n".join("    " + line for text in texts for line in text.splitlines())  # a code block
    for name, text in (("result.json", json.dumps(result, indent=2)), ("release-body.md", body)):
        file = Path(name)
        if file.is_symlink() or file.is_dir():
            sys.exit(f"the repository has its own {name}")
        file.write_text(text + "\n")


main()
