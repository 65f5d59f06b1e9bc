"""A recorded session as one HTML page for people: nothing is loaded, nothing runs, nothing recorded becomes markup.

Jinja2 is named here only. What the page says is decided in page_view; how it looks, in the template and the style.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from droidpilot.transcript.page_drawing import ArtifactGetter
from droidpilot.transcript.page_view import page_view
from droidpilot.transcript.reader import Transcript
from droidpilot.transcript.verify import Verification

_TEMPLATE = Path(__file__).with_name("page.html.j2")
_STYLE = Path(__file__).with_name("page.css")


def page(transcript: Transcript, verification: Verification, *, artifact: ArtifactGetter) -> str:
    """Write the page. `artifact` reads an artifact by its digest and raises DroidpilotError where it cannot."""
    import jinja2
    from markupsafe import Markup

    style = "\n" + _STYLE.read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        view=page_view(transcript, verification, artifact),
        style=Markup(style),  # ours, and no part of it comes from a session
        policy=_content_policy(style),
    )


def _content_policy(style: str) -> str:
    """Return a policy under which a browser loads nothing, runs nothing and styles with this one style sheet only."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
