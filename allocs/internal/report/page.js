'use strict';
const D = JSON.parse(document.getElementById('data').textContent);
const RANK = { none: 0, cold: 1, grows: 2, unknown: 3, always: 4 };
const WORDS = {
  always: 'allocates each time', unknown: 'can allocate, and nothing shows whether it does',
  grows: 'only beyond a size', cold: 'only on errors, first use or while warming up', none: 'does not allocate',
};

// el makes an element: class names behind dots, attributes, children.
function el(what, attrs, ...children) {
  const [tag, ...classes] = what.split('.');
  const e = document.createElement(tag || 'div');
  if (classes.length) e.className = classes.filter(Boolean).join(' ');
  for (const k in attrs) {
    if (k.startsWith('on')) e.addEventListener(k.slice(2), attrs[k]);
    else if (attrs[k] !== undefined && attrs[k] !== false) e.setAttribute(k, attrs[k] === true ? '' : attrs[k]);
  }
  e.append(...children.flat().filter(c => c !== undefined && c !== null && c !== ''));
  return e;
}
function svg(width, height, ...rects) {
  const make = (tag, attrs) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const k in attrs) e.setAttribute(k, attrs[k]);
    return e;
  };
  const s = make('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  s.append(...rects.map(r => make('rect', r)));
  return s;
}
// prose sets what is between backticks as code.
const prose = text => text && text.split('`').map((part, i) => i % 2 ? el('code', {}, part) : part);
const plural = (n, one, many) => `${n} ${n === 1 ? one : many || one + 's'}`;
const number = n => String(Math.round(n * 100) / 100);
const worst = answers => answers.reduce((w, a) => RANK[a.verdict] > RANK[w] ? a.verdict : w, 'none');
const perOp = answers => Math.max(0, ...answers.flatMap(a => (a.evidence?.runs || []).map(r => r.per_op)));
const fileName = f => D.files[f].name;

// What is needed of each root again and again.
D.answers = D.answers || []; D.places = D.places || []; D.chains = D.chains || []; D.frames = D.frames || []; D.files = D.files || [];
const verdictOf = D.answers.map(worst);
const roots = D.roots.map((r, i) => {
  const w = r.verdicts.reduce((a, v) => RANK[v] > RANK[a] ? v : a, 'none');
  const changes = D.changes.filter(c => c.root === i);
  const text = [r.title, r.id, fileName(r.file)];
  const patterns = new Set();
  for (const [p, a] of r.sites) {
    const place = D.places[p];
    text.push(place.func, fileName(place.file), place.reason, place.pattern || '', place.callee || '');
    if (verdictOf[a] === 'always') patterns.add(place.pattern || 'other');
  }
  const conflict = r.sites.some(s => D.answers[s[1]].some(a => a.conflict));
  return { ...r, i, worst: w, changes, patterns, conflict, text: [...new Set(text)].join('\n').toLowerCase() };
});
const groupOf = r => r.over || r.changes.some(c => c.kind === 'worse' || c.kind === 'new') ? 0 : r.worst === 'always' ? 1 : r.worst === 'unknown' ? 2 : 3;
const GROUPS = ['Above what is allowed, or worse than before', 'Allocates', 'Can allocate: nothing shows that it does or does not', 'Clean: nothing, or only what grows and what is cold'];

const state = { text: '', verdicts: new Set(), pattern: '', changed: false };

// ---- the head

function head() {
  const over = roots.filter(r => r.over).length, clean = roots.filter(r => groupOf(r) === 3).length;
  const allocating = roots.filter(r => r.worst === 'always').length;
  const theme = el('button.tool', { title: 'light or dark', onclick: () => setTheme(isDark() ? 'light' : 'dark') }, 'Theme');
  const names = D.toolchains.map(t => t.name).join(', ');
  document.getElementById('top').append(
    el('.head', {}, el('', {}, el('h1', {}, ...D.module.split('/').flatMap((x, i) => i ? ['/', el('wbr'), x] : [x])), el('p.soft', {}, names)),
      el('.tools', {}, theme, el('button.tool', { title: 'keys and words', onclick: () => document.getElementById('help').showModal() }, 'Help'))),
    el('p.sum', {}, plural(roots.length, 'root'), ': ',
      over ? el('b.always', {}, plural(over, 'is', 'are').replace(/^(\d+) (is|are)/, '$1 above what is allowed')) : el('b.none', {}, 'none above what is allowed'),
      ', ', el('b' + (allocating ? '.always' : '.none'), {}, `${allocating} with a line that always allocates`), `, ${clean} clean.`),
    ...D.toolchains.filter(t => t.trouble).map(t => el('p.trouble', {}, el('b', {}, t.name + ' '), 'evidence that could not be had: ' + t.trouble.join('\n'))),
    el('.panels', {}, ...[changesPanel(), releasesPanel(), patternsPanel()].filter(Boolean)));
}

