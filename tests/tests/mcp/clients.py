"""The official Python client against the server: over standard input and output, and over HTTP."""

import asyncio
import base64
import hashlib
import sys

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

binary, work, url, token = sys.argv[1:]
image = open(f"{work}/a.png", "rb").read()
sha256 = hashlib.sha256(image).hexdigest()


async def talk(session: ClientSession, name: str) -> None:
    await session.initialize()
    tools = (await session.list_tools()).tools
    assert [tool.name for tool in tools] == ["read", "read_image", "write", "edit"], tools
    assert tools[0].annotations.read_only_hint and tools[2].annotations.destructive_hint

    # The client checks structured content against the output schema by itself.
    written = await session.call_tool("write", {"file_path": name, "content": "one\ntwo\n"})
    assert not written.is_error and written.structured_content["created"], written
    edited = await session.call_tool("edit", {"file_path": name, "old_string": "two", "new_string": "2"})
    assert not edited.is_error and edited.structured_content["hunks"][0]["lines"] == [" one", "-two", "+2"], edited
    read = await session.call_tool("read", {"file_path": name})
    assert read.structured_content["lines"][1] == {"number": 2, "text": "2"}, read

    shown = await session.call_tool("read_image", {"file_path": "a.png"})
    text, picture = shown.content
    assert "<type>image</type>" in text.text and picture.type == "image", shown
    assert base64.b64decode(picture.data) == image and picture.mime_type == "image/png"
    assert shown.structured_content["image"]["sha256"] == sha256

    for tool, arguments, code in [
        ("read", {"file_path": "../secret"}, "FS_OUTSIDE_ROOT"),
        ("read_image", {"file_path": "gone.png"}, "FS_NOT_FOUND"),
        ("edit", {"file_path": name, "old_string": "nowhere", "new_string": ""}, "FS_EDIT_NOT_FOUND"),
        ("remove", {}, "unknown_tool"),
    ]:
        failed = await session.call_tool(tool, arguments)
        assert failed.is_error and failed.structured_content["error"]["code"] == code, failed
        assert failed.content[0].text.startswith("Error: "), failed

    resources = (await session.list_resources()).resources
    assert [resource.uri for resource in resources] == [f"attache://blobs/{sha256}"], resources
    contents = (await session.read_resource(resources[0].uri)).contents
    assert base64.b64decode(contents[0].blob) == image, contents


async def main() -> None:
    server = StdioServerParameters(command=binary, args=["mcp", "--workdir", work])
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await talk(session, "stdio.txt")
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
        async with streamable_http_client(url, http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await talk(session, "http.txt")
    print("both talked")


asyncio.run(main())
