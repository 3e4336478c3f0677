"""Reads a list of [judge, value] and writes one verdict each: "refused", or the hashes of the bytes it holds."""

import base64
import hashlib
import json
import sys

from a2a.compat.v0_3 import types as old
from a2a.types import Part
from google.protobuf import json_format
from mcp import types as mcp
from pydantic import TypeAdapter


def strictly(data):
    """The types take any string for base64."""
    return base64.b64decode(data, validate=True)


def a2a_old(value):
    part = old.Part.model_validate(value).root
    file = getattr(part, "file", None)
    return [strictly(file.bytes)] if hasattr(file, "bytes") else []


def a2a_new(value):
    part = json_format.ParseDict(value, Part())
    if part.WhichOneof("content") is None:
        raise ValueError("neither text nor raw nor url nor data")
    return [part.raw] if part.WhichOneof("content") == "raw" else []


def held(block):
    if isinstance(block, (mcp.ImageContent, mcp.AudioContent)):
        return [strictly(block.data)]
    if isinstance(block, mcp.EmbeddedResource) and isinstance(block.resource, mcp.BlobResourceContents):
        return [strictly(block.resource.blob)]
    return []


def mcp_block(value):
    return held(TypeAdapter(mcp.ContentBlock).validate_python(value, by_alias=True, by_name=False))


def mcp_result(value):
    result = mcp.CallToolResult.model_validate(value, by_alias=True, by_name=False)
    return [data for block in result.content for data in held(block)]


JUDGES = {"a2a 0.3": a2a_old, "a2a 1.0": a2a_new, "mcp block": mcp_block, "mcp result": mcp_result}


def verdict(judge, value):
    try:
        return [hashlib.sha256(data).hexdigest() for data in JUDGES[judge](value)]
    except (ValueError, json_format.ParseError):
        return "refused"


json.dump([verdict(*case) for case in json.load(sys.stdin)], sys.stdout)
