// SPDX-License-Identifier: Apache-2.0

const pad = (n, width = 2) => String(n).padStart(width, '0');

// count formats a number with separators.
export const count = n => n.toLocaleString('en-US');

// bytes formats a size.
export function bytes(n) {
  for (const unit of ['B', 'kB', 'MB', 'GB', 'TB']) {
    if (n < 1000 || unit === 'TB') return `${n < 10 && unit !== 'B' ? n.toFixed(1) : Math.round(n)} ${unit}`;
    n /= 1000;
  }
}

// short formats a number with four characters at most.
export function short(n) {
  if (n < 10000) return String(n);
  for (const unit of ['k', 'M', 'G', 'T', 'P', 'E']) {
    n /= 1000;
    if (n < 1000) return `${n < 10 ? n.toFixed(1) : Math.floor(n)}${unit}`;
  }
  return (n * 1e18).toExponential(0);
}

// part reads parts of a time in UTC or local time.
const part = (ms, utc, name) => new Date(ms)[(utc ? 'getUTC' : 'get') + name]();

export const clock = (ms, utc) =>
  `${pad(part(ms, utc, 'Hours'))}:${pad(part(ms, utc, 'Minutes'))}:${pad(part(ms, utc, 'Seconds'))}`;
export const clockMillis = (ms, utc) => `${clock(ms, utc)}.${pad(part(ms, utc, 'Milliseconds'), 3)}`;
export const day = (ms, utc) =>
  `${part(ms, utc, 'FullYear')}-${pad(part(ms, utc, 'Month') + 1)}-${pad(part(ms, utc, 'Date'))}`;

// moment formats a time as finely as a range of a width needs it.
export const moment = (ms, width, utc) => `${day(ms, utc)} ${width % 1000 ? clockMillis(ms, utc) : clock(ms, utc)}`;

// range formats a range of time, with one date if it is within a day.
export function range(from, to, utc) {
  const width = from % 1000 || to % 1000;
  const text = moment(to, width, utc);
  return `${moment(from, width, utc)} – ${day(from, utc) === day(to, utc) ? text.slice(text.indexOf(' ') + 1) : text}`;
}

// tick formats a time as finely as bars of a width need it. Those of days are
// days of UTC, so the date is that of the noon in UTC.
export function tick(ms, step, utc) {
  if (step >= 86400e3) return day(ms + 43200e3, utc);
  if (step >= 60e3) return clock(ms, utc).slice(0, 5);
  return step >= 1000 ? clock(ms, utc) : clockMillis(ms, utc);
}

// key is a key as a query has it.
const key = name =>
  /^[A-Za-z_][\w.]*$/.test(name) && !/^(and|or|not|in|exists|contains|time|level|message|msg|line)$/i.test(name)
    ? name : '`' + name + '`';

const quote = text => `"${text.replace(/[\\"]/g, c => '\\' + c).replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;

// value is a text as a query has it. Numbers that are written in an unusual way,
// or too long to be exact, are in quotes: without them, they equal others.
const value = text => (/^-?\d[\d.]{0,15}$/.test(text) && String(Number(text)) === text ? text : quote(text));

// clause compares a field with a text. A role is that of a field under any key;
// exact compares a number as a text, too.
export const clause = (name, text, op, role, exact) =>
  `${role || key(name)} ${op} ${op === '>=' ? text : exact ? quote(text) : value(text)}`;

// like is a regular expression for the messages of a pattern, in which a star
// stands for the parts that differ.
export const like = pattern => '^' + pattern.split('*').map(t => t.replace(/[\\^$.|?+()[\]{}]/g, '\\$&')).join('.*');

// digits formats a number of any size with about three digits.
export const digits = n => (Math.abs(n) < 1e15 && Math.abs(n) >= 1000 ? count(Math.round(n)) : String(Number(n.toPrecision(3))));

// hasOr reports whether a query has an or outside of texts and parentheses.
function hasOr(query) {
  query = query.replace(/"(\\.|[^"\\])*"|'(\\.|[^'\\])*'|`[^`]*`/gs, '_');
  for (let inner; inner !== query; query = query.replace(/\([^()]*\)/g, '_')) inner = query;
  return /(?<![\w.-])or(?![\w.-])|\|\|/i.test(query);
}

// atLeast is a number as a query has it: three digits or the whole part, and not
// more than n, so that the query selects a line with n.
export function atLeast(n, unit) {
  const e = Math.floor(Math.log10(Math.abs(n))), step = 10 ** (e < 3 ? e - 2 : Math.max(0, e - 14));
  return String(n && Number((Math.floor(n / step) * step).toPrecision(15))) + (unit ?? '');
}

// both joins two queries by and; one that is there is taken out.
export function both(query, other) {
  query = query.trim();
  if (!query) return other;
  if (query === other) return '';
  const suffix = ' and ' + other;
  if (hasOr(query)) return `(${query})` + suffix;
  if (query.endsWith(suffix)) return query.slice(0, -suffix.length);
  if (query.startsWith(other + ' and ')) return query.slice(other.length + 5);
  return query + suffix;
}
