"""FastMCP's providers of skills. Usage: fastmcp_skills.py manifest|extension <directory> [port]"""

import sys
import warnings

warnings.simplefilter("ignore")

from fastmcp import FastMCP

shape, directory, *port = sys.argv[1:]
if shape == "manifest":
    from fastmcp.server.providers.skills import SkillsDirectoryProvider

    provider = SkillsDirectoryProvider(roots=directory)
else:
    from fastmcp.skills.provider import SkillsDirectoryProvider

    provider = SkillsDirectoryProvider(directory)
mcp = FastMCP("fastmcp")
mcp.add_provider(provider)
if port:
    mcp.run(transport="http", host="127.0.0.1", port=int(port[0]), path="/mcp", show_banner=False, log_level="ERROR")
else:
    mcp.run(show_banner=False)
