"""One model behind an OpenAI-compatible server, for embeddings or chat."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TIMEOUT_SECONDS = 60


class EndpointError(RuntimeError):
    """The model's server could not be reached, refused, or sent something else than was asked for."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: it would carry the key to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model, the base URL of its server, and the environment variable that holds the key, if it needs one."""

    model: str
    url: str
    key_variable: str = ""

    @classmethod
    def of(cls, spec: str) -> Endpoint:
        """Read `MODEL@URL[#KEY_VARIABLE]`; the key itself is never part of a setting.

        >>> Endpoint.of("small@http://127.0.0.1:8080/v1#CHAT_KEY")
        Endpoint(model='small', url='http://127.0.0.1:8080/v1', key_variable='CHAT_KEY')
        """
        model, separator, address = spec.partition("@")
        url, _, key_variable = address.partition("#")
        if not (model and separator and url.startswith(("http://", "https://"))):
            raise ValueError(f"unreadable endpoint {spec!r} (expected MODEL@http(s)://…[#KEY_VARIABLE])")
        return cls(model, url.rstrip("/"), key_variable)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return the reply; raises EndpointError, whose text never holds the key."""
        headers = {"Content-Type": "application/json"}
        if self.key_variable:
            key = os.environ.get(self.key_variable)
            if not key:
                raise EndpointError(f"the environment variable {self.key_variable} holds no key for {self.model}")
            headers["Authorization"] = f"Bearer {key}"
        data = json.dumps({"model": self.model, **body}).encode()
        request = urllib.request.Request(self.url + path, data, headers)  # noqa: S310 (http or https: checked above)
        try:
            with _OPENER.open(request, timeout=TIMEOUT_SECONDS) as reply:
                found = json.load(reply)
        except urllib.error.HTTPError as error:
            error.close()
            raise EndpointError(f"{self.model} at {self.url}: HTTP {error.code}") from None
        except (OSError, ValueError) as error:
            raise EndpointError(f"{self.model} at {self.url}: {error}") from None
        if not isinstance(found, dict):
            raise EndpointError(f"{self.model} at {self.url}: the reply is not a JSON object")
        return found