function changesPanel() {
  if (!D.baseline) return null;
  const kinds = ['worse', 'new', 'better', 'gone'];
  const same = new Map(); // what is the same on several releases is one line
  for (const c of kinds.flatMap(k => D.changes.filter(c => c.kind === k))) {
    const key = [c.kind, c.name, c.place, c.place < 0 ? c.text : ''].join('\n');
    if (same.has(key)) same.get(key).toolchain += ', ' + c.toolchain; else same.set(key, { ...c });
  }
  const list = [...same.values()];
  const line = c => el('button.change', { onclick: () => c.root >= 0 && go(c.root, { place: c.place }), disabled: c.root < 0 },
    el('span.badge.' + c.kind, {}, c.kind), el('span', {}, el('span.mono', {}, c.name), ' ', el('span.soft', {}, c.toolchain), el('br'), c.place >= 0 ? prose(D.places[c.place].reason) : c.text.split(': ').slice(1).join(': ')));
  const panel = el('section.panel', { id: 'changes' }, el('h2', {}, 'Since the baseline'));
  if (!list.length) panel.append(el('p', {}, 'Nothing has changed.'));
  const few = innerWidth < 700 ? 2 : 5;
  panel.append(...list.slice(0, few).map(line));
  if (list.length > few) {
    const more = el('button.more', { onclick: () => { more.replaceWith(...list.slice(few).map(line)); } }, `${list.length - few} more`);
    panel.append(more);
  }
  return panel;
}

// sitesBy counts places, each once however many roots come by it.
function sitesOn(t) {
  const seen = new Map();
  for (const r of roots) for (const [p, a] of r.sites) {
    const v = D.answers[a][t].verdict;
    if (!seen.has(p) || RANK[v] > RANK[seen.get(p)]) seen.set(p, v);
  }
  const n = { always: 0, unknown: 0, grows: 0, cold: 0 };
  for (const v of seen.values()) if (v in n) n[v]++;
  return n;
}

function releasesPanel() {
  const counts = D.toolchains.map((_, t) => sitesOn(t));
  const most = Math.max(1, ...counts.map(c => c.always + c.unknown + c.grows + c.cold));
  const rows = counts.flatMap((c, t) => {
    let x = 0;
    const rects = Object.keys(c).map(v => { const r = { class: v, x, y: 0, width: c[v], height: 10 }; x += c[v]; return r; });
    const words = Object.keys(c).map(v => `${c[v]} ${v}`).join(', ');
    return [el('span.mono', {}, D.toolchains[t].line), el('span', { title: words, role: 'img', 'aria-label': words }, svg(most, 10, ...rects)), el('span.num', {}, plural(c.always, 'always', 'always'))];
  });
  return el('section.panel', {}, el('h2', {}, 'Sites by verdict and Go release'), el('.stack', {}, ...rows),
    el('.legend', {}, ...['always', 'unknown', 'grows', 'cold'].map(v => el('span', { title: WORDS[v] }, el('i.' + v), v))));
}

function patternsPanel() {
  const seen = new Map();
  for (const r of roots) for (const [p, a] of r.sites) {
    if (verdictOf[a] !== 'always') continue;
    const name = D.places[p].pattern || 'other';
    if (!seen.has(name)) seen.set(name, new Set());
    seen.get(name).add(p);
  }
  if (!seen.size) return null;
  const list = [...seen].map(([name, s]) => [name, s.size]).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 12);
  const most = list[0][1];
  return el('section.panel', {}, el('h2', {}, 'What allocates'), el('.bars', {}, ...list.map(([name, n]) =>
    el('button', { 'data-pattern': name, 'aria-pressed': 'false', title: 'show only these', onclick: () => setPattern(state.pattern === name ? '' : name) },
      el('span.mono', {}, name), svg(100, 10, { class: 'always', x: 0, y: 0, width: 100 * n / most, height: 10, rx: 1 }), el('span.num', {}, n)))));
}

