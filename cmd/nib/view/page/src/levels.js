// SPDX-License-Identifier: Apache-2.0

// levels are the classes of the server, by number; short is for the list.
export const levels = [
  { name: 'none', short: '', title: 'no level' },
  { name: 'trace', short: 'TRC', title: 'trace' },
  { name: 'debug', short: 'DBG', title: 'debug' },
  { name: 'info', short: 'INF', title: 'info' },
  { name: 'warn', short: 'WRN', title: 'warn' },
  { name: 'error', short: 'ERR', title: 'error' },
  { name: 'fatal', short: 'FTL', title: 'fatal' },
];
