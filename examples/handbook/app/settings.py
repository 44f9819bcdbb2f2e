"""The options that both servers share, and the application that they describe."""

from __future__ import annotations

import argparse

from examples.handbook.app.chat import ChatAnswerer
from examples.handbook.app.embedding import from_spec
from examples.handbook.app.endpoint import Endpoint
from examples.handbook.app.parts import Parts
from examples.handbook.app.pipeline import CONFIGS, HYBRID_RERANK, Handbook

LONGEST_QUESTION = 4000
MOST_RESULTS = 50


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose and shape the application."""
    parser.add_argument("--config", choices=CONFIGS, default=HYBRID_RERANK)
    parser.add_argument(
        "--fault", action="append", default=[], metavar="CAUSE:VARIANT", help="switch a fault on; may be repeated"
    )
    parser.add_argument("--embedding", default="hashed", help="hashed, dir:PATH or openai:MODEL@URL[#KEY_VARIABLE]")
    parser.add_argument(
        "--chat", metavar="MODEL@URL[#KEY_VARIABLE]", help="let an OpenAI-compatible model write the answers"
    )


def application(options: argparse.Namespace) -> Handbook:
    """Return the application that the options describe; raises ValueError for one that cannot be."""
    embedder = from_spec(options.embedding)
    if options.chat is None:
        return Handbook(options.config, options.fault, parts=Parts(embedder=embedder))
    endpoint = Endpoint.of(options.chat)
    parts = Parts(embedder=embedder, generate=ChatAnswerer(endpoint))
    return Handbook(options.config, options.fault, parts=parts, generator=endpoint.model)


def identity(tenant: str | None, roles: str | None, position: str | None = None) -> dict[str, object]:
    """Return the user that the headers `x-tenant`, `x-roles` (comma-separated) and `x-position` describe.

    The handbook has nothing that only a reader's position opens, so a position is checked and then ignored.

    >>> identity("company_a", "hr, finance")
    {'tenant': 'company_a', 'roles': ['hr', 'finance']}
    """
    if position:
        float(position)
    named = [role.strip() for role in (roles or "").split(",")]
    return {"tenant": tenant or None, "roles": [role for role in named if role]}
