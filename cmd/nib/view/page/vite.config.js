// SPDX-License-Identifier: Apache-2.0

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import { svelte } from '@sveltejs/vite-plugin-svelte';

// files lists the files below a folder, or the file itself.
const files = name =>
  readdirSync('.', { recursive: true, withFileTypes: true })
    .filter(e => e.isFile())
    .map(e => (e.parentPath === '.' ? e.name : `${e.parentPath}/${e.name}`).replaceAll('\\', '/').replace(/^\.\//, ''))
    .filter(path => path === name || path.startsWith(name + '/'));

// sums writes the SHA-256 of all sources and built files in the form of
// sha256sum, so that a test finds sources that have not been built.
const sums = () => ({
  name: 'sums',
  writeBundle() {
    const list = ['index.html', 'package.json', 'package-lock.json', 'vite.config.js', 'src', 'public', 'dist']
      .flatMap(files).filter(path => path !== 'dist/SHA256SUMS').sort();
    const sum = path => createHash('sha256').update(readFileSync(path)).digest('hex');
    writeFileSync('dist/SHA256SUMS', list.map(path => `${sum(path)}  ${path}\n`).join(''));
  },
});

// licenses adds the license of each package that is a part of the page, in a folder
// with its name and version. Release archives and the SBOM have them from there.
const licenses = () => ({
  name: 'licenses',
  generateBundle(_, bundle) {
    const packages = new Set(Object.values(bundle).flatMap(o => Object.keys(o.modules ?? {}))
      .map(id => id.match(/^.*\/node_modules\/(@[^/]+\/)?[^/]+/)?.[0]).filter(Boolean));
    for (const dir of packages) {
      const { name, version } = JSON.parse(readFileSync(`${dir}/package.json`, 'utf8'));
      const file = readdirSync(dir).find(name => /^licen[cs]e/i.test(name));
      this.emitFile({ type: 'asset', fileName: `licenses/${name}@${version}/LICENSE`, source: readFileSync(`${dir}/${file}`) });
    }
  },
});

export default defineConfig({
  base: './',
  plugins: [svelte(), licenses(), sums()],
  build: {
    assetsInlineLimit: 0, // the policy of the server allows no data: addresses
    modulePreload: false,
    rollupOptions: { output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' } },
  },
});
