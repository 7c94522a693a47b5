"""Small parts of SPARQL over HTTP: headers, bodies, and what is shown of an address."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from kgot_core.errors import QueryError


def read_json(body: bytes, seconds: float) -> Mapping[str, Any]:
    """Reads a result table; one that is cut off is a time-out.

    Raises:
        QueryError: It is cut off.
    """
    try:
        data = json.loads(body)
        if "boolean" in data or isinstance(data["results"]["bindings"], list):
            return dict(data)
    except (ValueError, KeyError, TypeError):
        pass
    raise too_long(seconds)


def credentials(user: str, password: str, token: str) -> dict[str, str]:
    """Gives the headers that authenticate."""
    if token:
        return {"authorization": f"Bearer {token}"}
    if user:
        return {"authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}
    return {}


def shown(url: str) -> str:
    """Gives an address without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def too_long(seconds: float) -> QueryError:
    """Makes the error for a time-out."""
    return QueryError(f"the statement took longer than {seconds:.3g} seconds, or its result was cut off; ask for less")


def cause(error: BaseException) -> str:
    """Gives the cause of a failure on one line."""
    return " ".join(str(error).split())[:120] or type(error).__name__
