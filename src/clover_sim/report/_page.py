"""The frame of a report page: markup, style and the little script. It knows no figures."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from html import escape

from clover_sim.report._page_script import SCRIPT

STYLE = """
:root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--soft:#5c5c5c;--rule:#dcdcdc;--tint:#f4f6f8;--good:#0072b2}
@media (prefers-color-scheme:dark){:root{--ink:#eee;--paper:#161616;--soft:#b4b4b4;--rule:#3a3a3a;--tint:#202428;
--good:#56b4e9}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:16px;
font:16px/1.5 system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem;line-height:1.25;margin:.4em 0}h2{font-size:1.15rem;margin:1.8em 0 .5em;
border-bottom:1px solid var(--rule)}h3{font-size:1rem}
p.verdict{font-size:1.1rem;padding:12px 16px;background:var(--tint);border-left:4px solid var(--good)}
p,li,dd,dt{overflow-wrap:anywhere}p,ul{max-width:80ch}p.verdict{max-width:none}li{margin:.25em 0}
.note{color:var(--soft);font-size:.9rem}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,560px),1fr));gap:12px 20px}
figure{margin:0;overflow-x:auto}figure svg{min-width:560px;max-width:100%;height:auto}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:4px 10px;border-bottom:1px solid var(--rule);text-align:left}td.r small{display:inline-block}
th{vertical-align:bottom}td.r,th.r{text-align:right}td small{color:var(--soft);font-size:.85em;white-space:nowrap}
th button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:2px 0;cursor:pointer;
text-align:inherit}
th[aria-sort=ascending] button::after{content:" \\2191"}th[aria-sort=descending] button::after{content:" \\2193"}
tr.front td{background:var(--tint)}tr.best td{background:var(--tint)}tr.best td:not(.r){font-weight:600}
pre{background:var(--tint);padding:12px;white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:minmax(8em,max-content) 1fr;gap:4px 16px;font-size:.9rem}dt{color:var(--soft)}
dd{margin:0}
#whatif label{display:grid;grid-template-columns:minmax(9em,14em) 1fr 6em;gap:12px;align-items:center;margin:6px 0}
#whatif input,#whatif select{width:100%;min-height:28px}
#whatif select{grid-column:2/4}
#answer{display:flex;flex-wrap:wrap;gap:8px 24px;align-items:baseline;padding:12px 16px;background:var(--tint);
margin-top:8px}
#answer p{flex-basis:100%;margin:0}.narrow{display:none}
#answer b{font-size:1.2rem}
@media (max-width:560px){body{padding:12px;font-size:15px}dl{grid-template-columns:1fr}dt{margin-top:6px}
#whatif label{grid-template-columns:1fr 5em;gap:0 12px}#whatif label span,#whatif select{grid-column:1/3}
.narrow{display:block}
table,thead,tbody{display:block}thead tr{display:flex;flex-wrap:wrap;gap:2px 14px}thead tr::before{content:"Sort by:";
color:var(--soft)}th{border:0;padding:0}tbody tr{display:grid;grid-template-columns:1fr 1fr;gap:0 16px;padding:8px 6px;
border-bottom:1px solid var(--rule)}td,td.r{display:flex;justify-content:space-between;gap:8px;flex-wrap:wrap;border:0;
padding:1px 0;white-space:normal;text-align:right;overflow-wrap:anywhere}
td::before{content:attr(data-h);color:var(--soft);text-align:left}}
@media print{@page{size:A4;margin:14mm}body{max-width:none;padding:0}figure svg{min-width:0}.wide{overflow:visible}
table{font-size:.52rem}th,td{padding:2px;white-space:normal}td.r{white-space:nowrap}
.pictures{display:block}#whatif,.narrow{display:none}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}}
"""


_RIGHT = ' class="r"'


def _hash(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page(title: str, question: str, body: str, data: str) -> str:
    """The whole document. ``body`` is markup, ``data`` JSON without ``<``; the rest is text.

    The policy allows this very script (by its hash), styles of the page, and nothing else: no request of any kind.
    """
    policy = (
        f"default-src 'none'; script-src 'sha256-{_hash(SCRIPT)}'; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(question)}</p>
{body}
<script type="application/json" id="data">{data}</script>
<script>{SCRIPT}</script>
</body>
</html>
"""


def section(name: str, markup: str, key: str = "") -> str:
    """A part of the page under its heading."""
    mark = f' id="{key}"' if key else ""
    return f"<section{mark}>\n<h2>{escape(name)}</h2>\n{markup}\n</section>\n"


def note(text: str, narrow: bool = False) -> str:
    """A remark in small print; ``narrow``: on a narrow screen only."""
    return f'<p class="note{" narrow" if narrow else ""}">{escape(text)}</p>'


def sliders() -> str:
    """Where the script puts its controls and their answer."""
    return '<div id="controls"></div>\n<div id="answer" role="status" aria-live="polite"></div>\n'


def pictures(markup: Sequence[str]) -> str:
    """Pictures side by side where there is room."""
    return f'<div class="pictures">{"".join(f"<figure>{svg}</figure>" for svg in markup)}</div>\n'


def table(head: Sequence[str], rows: Sequence[str], names: int = 0) -> str:
    """A table whose headings sort it; all columns but the first ``names`` hold numbers."""
    cells = "".join(
        f'<th scope="col"{"" if i < names else _RIGHT}><button type="button">{escape(name)}</button></th>'
        for i, name in enumerate(head)
    )
    return (
        f'<div class="wide"><table><thead><tr>{cells}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def pairs(items: Sequence[tuple[str, str]]) -> str:
    """Names and what they mean, both already escaped."""
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{what}</dd>" for name, what in items) + "</dl>"
