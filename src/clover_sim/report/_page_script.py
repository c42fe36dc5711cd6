"""The script of a report: sorting, and sliders over the computed rows. Plain JavaScript, no library.

Where a slider stands on computed values the row itself is shown; between them straight lines between the neighbours,
marked as such. It writes text only (``textContent``), never markup, so that no name from a file can become code.
"""

SCRIPT = r"""
"use strict";
(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var controls = document.getElementById("controls"), answer = document.getElementById("answer");
  var n = data.strategy.length, f = data.figures, STEPS = 20;
  var state = {strategy: 0, accept: [], batch: 0}, shown = {}, places = {}, accepts = [];
  function make(tag, text, into) {
    var e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (into) into.appendChild(e);
    return e;
  }
  function number(v) {
    if (v === null || v === undefined || !isFinite(v)) return "-";
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
  // Where a slider stands: the value, the computed values around it, and how far it is from the lower to the upper.
  function at(s) {
    var low = s.list[Math.floor(s.at)], high = s.list[Math.min(Math.ceil(s.at), s.list.length - 1)], v;
    if (low === high) return {value: low, low: low, high: high, part: 0};
    v = low + (high - low) * (s.at - Math.floor(s.at));
    v = s.whole ? Math.round(v) : Number(v.toPrecision(4));
    if (v === low || v === high) return {value: v, low: v, high: v, part: 0};
    return {value: v, low: low, high: high, part: (v - low) / (high - low)};
  }
  // The first row of a strategy for each combination of the values of these keys.
  function placesOf(keys, strategy) {
    var name = strategy + "\u0001" + keys.join("\u0001"), found = places[name];
    if (found) return found;
    found = places[name] = {};
    for (var i = n - 1; i >= 0; i--) {
      if (data.strategy[i] !== strategy) continue;
      found[keys.map(function (key) { return String(data.settings[key][i]); }).join("\u0001")] = i;
    }
    return found;
  }
  // The computed rows of a strategy around the sliders with their weights; null where one of them is missing.
  function corners(keys, strategy) {
    var known = placesOf(keys, strategy), found = [{weight: 1, parts: []}];
    keys.forEach(function (key) {
      var here = at(shown[key]), next = [];
      found.forEach(function (c) {
        if (here.part < 1) {
          next.push({weight: c.weight * (1 - here.part), parts: c.parts.concat(String(here.low))});
        }
        if (here.part > 0) next.push({weight: c.weight * here.part, parts: c.parts.concat(String(here.high))});
      });
      found = next;
    });
    for (var i = 0; i < found.length; i++) {
      found[i].row = known[found[i].parts.join("\u0001")];
      if (found[i].row === undefined) return null;
    }
    return found;
  }
  // The same for a strategy that is not the chosen one: where it has not the options of the sliders, its first row of
  // that machine, batch and length stands for it.
  function beside(keys, strategy) {
    var own = keys.filter(function (key) {
      return data.settings[key].some(function (v, i) { return v !== null && data.strategy[i] === strategy; });
    });
    return corners(own, strategy) ||
      corners(own.filter(function (key) { return data.options.indexOf(key) < 0; }), strategy);
  }
  function nearest(keys) {
    var best = -1, least = Infinity;
    for (var i = 0; i < n; i++) {
      if (data.strategy[i] !== state.strategy) continue;
      var off = 0;
      keys.forEach(function (key) {
        var v = data.settings[key][i], want = at(shown[key]).value;
        if (v === want) return;
        var both = typeof v === "number" && typeof want === "number";
        off += both ? Math.min(1, Math.abs(v - want) / (Math.abs(want) || 1)) : 1;
      });
      if (off < least) { least = off; best = i; }
    }
    return best;
  }
  function mean(rows, figure) {
    var sum = 0;
    for (var i = 0; i < rows.length; i++) {
      var v = figure(rows[i].row);
      if (v === null || v === undefined || !isFinite(v)) return null;
      sum += rows[i].weight * v;
    }
    return sum;
  }
  function has(i) { return f.latency_s[i] !== null && f.speedup_time[i] !== null; }
  function batchAt() { return data.batch === null ? 0 : Math.round(Math.pow(2, state.batch)); }
  // What a pass costs at the batch of the slider over what it costs at that of the report; null where it is not known.
  function scale(row, which) {
    if (data.batch === null || batchAt() === data.batch.base) return 1;
    var table = data.batch.tables[data.batch[which][row]], x = Math.log2(batchAt()), list = data.batch.values;
    if (table === undefined) return null;
    for (var i = 1; i < list.length; i++) {
      var a = Math.log2(list[i - 1]), b = Math.log2(list[i]);
      if (x <= b || i === list.length - 1) {
        var t = Math.max(0, Math.min(1, (x - a) / (b - a)));
        return Math.exp(Math.log(table[i - 1]) * (1 - t) + Math.log(table[i]) * t);
      }
    }
    return null;
  }
  function times(a, b) { return a === null || b === null ? null : a * b; }
  function expected(a, k) { return a >= 1 ? k + 1 : (1 - Math.pow(a, k + 1)) / (1 - a); }
  // Tokens of a cycle of a row at another acceptance: what it wrote beyond one, scaled by the formula.
  function written(row, a) {
    var c = data.cycles[row], made = f.tokens[row] / f.target_passes[row];
    if (a === null) return made;
    return Math.min(c[0] + 1, 1 + (made - 1) * (expected(a, c[0]) - 1) / (expected(c[1], c[0]) - 1));
  }
  function say(name, value, about) {
    var box = make("span", undefined, answer);
    make("span", name + " ", box);
    make("b", value, box);
    if (about) make("span", " " + about, box);
  }
  function quoted(text) { return /^[\w.,:=+-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'"; }
  function update() {
    answer.textContent = "";
    var keys = Object.keys(shown), rows = corners(keys, state.strategy), missing = rows === null;
    if (missing) {
      var i = nearest(keys);
      if (i < 0) { make("span", "no row", answer); return; }
      rows = [{row: i, weight: 1}];
    }
    var exact = rows.length === 1, batch = batchAt(), moved = data.batch !== null && batch !== data.batch.base;
    var mark = exact && !moved ? "" : "\u2248\u00a0";
    function latency(i) { var s = scale(i, "of"); return has(i) && s !== null ? f.latency_s[i] * s : null; }
    function plain(i) {
      var s = scale(i, "plain");
      return has(i) && s !== null ? f.speedup_time[i] * f.latency_s[i] * s : null;
    }
    function passes(i) { return f.target_passes[i] + f.draft_passes[i]; }
    function gain(i) { return plain(i) / latency(i); }
    var time = mean(rows, latency), tokens = mean(rows, function (i) { return f.tokens[i]; });
    var wrong = mean(rows, function (i) { return f.locked_errors[i]; });
    var base = mean(rows, function (i) { return times(f.speedup_passes[i], passes(i)); });
    var around = "";
    if (!exact) {
      var gains = rows.map(function (r) { return gain(r.row); });
      around = "(neighbours " + number(Math.min.apply(null, gains)) + " to " +
        number(Math.max.apply(null, gains)) + ")";
    }
    say("speed-up in time", mark + number(time === null ? null : mean(rows, plain) / time) + "x", around);
    var counted = exact ? "" : "\u2248\u00a0";
    say("in passes", counted + number(base === null ? null : base / mean(rows, passes)) + "x");
    say("locked errors per 1000 tokens", counted + number(wrong === null ? null : 1000 * wrong / tokens));
    say("tokens/s of a request", mark + number(time === null ? null : tokens / time));
    if (batch > 1) say("in all", mark + number(time === null ? null : batch * tokens / time));
    say("latency", mark + number(time) + " s");
    say("passes", counted + number(mean(rows, function (i) { return f.target_passes[i]; })));
    data.drafts.forEach(function (d, j) {
      var own = d.strategy === state.strategy ? rows : beside(keys, d.strategy), a = state.accept[j];
      var known = own !== null && own.every(function (r) { return data.cycles[r.row] !== null; });
      if (!known) { say(d.name, "-", "no such row was computed"); return; }
      var now = a === null ? data.cycles[own[0].row][1] : a;
      accepts[j](now, a !== null);
      var cost = mean(own, function (i) {
        var s = latency(i);
        return s === null ? null : s * (a === null ? 1 : written(i, null) / written(i, a));
      });
      var as = a === null && own.length === 1 && !moved ? "" : "\u2248\u00a0";
      var gained = cost === null ? null : mean(own, plain) / cost;
      say(d.name + " at acceptance " + now.toFixed(2), as + number(gained) + "x",
        "in time, " + number(mean(own, function (i) { return written(i, a); })) + " tokens a cycle");
    });
    var told = missing ? "No row was computed there; the nearest one is shown." :
      exact ? "A computed row." :
      "Between computed rows: straight lines between " + rows.length + " neighbours, not a simulation.";
    if (moved) told += " Batch " + batch + ": the same passes, each priced for as many equal requests.";
    make("p", told, answer).className = "note";
    if ((!exact || moved) && data.command) {
      var words = data.command;
      keys.forEach(function (key) {
        if (data.axes.indexOf(key) >= 0) words += " --vary " + quoted(key + "=" + at(shown[key]).value);
      });
      var size = data.batch === null ? data.batch_size : batch;
      if (size > 1 && data.axes.indexOf("batch_size") < 0) words += " --batch-size " + size;
      var line = make("p", "To compute it: ", answer);
      line.className = "note";
      make("code", words, line);
    }
    if (exact) answer.dataset.row = String(rows[0].row); else delete answer.dataset.row;
  }
  function labelled(name) {
    var label = make("label", undefined, controls);
    make("span", name, label).id = "s" + controls.children.length;
    return label;
  }
  function slider(name, most, now, text, moved) {
    var label = labelled(name), input = make("input", undefined, label), out = make("output", "", label);
    function tell() {
      out.textContent = text(Number(input.value));
      input.setAttribute("aria-valuetext", out.textContent);
    }
    input.type = "range"; input.min = 0; input.max = most; input.step = 1; input.value = now;
    input.dataset.key = name;
    input.setAttribute("aria-labelledby", label.firstChild.id);
    input.addEventListener("input", function () { moved(Number(input.value)); tell(); update(); });
    tell();
    return function (v) { input.value = v; tell(); };
  }
  function choice(name, list, now, moved) {
    var label = labelled(name), select = make("select", undefined, label);
    select.setAttribute("aria-labelledby", label.firstChild.id);
    list.forEach(function (v, i) { make("option", String(v), select).value = i; });
    select.value = now;
    select.addEventListener("change", function () { moved(Number(select.value)); });
  }
  // What a new set of sliders starts on: what was chosen before, else the best row.
  function start(key, list, before) {
    var was = before[key] === undefined ? -1 : list.indexOf(at(before[key]).low);
    if (was >= 0) return was;
    var known = data.best !== null && data.strategy[data.best] === state.strategy;
    return Math.max(known ? list.indexOf(data.settings[key][data.best]) : -1, 0);
  }
  function build() {
    var before = shown;
    controls.textContent = ""; shown = {};
    if (data.strategies.length > 1) {
      choice("strategy", data.strategies, state.strategy, function (v) { state.strategy = v; build(); });
    }
    Object.keys(data.settings).forEach(function (key) {
      var list = values(key);
      if (list.length < 2) return;
      var first = start(key, list, before), s;
      var numbers = list.every(function (v) { return typeof v === "number"; });
      s = shown[key] = {list: list, at: first, whole: list.every(Number.isInteger)};
      if (!numbers) {
        choice(key, list, first, function (v) { s.at = v; update(); });
        return;
      }
      slider(key, (list.length - 1) * STEPS, first * STEPS,
        function (v) { s.at = v / STEPS; var h = at(s); return (h.part ? "\u2248 " : "") + String(h.value); },
        function (v) { s.at = v / STEPS; });
    });
    if (data.batch !== null) {
      var most = Math.log2(data.batch.values[data.batch.values.length - 1]) * STEPS;
      slider("batch", most, Math.min(Math.round(state.batch * STEPS), most),
        function (v) { return String(Math.round(Math.pow(2, v / STEPS))); },
        function (v) { state.batch = v / STEPS; });
    }
    data.drafts.forEach(function (d, j) {
      if (state.accept[j] === undefined) state.accept[j] = null;
      var set = slider("acceptance of " + d.name, 100, Math.round(100 * (state.accept[j] || 0)),
        function (v) { return (v / 100).toFixed(2); }, function (v) { state.accept[j] = v / 100; });
      accepts[j] = function (a, own) { if (!own) set(Math.round(a * 100)); };
    });
    update();
  }
  if (data.batch !== null) state.batch = Math.log2(data.batch.base);
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
