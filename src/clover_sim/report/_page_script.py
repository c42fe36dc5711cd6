"""The script of a report: sorting, and sliders that look the nearest row up. Plain JavaScript, no library.

It writes text only (``textContent``), never markup, so that no name from a file can become code.
"""

SCRIPT = r"""
"use strict";
(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var controls = document.getElementById("controls"), answer = document.getElementById("answer");
  var n = data.strategy.length, state = {strategy: 0}, shown = {};
  function make(tag, text, into) {
    var e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (into) into.appendChild(e);
    return e;
  }
  function number(v) {
    if (v === null || v === undefined) return "-";
    return Math.abs(v) >= 1e5 ? v.toExponential(2) : String(Number(v.toPrecision(4)));
  }
  function values(key) {
    var seen = new Map();
    data.settings[key].forEach(function (v, i) {
      if (v !== null && data.strategy[i] === state.strategy) seen.set(v, true);
    });
    return Array.from(seen.keys()).sort(function (a, b) {
      return typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;
    });
  }
  function nearest() {
    var best = -1, least = Infinity;
    for (var i = 0; i < n; i++) {
      if (data.strategy[i] !== state.strategy) continue;
      var off = 0;
      for (var key in shown) {
        var v = data.settings[key][i], want = shown[key].list[shown[key].at];
        if (v === want) continue;
        var both = typeof v === "number" && typeof want === "number";
        off += both ? Math.min(1, Math.abs(v - want) / (Math.abs(want) || 1)) : 1;
      }
      if (off < least) { least = off; best = i; }
    }
    return best;
  }
  function say(name, value) {
    var box = make("span", undefined, answer);
    make("span", name + " ", box);
    make("b", value, box);
  }
  function update() {
    answer.textContent = "";
    var i = nearest(), f = data.figures;
    if (i < 0) { make("span", "no row", answer); return; }
    say("speed-up in time", number(f.speedup_time[i]) + "x");
    say("in passes", number(f.speedup_passes[i]) + "x");
    var wrong = f.locked_errors[i];
    say("locked errors per 1000 tokens", number(wrong === null ? null : 1000 * wrong / f.tokens[i]));
    say("tokens/s", number(f.tokens_per_s[i]));
    say("latency", number(f.latency_s[i]) + " s");
    say("passes", number(f.target_passes[i]));
    answer.dataset.row = String(i);
    (data.drafts || []).forEach(function (d, j) {
      var a = state["accept" + j];
      if (a === undefined) return;
      var tokens = a >= 1 ? d.k + 1 : (1 - Math.pow(a, d.k + 1)) / (1 - a);
      var gain = number(tokens) + " tokens a cycle, " + number(tokens * d.token_s / d.cycle_s) + "x in time";
      say(d.name + " at acceptance " + a.toFixed(2), gain);
    });
  }
  function slider(name, length, at, text, moved) {
    var label = make("label", undefined, controls), title = make("span", name, label);
    var input = make("input", undefined, label), out = make("output", text(at), label);
    input.type = "range"; input.min = 0; input.max = length - 1; input.step = 1; input.value = at;
    input.dataset.key = name; title.id = "s" + controls.children.length;
    input.setAttribute("aria-labelledby", title.id);
    input.addEventListener("input", function () {
      var v = Number(input.value);
      out.textContent = text(v);
      input.setAttribute("aria-valuetext", text(v));
      moved(v);
      update();
    });
  }
  function build() {
    controls.textContent = ""; shown = {};
    if (data.strategies.length > 1) {
      var label = make("label", undefined, controls);
      make("span", "strategy", label);
      var select = make("select", undefined, label);
      select.setAttribute("aria-label", "strategy");
      data.strategies.forEach(function (s, i) { make("option", s, select).value = i; });
      select.value = state.strategy;
      select.addEventListener("change", function () { state.strategy = Number(select.value); build(); });
    }
    Object.keys(data.settings).forEach(function (key) {
      var list = values(key);
      if (list.length < 2) return;
      var known = data.best !== null && data.strategy[data.best] === state.strategy;
      var first = known ? list.indexOf(data.settings[key][data.best]) : -1;
      shown[key] = {list: list, at: Math.max(first, 0)};
      slider(key, list.length, shown[key].at, function (v) { return String(list[v]); },
        function (v) { shown[key].at = v; });
    });
    (data.drafts || []).forEach(function (d, j) {
      var at = Math.round((state["accept" + j] === undefined ? d.a : state["accept" + j]) * 100);
      state["accept" + j] = at / 100;
      slider("acceptance of " + d.name, 101, at, function (v) { return (v / 100).toFixed(2); },
        function (v) { state["accept" + j] = v / 100; });
    });
    update();
  }
  if (data.best !== null) state.strategy = data.strategy[data.best];
  else state.strategy = data.strategies.length - 1;
  build();
  document.querySelectorAll("table").forEach(function (table) {
    var body = table.tBodies[0];
    table.querySelectorAll("th").forEach(function (th, column) {
      th.querySelector("button").addEventListener("click", function () {
        var down = th.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("th").forEach(function (o) { o.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        var rows = Array.from(body.rows), key = function (r) {
          var c = r.cells[column], v = c.dataset.v;
          return v === undefined ? c.textContent : Number(v);
        };
        rows.sort(function (a, b) {
          var x = key(a), y = key(b), same = typeof x === typeof y;
          var o = same ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
          return down ? -o : o;
        });
        rows.forEach(function (r) { body.appendChild(r); });
      });
    });
  });
})();
"""
