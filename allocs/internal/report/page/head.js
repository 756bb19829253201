// The head: the sum of it, what changed, charts.

function head() {
  const theme = el('button.tool', { title: 'light or dark', onclick: () => setTheme(isDark() ? 'light' : 'dark') }, 'Theme');
  const names = D.toolchains.map(t => t.name).join(', ');
  document.getElementById('top').append(
    el('.head', {}, el('', {}, el('h1', {}, ...D.module.split('/').flatMap((x, i) => i ? ['/', el('wbr'), x] : [x])), el('p.soft', {}, names)),
      el('.tools', {}, theme, el('button.tool', { title: 'keys and words', onclick: () => document.getElementById('help').showModal() }, 'Help'))),
    results(),
    ...D.toolchains.filter(t => t.trouble).map(t => el('p.trouble', {}, el('b', {}, t.name + ' '), 'evidence that could not be had: ' + t.trouble.join('\n'))),
    el('.panels', {}, ...[changesPanel(), releasesPanel(), patternsPanel()].filter(Boolean)));
}

// results are the numbers of the findings, as every report has them.
function results() {
  const n = D.summary.roots, s = D.summary.sites, num = v => s[v] || 0;
  const parts = [['above', 'counted', 'above what is allowed'], ['counted', 'counted', 'counted'], ['unproven', 'possible', 'unproven'], ['possible', 'possible', 'possible'], ['none', 'none', 'none']]
    .filter(([key]) => n[key]).map(([key, shade, words]) => el('button.result.' + shade, { 'data-state': key, onclick: () => openGroup(STATES.indexOf(key)) }, el('b', {}, String(n[key])), el('span', {}, words)));
  return el('section.results', { 'aria-label': 'results' },
    el('.states', {}, el('p.result.total', {}, el('b', {}, String(roots.length)), el('span', {}, roots.length === 1 ? 'root' : 'roots')), ...parts),
    el('p.sites', {}, `sites: ${num('counted')} counted, ${num('possible')} possible`),
    D.missing ? el('ul.lacks.soft', {}, ...D.missing.map(text => el('li', {}, text))) : null);
}

function changesPanel() {
  if (!D.baseline) return null;
  const kinds = ['missing', 'worse', 'new', 'better', 'gone'];
  const same = new Map(); // what is the same on several releases is one line
  const siteOf = c => roots.find(r => r.id === c.root)?.sites.find(s => s.key === c.site);
  for (const c of kinds.flatMap(k => D.changes.filter(c => c.kind === k))) {
    const key = [c.kind, c.root, c.site, siteOf(c) ? '' : c.text].join('\n');
    const have = same.get(key);
    if (!have) same.set(key, { ...c }); else if (!have.toolchain.split(', ').includes(c.toolchain)) have.toolchain += ', ' + c.toolchain;
  }
  const list = [...same.values()];
  const line = c => {
    const i = roots.findIndex(r => r.id === c.root), s = siteOf(c);
    return el('button.change', { onclick: () => go(i, { site: c.site }), disabled: i < 0 },
      el('span.badge.' + c.kind, {}, c.kind), el('span', {}, el('span.mono', {}, shorten(c.root)), ' ', el('span.soft', {}, c.toolchain), el('br'), s ? prose(s.reason) : c.text.split(': ').slice(1).join(': ')));
  };
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

function releasesPanel() {
  const verdicts = ['counted', 'possible'];
  const counts = D.summary.toolchains.map(c => Object.fromEntries(verdicts.map(v => [v, c[v] || 0])));
  const most = Math.max(1, ...counts.map(c => verdicts.reduce((sum, v) => sum + c[v], 0)));
  const rows = counts.flatMap((c, t) => {
    let x = 0;
    const rects = Object.keys(c).map(v => { const r = { class: v, x, y: 0, width: c[v], height: 10 }; x += c[v]; return r; });
    const words = Object.keys(c).map(v => `${c[v]} ${v}`).join(', ');
    return [el('span.mono', {}, D.toolchains[t].line), el('span', { title: words, role: 'img', 'aria-label': words }, svg(most, 10, ...rects)), el('span.num', {}, `${c.counted} counted`)];
  });
  return el('section.panel', {}, el('h2', {}, 'Sites by verdict and Go release'), el('.stack', {}, ...rows),
    el('.legend', {}, ...verdicts.map(v => el('span', { title: WORDS[v] }, el('i.' + v), v))));
}

function patternsPanel() {
  const seen = new Map();
  for (const r of roots) for (const s of r.sites) {
    if (s.verdict !== 'counted') continue;
    const name = s.pattern || 'other';
    if (!seen.has(name)) seen.set(name, new Set());
    seen.get(name).add([s.file, s.line, s.kind, s.callee].join('|'));
  }
  if (!seen.size) return null;
  const list = [...seen].map(([name, s]) => [name, s.size]).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 12);
  const most = list[0][1];
  return el('section.panel', {}, el('h2', {}, 'What allocates'), el('.bars', {}, ...list.map(([name, n]) =>
    el('button', { 'data-pattern': name, 'aria-pressed': 'false', title: 'show only these', onclick: () => setPattern(state.pattern === name ? '' : name) },
      el('span.mono', {}, name), svg(100, 10, { class: 'counted', x: 0, y: 0, width: 100 * n / most, height: 10, rx: 1 }), el('span.num', {}, n)))));
}

function setPattern(name) {
  state.pattern = name;
  document.querySelectorAll('[data-pattern]').forEach(b => b.setAttribute('aria-pressed', String(b.dataset.pattern === name)));
  draw();
}