function setPattern(name) {
  state.pattern = name;
  document.querySelectorAll('[data-pattern]').forEach(b => b.setAttribute('aria-pressed', String(b.dataset.pattern === name)));
  draw();
}

// ---- filter and matrix

const search = el('input', { id: 'q', type: 'search', placeholder: 'Search functions, files, reasons  ( / )', 'aria-label': 'search', oninput: () => { state.text = search.value.trim().toLowerCase(); draw(); } });
const count = el('span.count', { 'aria-live': 'polite' });
const list = el('', { id: 'list' });
let openGroups = new Set([0, 1, 2]);
const rows = new Map(); // of the roots that have been drawn

function filterBar() {
  const chip = (v, what, on) => el('button.chip.' + v, { 'aria-pressed': 'false', title: WORDS[v] || '', onclick: e => { on(); e.currentTarget.setAttribute('aria-pressed', String(e.currentTarget.getAttribute('aria-pressed') !== 'true')); draw(); } }, what);
  const toggle = v => () => state.verdicts.has(v) ? state.verdicts.delete(v) : state.verdicts.add(v);
  return el('.filter', { role: 'search' }, search, ...['always', 'unknown', 'grows', 'cold', 'none'].map(v => chip(v, v, toggle(v))),
    D.changes.length ? chip('changed', 'changed', () => { state.changed = !state.changed; }) : null, count);
}

const words = () => state.text.split(/\s+/).filter(Boolean);
function shown(r) {
  return words().every(w => r.text.includes(w)) && (!state.verdicts.size || state.verdicts.has(r.worst)) &&
    (!state.pattern || r.patterns.has(state.pattern)) && (!state.changed || r.changes.length);
}
const filtering = () => state.text || state.verdicts.size || state.pattern || state.changed;

function draw() {
  const groups = [[], [], [], []];
  let n = 0;
  for (const r of roots) if (shown(r)) { groups[groupOf(r)].push(r); n++; }
  groups[0].sort((a, b) => b.over - a.over);
  count.textContent = filtering() ? `${n} of ${plural(roots.length, 'root')}` : plural(roots.length, 'root');
  const open = g => openGroups.has(g) || Boolean(filtering());
  list.replaceChildren(...groups.flatMap((rs, g) => {
    if (!rs.length) return [];
    const body = el('', {});
    const title = el('button.title', { 'aria-expanded': String(open(g)), onclick: () => { openGroups.has(g) ? openGroups.delete(g) : openGroups.add(g); draw(); } }, GROUPS[g], el('span.soft', {}, String(rs.length)));
    if (open(g)) body.append(releases(), ...rs.map(row));
    return [el('section.group', { 'data-group': g }, title, body)];
  }));
  if (!n) list.append(el('p.notice.soft', {}, 'No root has that. Esc clears the search.'));
}

function releases() {
  const e = el('.releases', {}, el('span', {}), ...D.toolchains.map(t => el('span.mono', {}, t.line.replace(/^go/, ''))));
  e.style.setProperty('--releases', D.toolchains.length);
  return e;
}

function row(r) {
  if (rows.has(r.i)) return rows.get(r.i);
  const kinds = [...new Set(r.changes.map(c => c.kind))];
  const name = el('button.name', { 'aria-expanded': 'false', 'data-root': r.i, onclick: () => toggle(r.i) },
    el('span.mono', {}, r.title), el('span.soft', {}, `${fileName(r.file)}:${r.line}`, r.allowed !== undefined ? ` · allowed ${r.allowed}` : '',
      ...(r.over ? [el('span.badge.always', {}, 'above')] : []), ...kinds.map(k => el('span.badge.' + k, {}, k)), ...(r.conflict ? [el('span.badge.unknown', {}, 'sources disagree')] : [])));
  const cells = r.verdicts.map((v, t) => {
    const text = v === 'always' ? '×' + r.allocs[t] : v === 'none' ? '0' : v;
    const title = `${D.toolchains[t].name}: ${WORDS[v]}${v === 'always' ? ' (' + r.allocs[t] + ')' : ''}`;
    return el('button.cell.' + v, { title, 'aria-label': title, 'data-cell': `${r.i}-${t}`, onclick: () => go(r.i, { toolchain: t }) }, el('small', {}, D.toolchains[t].line.replace(/^go/, '')), text);
  });
  const line = el('.row', {}, name, ...cells);
  line.style.setProperty('--releases', D.toolchains.length);
  const e = el('article.root', { id: 'root-' + r.i }, line);
  rows.set(r.i, e);
  return e;
}

