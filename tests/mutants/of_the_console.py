"""Mutants of the console: other sites see and change nothing, and what comes from them is text."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant, mutant

GUARDS: Final = "tests/web/test_guards.py::"
GUARD: Final = "orchestrator/web/guard.py"
LIVE: Final = "orchestrator/web/live.py"
_OTHERS_FORMS: Final = GUARDS + "test_a_form_without_the_visitors_token_changes_nothing"
_OTHERS_NEWS: Final = GUARDS + "test_a_page_of_another_site_hears_no_news"
_PLACES: Final = GUARDS + "test_so_many_pages_hear_news_and_those_that_go_leave_their_places"
_CODE: Final = GUARDS + "test_pages_forbid_foreign_code_and_have_none_of_their_own"

OF_THE_CONSOLE: Final[tuple[Mutant, ...]] = (
    mutant(
        "a form of the console carries the visitor's token",
        GUARD,
        "if is_foreign(request) or not known:",
        "if is_foreign(request):",
        _OTHERS_FORMS,
    ),
    mutant(
        "a form that a browser calls another site's is refused whatever it carries",
        GUARD,
        "if is_foreign(request) or not known:",
        "if not known:",
        _OTHERS_FORMS,
    ),
    mutant(
        "a token is of one visitor",
        GUARD,
        "return hmac.digest(self._key, secret.encode(), sha256).hex()",
        'return hmac.digest(self._key, b"", sha256).hex()',
        _OTHERS_FORMS,
    ),
    mutant(
        "only known hosts are answered",
        "orchestrator/api/hosts.py",
        'if scope["type"] != "http" or self._knows(scope):',
        "if True:",
        GUARDS + "test_a_foreign_host_sees_and_changes_nothing",
    ),
    mutant(
        "the APIs take JSON types only",
        "orchestrator/api/content.py",
        "if not is_json(kind):",
        "if False:",
        "tests/api/test_hostile_requests.py::test_a_type_that_a_form_of_another_site_can_send_is_refused",
    ),
    mutant(
        "pages of other sites hear no news",
        "orchestrator/web/console.py",
        "if is_foreign(request):",
        "if False:",
        _OTHERS_NEWS,
    ),
    mutant(
        "pages of other sites embed none of the console's",
        GUARD,
        'if is_foreign(request) and (mode, shown) != ("navigate", "document"):',
        "if False:",
        GUARDS + "test_a_page_of_another_site_may_link_here_and_embed_nothing",
    ),
    mutant(
        "another port is another site",
        GUARD,
        'return site not in ("same-origin", "none")',
        'return site not in ("same-origin", "same-site", "none")',
        _OTHERS_NEWS,
    ),
    mutant(
        "an old browser's word for where a page comes from counts",
        GUARD,
        "return origin is not None and",
        "return False and",
        _OTHERS_NEWS,
    ),
    mutant(
        "so many pages hear news, and no more",
        LIVE,
        "if self._open >= MOST_WATCHERS:",
        "if False:",
        _PLACES,
    ),
    mutant(
        "a page that goes leaves its place",
        LIVE,
        "self._count(-1)",
        "self._count(0)",
        _PLACES,
    ),
    mutant(
        "every answer forbids foreign code",
        GUARD,
        'dress if scope["type"] == "http" else send',
        "send",
        _CODE,
    ),
    mutant(
        "no script stands in a page",
        GUARD,
        "script-src 'self';",
        "script-src 'self' 'unsafe-inline';",
        _CODE,
    ),
    mutant(
        "what a page is given is text",
        "orchestrator/web/render.py",
        "autoescape=True,",
        "autoescape=False,",
        GUARDS + "test_what_comes_from_outside_is_shown_as_text",
    ),
    mutant(
        "what a drawing is given is text",
        "orchestrator/drawing/svg.py",
        "return escape(carried(text), quote=False)",
        "return carried(text)",
        "tests/drawing/test_svg.py::test_hostile_texts_are_text",
    ),
    mutant(
        "what overrides something needs a reason",
        "orchestrator/web/execution_page.py",
        "if not who or not reason:",
        "if not who:",
        "tests/web/test_pages.py::test_a_stop_needs_a_name_and_a_reason_and_stands_in_the_trail",
    ),
)
