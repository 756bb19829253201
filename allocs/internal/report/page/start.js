// Keys, theme and the start.

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
