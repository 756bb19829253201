'use strict';
// The findings, and what the other parts make elements with.
// They are a table of objects and lists, in which the number of an earlier one
// in a list stands for it.
const D = JSON.parse(document.getElementById('data').textContent).reduce((table, x) => {
  for (const k in x) if (Array.isArray(x[k])) x[k] = table[x[k][0]];
  table.push(x);
  return table;
}, []).pop();
const WORDS = {
  counted: 'a benchmark or test counted it', possible: 'it can allocate, and no run counted it', none: 'does not allocate',
};
const NO_CODE = 'there is no code for it: not on this release, or generic and not used or always inlined';
// What a possible allocation lacks, the least serious first.
const MISSING = {
  first: 'in a panic, an error or a first use', size: 'beyond a size that no benchmark has', branch: 'in a branch that no benchmark takes',
  benchmark: 'no benchmark reaches it', agreement: 'on every path, and never in the runs', 'any run': 'on every path, and no benchmark reaches it',
};
const QUIET = 2, COUNTED = 7;
const rank = a => a.verdict === 'counted' ? COUNTED : a.verdict === 'none' ? 0 : 1 + Object.keys(MISSING).indexOf(a.missing);

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
const number = n => n < 0.1 ? String(+n.toPrecision(2)) : String(Math.round(n * 100) / 100);
const worst = answers => answers.reduce((w, a) => rank(a) > rank(w) ? a : w);
const perOp = answers => Math.max(0, ...answers.flatMap(a => (a.evidence?.runs || []).map(r => r.per_op)));
// As in the text: names without the module, or without directories.
const shorten = id => (id.startsWith(D.module) ? id.slice(D.module.length) : id).replace(/^[./]+/, '');
const shortName = f => f.replace(/[^\s\[\](),*]+\//g, '');

// What is needed of each root again and again.
D.changes = D.changes || [];
const roots = D.roots.map((r, i) => {
  const sites = r.sites || [], title = r.text || shorten(r.id);
  const changes = D.changes.filter(c => c.root === r.id);
  const text = [title, r.id, r.file];
  const patterns = new Set();
  for (const s of sites) {
    s.rank = rank(worst(s.versions));
    text.push(shortName(s.function), s.file, s.reason, s.pattern || '', s.callee || '');
    if (s.verdict === 'counted') patterns.add(s.pattern || 'other');
  }
  const conflict = sites.some(s => s.versions.some(a => a.conflict));
  return { ...r, i, sites, title, changes, patterns, conflict, leaf: r.counts?.reduce((a, b) => b.per_op > a.per_op ? b : a).leaf, chains: D.chains[i] || [], text: [...new Set(text)].join('\n').toLowerCase() };
});
const STATES = ['above', 'counted', 'unproven', 'possible', 'none'];
const groupOf = r => STATES.indexOf(r.status);
const GROUPS = ['Above what is allowed', 'Counted', 'Unproven: a benchmark has to execute it, or there is no code for it', 'Possible: it can allocate, and no run counted it', 'None'];

const state = { text: '', verdicts: new Set(), pattern: '', changed: false };
