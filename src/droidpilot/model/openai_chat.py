"""OpenAIChat: any OpenAI-compatible endpoint as a Model. Tries, counts, waits, and makes one reply out of it.

retries.py says when to try again, openai_wire.py sends, reply.py collects. This room never knows what a tool does.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import ModelError, ModelRejected, ModelUnusable
from droidpilot.core.stop import Stop
from droidpilot.model.client import ModelReply, ModelRequest, Usage
from droidpilot.model.estimate import estimate_tokens
from droidpilot.model.failures import AttemptFailed, Failure, connection_failure, stream_failure
from droidpilot.model.openai_wire import Wire
from droidpilot.model.provider import ModelSettings
from droidpilot.model.reply import CUT, Draft, StreamError
from droidpilot.model.retries import MOST_EMPTY_RETRIES, MOST_RETRIES, empty_pause_s, pause_s, retry_notice
from droidpilot.model.usage import add


class OpenAIChat:
    """A Model over the chat-completions wire format.

    A reply whose stream broke off is kept where only text had come (finish_reason `cut`), and asked for again where a
    call had begun. A blocked read ends after 120 s or `timeout_s`, whichever is shorter.
    """

    def __init__(
        self, settings: ModelSettings, *, clock: Clock, on_retry: Callable[[str], None] = lambda _words: None
    ) -> None:
        """`on_retry` is told in words why a request is sent again, and when, before the pause."""
        self._settings = settings
        self._on_retry = on_retry
        self._clock = clock
        self._total = Usage()
        self._wire: Wire | None = None

    @property
    def name(self) -> str:
        return self._settings.model

    @property
    def total(self) -> Usage:
        """What all requests so far cost, those included that failed."""
        return self._total

    def prepare(self) -> None:
        """Load the client library (about a second) and build the client, so that the first `ask` need not.

        Raises:
            ConfigError: a proxy or certificate variable cannot be used.
        """
        if self._wire is None:
            self._wire = Wire(self._settings, self._clock)

    def close(self) -> None:
        """Close the connection; the next `ask` opens a new one."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def ask(self, request: ModelRequest, *, on_text: Callable[[str], None], stop: Stop, timeout_s: float) -> ModelReply:
        """Send one request and stream the reply; see the port.

        Raises:
            ModelUnreachable: no whole answer after the retries; code `model_timeout` where `timeout_s` is over.
            ModelRejected: the endpoint refuses, or a content filter does (code `content_filter`).
            ModelUnusable: the answer is larger than any answer has reason to be.
            Interrupted: a person stopped us.
        """
        before = self._total
        try:
            return self._ask(request, on_text=on_text, stop=stop, deadline=Deadline.after(self._clock, timeout_s))
        except ModelError as error:
            error.spent_tokens = self._total.tokens - before.tokens
            after_usd, before_usd = self._total.usd, before.usd
            error.spent_usd = None if after_usd is None or before_usd is None else after_usd - before_usd
            raise

    def _ask(
        self, request: ModelRequest, *, on_text: Callable[[str], None], stop: Stop, deadline: Deadline
    ) -> ModelReply:
        spent = Usage()
        attempts = failures = empties = 0
        while True:
            stop.check()
            attempts += 1
            if attempts > 1:
                on_text("")
            draft = Draft()
            failed: Failure | None = None
            try:
                self._send(request, draft, on_text=on_text, stop=stop, deadline=deadline)
            except AttemptFailed as attempt:
                failed = attempt.failure
            finally:
                spent = self._count(spent, draft, request)
            if failed is not None:
                if self._wire is not None and self._wire.adapt(failed):
                    continue
                failures += 1
                if not failed.is_retried or failures > MOST_RETRIES:
                    raise failed.error
                pause = pause_s(failures, failed.retry_after_s)
                notice = retry_notice(failed.error.message, pause, failures + 1, MOST_RETRIES + 1)
                self._pause(pause, failed.error, notice, stop=stop, deadline=deadline)
                continue
            if draft.finish_reason == "content_filter":
                raise ModelRejected(
                    f"{self.name} declined: the endpoint's content filter ended the reply",
                    code="content_filter",
                    hint="word the goal differently, or choose another model",
                )
            if draft.is_empty and empties < MOST_EMPTY_RETRIES:
                empties += 1
                pause = empty_pause_s(empties)
                notice = retry_notice(f"{self.name} sent an empty reply", pause, empties + 1, MOST_EMPTY_RETRIES + 1)
                self._pause(pause, None, notice, stop=stop, deadline=deadline)
                continue
            return draft.reply(usage=spent, asked_model=self.name, attempts=attempts)

    def _send(
        self,
        request: ModelRequest,
        draft: Draft,
        *,
        on_text: Callable[[str], None],
        stop: Stop,
        deadline: Deadline,
    ) -> None:
        """Send once and fill `draft`. Raises AttemptFailed where no usable reply came."""
        self.prepare()  # not interruptible: an import that is cut leaves half a library behind
        assert self._wire is not None
        try:
            with stop.interruptible():
                with closing(self._wire.stream(request, deadline=deadline, stop=stop)) as chunks:
                    for chunk in chunks:
                        piece = draft.add(chunk)
                        if piece:
                            on_text(piece)
                piece = draft.finish()
                if piece:
                    on_text(piece)
        except StreamError as error:
            raise AttemptFailed(stream_failure(error.message, error.status, self._settings)) from None
        except AttemptFailed as attempt:
            # Behind a finish_reason only the usage is missing; text alone is kept as it came (T52, B46).
            if not attempt.failure.keeps_text or not (draft.finish_reason or (draft.has_text and not len(draft.calls))):
                raise
        if not draft.finish_reason:
            if len(draft.calls) or not draft.has_text:
                what = "ended in the middle of a call" if len(draft.calls) else "ended without an answer"
                error_text = f"the stream of {self._settings.endpoint.host} {what}"
                raise AttemptFailed(connection_failure(error_text, "", self._settings))
            draft.finish_reason = CUT

    def _count(self, spent: Usage, draft: Draft, request: ModelRequest) -> Usage:
        if not draft.is_started:
            return spent
        usage = draft.usage(
            prices=self._settings.prices, prompt_estimate=lambda: estimate_tokens(request.messages, request.tools)
        )
        self._total = add(self._total, usage)
        return add(spent, usage)

    def _pause(self, seconds: float, error: ModelError | None, notice: str, *, stop: Stop, deadline: Deadline) -> None:
        if seconds >= deadline.left_s():
            raise error or ModelUnusable(f"{self.name} sent an empty reply, and the time is over")
        self._on_retry(notice)
        with stop.interruptible():
            self._clock.sleep(seconds)