function toggle(i, want) {
  const e = row(roots[i]), name = e.querySelector('.name');
  const open = want === undefined ? !e.classList.contains('open') : want;
  if (open === e.classList.contains('open')) return e;
  e.classList.toggle('open', open);
  name.setAttribute('aria-expanded', String(open));
  if (open) e.append(detail(roots[i])); else e.querySelector('.detail').remove();
  history.replaceState(null, '', open ? '#' + encodeURIComponent(roots[i].id) : location.pathname + location.search);
  return e;
}

// go opens a root and comes to the site that is meant: a place, or the worst on
// a toolchain.
function go(i, { toolchain, place } = {}) {
  const r = roots[i];
  if (!shown(r)) { clear(); }
  if (!openGroups.has(groupOf(r))) { openGroups.add(groupOf(r)); draw(); }
  const e = toggle(i, true);
  let n = -1, best = -1;
  r.sites.forEach(([p, a], k) => {
    const rank = place !== undefined && place >= 0 ? (p === place ? 9 : -1) : toolchain === undefined ? -1 : RANK[D.answers[a][toolchain].verdict];
    if (rank > best) { best = rank; n = k; }
  });
  if (n < 0 || best === 0) { e.scrollIntoView({ block: 'start' }); return; }
  toSite(i, n);
}

function toSite(i, n) {
  const site = showSite(i, n);
  document.querySelectorAll('.here').forEach(x => x.classList.remove('here'));
  site.classList.add('here');
  site.scrollIntoView({ block: 'center' });
  site.focus({ preventScroll: true });
}

// ---- what is below a root

function detail(r) {
  const facts = [`${r.func}, lines ${r.line} to ${r.end}`];
  if (r.runs) facts.push('allocates in ' + r.runs.join(', '));
  if (r.unfollowed) facts.push(plural(r.unfollowed, 'dynamic call') + ' not followed');
  if (r.kind !== 'log call') facts.push(r.kind === 'named' ? 'named by --root' : 'carries an //alloc: comment');
  const d = el('.detail', {}, el('p.facts', {}, facts.join(' · ')),
    el('.main', {}, el('h2', {}, r.sites.length ? 'Source' : 'Nothing is allocated below it'), ...blocks(r)));
  if (r.sites.length) d.append(el('.side', {}, el('h2', {}, 'Calls from here to what allocates'), tree(r)));
  return d;
}

// blocks shows the root's own lines first, then those of the functions below
// it, the worst first.
function blocks(r) {
  const parts = new Map();
  const own = `${r.file}/own`;
  parts.set(own, { file: r.file, func: r.func, sites: [], rank: 9, from: r.line, to: r.end });
  r.sites.forEach(([p, a], k) => {
    const place = D.places[p];
    let key = place.file === r.file && place.line >= r.line && place.line <= r.end ? own : place.file + '/' + place.func;
    if (key !== own && RANK[verdictOf[a]] <= RANK.grows) key += '/quiet';
    if (!parts.has(key)) parts.set(key, { file: place.file, func: place.func, sites: [], rank: 0 });
    const b = parts.get(key);
    b.sites.push({ k, place, verdict: verdictOf[a] });
    b.rank = Math.max(b.rank, RANK[verdictOf[a]]);
  });
  const sorted = [...parts.values()].sort((a, b) => b.rank - a.rank);
  const loud = sorted.filter(b => b.rank > RANK.grows), quiet = sorted.filter(b => b.rank <= RANK.grows);
  const out = loud.map(b => block(r, b));
  if (quiet.length) {
    const d = el('details', { class: 'quiet' }, el('summary', { class: 'more' }, 'what only grows or is cold, in ' + plural(quiet.length, 'function') + ' below'));
    d.addEventListener('toggle', () => { if (d.open && d.children.length === 1) d.append(...quiet.map(b => block(r, b))); });
    out.push(d);
  }
  return out;
}

