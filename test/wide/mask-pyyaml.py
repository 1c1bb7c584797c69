"""Reads lines of [before, after], two files in base64 each; prints, for each, why PyYAML does not read the second as the
first without the masked fields, or null. The first line holds the masked names."""

import base64
import json
import re
import sys
import unicodedata

import yaml


def fold(key):
    return re.sub(r"[\s\ufeff_.-]", "", unicodedata.normalize("NFKC", str(key)).lower())


def frontmatter(text):
    return re.split(r"^---[ \t]*\r?$", text.removeprefix("\ufeff"), maxsplit=2, flags=re.MULTILINE)[1]


def read(text, loader):
    try:
        return yaml.load(frontmatter(text), loader), None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        return None, str(error) or repr(error)


def difference(before, after, masked):
    for loader in (yaml.SafeLoader, yaml.BaseLoader, yaml.FullLoader):
        was, unreadable = read(before, loader)
        now, failure = read(after, loader)
        if isinstance(now, dict) and any(fold(key) in masked for key in now):
            return f"{loader.__name__} shows {[key for key in now if fold(key) in masked]}"
        if unreadable is not None:
            continue
        if failure is not None:
            return f"{loader.__name__} cannot read it any more: {failure}"
        expected = {key: value for key, value in was.items() if fold(key) not in masked} if isinstance(was, dict) else was
        if repr(now) != repr(expected):
            return f"{loader.__name__} reads {now!r} for {expected!r}"
    return None


masked = {fold(name) for name in json.loads(sys.stdin.readline())}
for line in sys.stdin:
    before, after = (base64.b64decode(file).decode("utf-8") for file in json.loads(line))
    print(json.dumps([difference(before, after, masked), read(before, yaml.SafeLoader)[1] is None]), flush=True)
