"""A server on the Python SDK 1.x. Usage: python_sdk.py index|plain <directory> [port]

index: the draft's skill://index.json. plain: the files are resources like any, and nothing says that they are skills.
"""

import json
import re
import sys
from pathlib import Path
from urllib.parse import quote

from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.resources import FunctionResource

shape, directory, *port = sys.argv[1:]
root = Path(directory)
settings = {"host": "127.0.0.1", "port": int(port[0]), "log_level": "ERROR"} if port else {"log_level": "ERROR"}
mcp = FastMCP("python-sdk", **settings)


def publish(uri, content):
    # What is text is sent as text; the SDK sends bytes as a blob.
    try:
        content = content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    mcp.add_resource(FunctionResource(uri=uri, name=uri, fn=lambda: content))


skills = []
for path in sorted(root.rglob("*")):
    if not path.is_file():
        continue
    uri = "skill://" + quote(path.relative_to(root).as_posix())
    publish(uri, path.read_bytes())
    if path.name == "SKILL.md":
        fields = dict(re.findall(r"^(name|description): *(.*)$", path.read_text("utf-8"), re.M))
        skills.append({"type": "skill-md", **fields, "url": uri})
if shape == "index":
    publish("skill://index.json", json.dumps({"skills": skills}).encode())
mcp.run(transport="streamable-http" if port else "stdio")