const near = 4;
function block(r, b) {
  const keep = new Set(), at = new Map();
  const span = (from, to) => { for (let n = from; n <= to; n++) keep.add(n); };
  if (b.from !== undefined) {
    const log = r.kind === 'log call', long = b.to - b.from > 60;
    if (!long) span(b.from - (log ? near : 0), b.to + (log ? near : 0)); else span(b.from, b.from + 2);
  }
  for (const s of b.sites) {
    span(s.place.line - near, s.place.line + near);
    at.set(s.place.line, [...(at.get(s.place.line) || []), s]);
  }
  const lines = D.files[b.file].parts.flatMap(p => p.lines.map((text, k) => [p.first + k, text])).filter(([n]) => keep.has(n));
  const ol = el('ol', {});
  let last = 0;
  for (const [n, text] of lines) {
    if (last && n > last + 1) ol.append(el('li.gap', {}, '⋯'));
    last = n;
    ol.append(...codeLine(r, n, text, at.get(n)));
  }
  if (!lines.length) for (const [n, sites] of at) ol.append(...codeLine(r, n, '(the source could not be read)', sites));
  return el('section.block', {}, el('.where', {}, el('span.mono', {}, b.func.replace(/^.*\//, '')), el('span.mono', {}, fileName(b.file))), el('.code', { tabindex: 0, role: 'region', 'aria-label': 'source of ' + b.func }, ol));
}

function codeLine(r, n, text, sites) {
  const cells = [el('span.bar', {}), el('span.no', {}, String(n))];
  if (!sites) return [el('li.ln', {}, ...cells, el('span.mark', {}), el('pre', {}, text))];
  const v = sites.reduce((w, s) => RANK[s.verdict] > RANK[w] ? s.verdict : w, 'none');
  const times = sites.reduce((sum, s) => sum + (s.verdict === 'always' ? Math.max(perOp(D.answers[r.sites[s.k][1]]), 0) : 0), 0);
  const mark = v === 'always' ? '×' + (times >= 0.01 ? number(times) : sites.filter(s => s.verdict === v).length) : { unknown: '?', grows: '↗', cold: '*' }[v] || '';
  const note = el('.note', { hidden: v !== 'always' && v !== 'unknown' });
  const fill = () => { if (!note.children.length) note.append(...sites.sort((a, b) => RANK[b.verdict] - RANK[a.verdict]).map(s => site(r, s))); };
  if (!note.hidden) fill();
  const b = el(`button.ln.hit.${v}`, { title: `${v}: ${WORDS[v]}`, 'aria-expanded': String(!note.hidden), 'data-lines': sites.map(s => `${r.i}-${s.k}`).join(' ') }, ...cells, el('span.mark', {}, mark), el('pre', {}, text));
  b.addEventListener('click', () => { fill(); note.hidden = !note.hidden; b.setAttribute('aria-expanded', String(!note.hidden)); });
  b.show = () => { fill(); note.hidden = false; b.setAttribute('aria-expanded', 'true'); };
  return [el('li', {}, b, note)];
}

function showSite(i, n) {
  const e = row(roots[i]);
  const find = () => [...e.querySelectorAll('button.ln')].find(b => b.dataset.lines.split(' ').includes(`${i}-${n}`));
  let b = find();
  if (!b) {
    const d = e.querySelector('details.quiet');
    if (d) { d.open = true; d.dispatchEvent(new Event('toggle')); b = find(); }
  }
  if (!b) return e;
  const quiet = b.closest('details.quiet');
  if (quiet) quiet.open = true;
  b.show();
  return document.getElementById(`site-${i}-${n}`);
}

function site(r, s) {
  const answers = D.answers[r.sites[s.k][1]], p = s.place, times = perOp(answers);
  const e = el(`.site.${s.verdict}`, { id: `site-${r.i}-${s.k}`, tabindex: -1 });
  const by = el('.by', {}, el('b', {}, s.verdict, times >= 0.01 ? ` ×${number(times)}` : ''));
  const change = r.changes.filter(c => c.place === r.sites[s.k][0]);
  by.append(...[...new Set(change.map(c => c.kind))].map(k => el('span.badge.' + k, {}, k)));
  const same = answers.every(a => a.verdict === s.verdict);
  if (answers.length > 1 && same) by.append(el('span.soft', {}, `on all ${answers.length} releases`));
  if (!same) by.append(...answers.map((a, t) => el('span.badge.' + a.verdict, { title: a.because || WORDS[a.verdict] }, D.toolchains[t].line.replace(/^go/, '') + ' ' + a.verdict)));
  const facts = el('dl', {}), fact = (name, text, cls) => text && facts.append(el('dt', {}, name), el('dd' + (cls || ''), {}, ...[text].flat()));
  fact('why', prose(p.reason));
  fact('fix', prose(p.fix), '.fix');
  const becauses = [...new Set(answers.filter(a => a.verdict === s.verdict && a.because).map(a => a.because))];
  if (s.verdict !== 'always') fact('when', becauses.join('; '));
  fact('but', [...new Set(answers.map(a => a.conflict).filter(Boolean))].join('; '), '.but');
  e.append(by, facts, evidence(answers, p, becauses));
  return e;
}

function evidence(answers, p, becauses) {
  const dl = el('dl', {}), fact = (name, text) => text && dl.append(el('dt', {}, name), el('dd', {}, text));
  fact('pattern', [p.pattern, p.kind].filter(Boolean).join(' · '));
  fact('verdict', becauses.join('; '));
  fact('calls', p.callee);
  answers.forEach((a, t) => {
    const e = a.evidence;
    if (!e) return;
    const parts = [];
    if (e.code) parts.push(`code: ${e.code}${e.calls > 1 ? ' ×' + e.calls : ''}`); else parts.push('code: no such call');
    if (e.compiler) parts.push(`compiler: ${e.compiler} escapes`);
    for (const run of e.runs || []) parts.push(`${run.name}: ${number(run.per_op)} allocs/op, ${number(run.bytes)} B/op`);
    if (e.visited) parts.push('runs came by');
    fact(D.toolchains[t].line, parts.join(' · '));
  });
  if (p.flow) fact('flow', el('span.mono', {}, ...p.flow.flatMap((f, i) => i ? [el('br'), '→ ' + f] : ['→ ' + f])));
  return el('details', {}, el('summary', {}, 'evidence'), dl);
}

// tree merges the ways to all sites of a root.
function tree(r) {
  const top = { kids: new Map(), rank: 0 };
  r.sites.forEach(([p, a, c], k) => {
    let n = top;
    const rank = RANK[verdictOf[a]];
    for (const f of c >= 0 ? D.chains[c] : []) {
      const frame = D.frames[f], key = frame.func + (frame.inlined ? ' i' : '');
      if (!n.kids.has(key)) n.kids.set(key, { frame, kids: new Map(), leaves: [], rank: 0 });
      n = n.kids.get(key);
      n.rank = Math.max(n.rank, rank);
    }
    (n.leaves = n.leaves || []).push({ k, verdict: verdictOf[a], place: D.places[p] });
  });
  return branch(r, top, 'ul.tree', true);
}

// few shows the first of many entries, and the rest when asked to.
function few(entries, most = 6) {
  if (entries.length <= most + 1) return entries;
  const rest = entries.slice(most), more = el('li', {}, el('button.more', { onclick: () => more.replaceWith(...rest) }, `${rest.length} more`));
  return [...entries.slice(0, most), more];
}

function branch(r, n, tag, first) {
  const leaves = new Map(); // those of one line and verdict are one
  for (const l of n.leaves || []) {
    const key = `${l.place.file}:${l.place.line} ${l.verdict}`;
    if (!leaves.has(key)) leaves.set(key, l);
  }
  const kids = [...n.kids.values()].sort((a, b) => b.rank - a.rank);
  return el(tag, {},
    ...few([...leaves.values()].sort((a, b) => RANK[b.verdict] - RANK[a.verdict]).map(l => el(`li.leaf.${l.verdict}`, {}, el('button', { onclick: () => toSite(r.i, l.k) }, `${l.verdict} ${fileName(l.place.file).replace(/^.*\//, '')}:${l.place.line}`)))),
    ...kids.map(k => {
      const v = Object.keys(RANK).find(x => RANK[x] === k.rank);
      const d = el('details', { open: first || k.rank > RANK.unknown }, el('summary', {}, el('span.mono', {}, k.frame.func), ...(k.frame.inlined ? [el('span.tag', { title: 'its code is part of the function above' }, 'inlined')] : []), ' ', el('span.soft', {}, `${k.frame.file.replace(/^.*\//, '')}:${k.frame.line}`)));
      const fill = () => { if (d.children.length === 1) d.append(branch(r, k, 'ul', false)); };
      if (d.open) fill(); else d.addEventListener('toggle', fill);
      return el('li.' + v, {}, d);
    }));
}

// ---- keys, theme, start

function clear() {
  Object.assign(state, { text: '', verdicts: new Set(), pattern: '', changed: false });
  search.value = '';
  document.querySelectorAll('.filter [aria-pressed=true], .bars [aria-pressed=true]').forEach(b => b.setAttribute('aria-pressed', 'false'));
  draw();
}

const isDark = () => document.documentElement.style.colorScheme ? document.documentElement.style.colorScheme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
function setTheme(t) { document.documentElement.style.colorScheme = t; }

function step(by) {
  const names = [...list.querySelectorAll('.name')];
  const now = document.activeElement?.closest('.root')?.querySelector('.name');
  const to = names[now ? Math.min(names.length - 1, Math.max(0, names.indexOf(now) + by)) : 0];
  to?.focus();
}

document.addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || document.getElementById('help').open) return;
  const typing = e.target === search;
  if (e.key === 'Escape') { if (filtering()) clear(); search.blur(); }
  else if (typing && e.key === 'ArrowDown') { e.preventDefault(); list.querySelector('.name')?.focus(); }
  else if (typing) return;
  else if (e.key === '/') { e.preventDefault(); search.focus(); search.select(); }
  else if (e.key === 'j' || e.key === 'ArrowDown' && e.target.matches('.name')) { e.preventDefault(); step(1); }
  else if (e.key === 'k' || e.key === 'ArrowUp' && e.target.matches('.name')) { e.preventDefault(); step(-1); }
  else if (e.key === 't') setTheme(isDark() ? 'light' : 'dark');
  else if (e.key === '?') document.getElementById('help').showModal();
});

function help() {
  const key = (k, text) => [el('dt', {}, ...k.split(' ').flatMap((x, i) => i ? [' ', el('kbd', {}, x)] : [el('kbd', {}, x)])), el('dd', {}, text)];
  const close = el('button.tool', { onclick: () => document.getElementById('help').close() }, 'Close');
  document.getElementById('help').append(el('h2', {}, 'Words'), el('p', {}, 'A root is a log call, a function with an //alloc: comment, or one named by --root. A cell tells what a Go release makes of it; a click leads to the worst line.'),
    el('dl', {}, ...Object.keys(WORDS).flatMap(v => [el('dt', {}, el('span.badge.' + v, {}, v)), el('dd', {}, WORDS[v])])),
    el('br'), el('h2', {}, 'Keys'), el('dl', {}, ...key('/', 'search'), ...key('j k', 'next and previous root'), ...key('Enter', 'open or close it'), ...key('Tab', 'through its cells and lines'), ...key('t', 'light or dark'), ...key('Esc', 'clear the search')), el('br'), close);
}

function start() {
  head(); help();
  document.getElementById('main').append(filterBar(), list);
  draw();
  const id = decodeURIComponent(location.hash.slice(1));
  const wanted = roots.find(r => r.id === id) || roots.filter(r => groupOf(r) === 0)[0];
  if (wanted) { if (id) go(wanted.i); else { const old = location.href; toggle(wanted.i, true); history.replaceState(null, '', old); } }
}
addEventListener('hashchange', () => { const r = roots.find(r => r.id === decodeURIComponent(location.hash.slice(1))); if (r) go(r.i); });
start();
