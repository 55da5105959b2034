"""The style of a picture: one sheet for light and dark, coloured by classes and `data-mark`."""

from __future__ import annotations

from typing import Final

STYLE: Final = """\
.machine {
  --m-canvas: #ffffff; --m-box: #ffffff; --m-frame: #f6f8fa; --m-border: #c4ccd6;
  --m-ink: #1c2530; --m-muted: #5b6775; --m-line: #7b8794;
  --m-blue: #2563c9; --m-green: #1a7f4b; --m-red: #c2352b; --m-amber: #9a6200;
  --m-violet: #7a48c2; --m-grey: #6b7580;
  --m-blue-tint: #e8f0fd; --m-green-tint: #e6f5ec; --m-red-tint: #fdebe9;
  --m-amber-tint: #fdf3dd; --m-violet-tint: #f2ebfc; --m-grey-tint: #eceff2;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  .machine {
    --m-canvas: #12161c; --m-box: #1c222b; --m-frame: #171c23; --m-border: #414b58;
    --m-ink: #e7ebf0; --m-muted: #a3aebb; --m-line: #8592a1;
    --m-blue: #7fb0ff; --m-green: #5fc890; --m-red: #ff8f85; --m-amber: #e5b454;
    --m-violet: #c3a0f7; --m-grey: #a0abb7;
    --m-blue-tint: #1a2b47; --m-green-tint: #17301f; --m-red-tint: #3d1f1d;
    --m-amber-tint: #352a12; --m-violet-tint: #2c2140; --m-grey-tint: #262d36;
  }
}
.machine .canvas { fill: var(--m-canvas); }
.machine .box { fill: var(--m-box); stroke: var(--m-border); stroke-width: 1.25; }
.machine .frame { fill: var(--m-frame); stroke: var(--m-border); stroke-dasharray: 2 3; }
.machine text { fill: var(--m-ink); unicode-bidi: isolate; }
.machine .name { font-size: 13px; font-weight: 600; }
.machine .row { font-size: 11px; fill: var(--m-muted); }
.machine .row-undo { fill: var(--m-violet); }
.machine .row-timer { fill: var(--m-amber); }
.machine .row-call { fill: var(--m-blue); }
.machine .icon {
  fill: none; stroke: var(--m-muted); stroke-width: 1.5;
  stroke-linecap: round; stroke-linejoin: round;
}
.machine .state-succeed .icon { stroke: var(--m-green); }
.machine .state-fail .icon { stroke: var(--m-red); }
.machine .state-compensate .icon { stroke: var(--m-violet); }
.machine .state-await .icon { stroke: var(--m-blue); }
.machine .line { fill: none; stroke: var(--m-line); stroke-width: 1.25; }
.machine .head { fill: var(--m-line); }
.machine .label { font-size: 11px; text-anchor: middle; fill: var(--m-muted); }
.machine .plate { fill: var(--m-canvas); }
.machine .plate-inside { fill: var(--m-frame); }
.machine .edge-error .line { stroke: var(--m-red); stroke-dasharray: 4 3; }
.machine .edge-error .head { fill: var(--m-red); }
.machine .edge-error .label { fill: var(--m-red); }
.machine .edge-call .line { stroke: var(--m-blue); }
.machine .edge-call .head { fill: var(--m-blue); }
.machine .edge-call .label { fill: var(--m-blue); }
.machine .edge-timer .line { stroke: var(--m-amber); stroke-dasharray: 1.5 3; stroke-width: 1.75; }
.machine .edge-timer .head { fill: var(--m-amber); }
.machine .edge-timer .label { fill: var(--m-amber); }
.machine .edge-undo .line { stroke: var(--m-violet); stroke-dasharray: 4 3; }
.machine .edge-undo .head { fill: var(--m-violet); }
.machine .edge-undo .label { fill: var(--m-violet); }
.machine .start { fill: var(--m-line); }
.machine .end { fill: var(--m-canvas); stroke: var(--m-line); stroke-width: 1.5; }
.machine .end-core { fill: var(--m-line); }
.machine a:focus-visible .box { stroke: var(--m-blue); stroke-width: 3; }
.machine a:hover .name { text-decoration: underline; }
.machine [data-mark] .box { stroke-width: 2; }
.machine [data-mark="done"] .box { fill: var(--m-green-tint); stroke: var(--m-green); }
.machine [data-mark="running"] .box {
  fill: var(--m-blue-tint); stroke: var(--m-blue); stroke-width: 2.75;
}
.machine [data-mark="waiting"] .box {
  fill: var(--m-amber-tint); stroke: var(--m-amber); stroke-dasharray: 6 4;
}
.machine [data-mark="failed"] .box {
  fill: var(--m-red-tint); stroke: var(--m-red); stroke-width: 2.75;
}
.machine [data-mark="caught"] .box {
  fill: var(--m-red-tint); stroke: var(--m-red); stroke-dasharray: 3 3;
}
.machine [data-mark="cancelled"] .box {
  fill: var(--m-grey-tint); stroke: var(--m-grey); stroke-dasharray: 1 4;
}
.machine [data-mark="compensated"] .box { fill: var(--m-violet-tint); stroke: var(--m-violet); }
.machine [data-mark="blocked"] .box {
  fill: var(--m-violet-tint); stroke: var(--m-red); stroke-dasharray: 8 3;
}
"""
