import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig, type Plugin } from 'vite'
import { iconNames } from './src/parts/icon-names.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** Puts the drawings of the icons that the console names into `virtual:icons`, and no others of the 1,700 that Lucide has. */
function icons(): Plugin {
  const id = 'virtual:icons'
  return {
    name: 'bezant-icons',
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    async load(resolved) {
      if (resolved !== `\0${id}`) return
      const file = fileURLToPath(import.meta.resolve('lucide-static/icon-nodes.json'))
      const nodes: Record<string, unknown> = JSON.parse(await readFile(file, 'utf8'))
      const missing = iconNames.filter((name) => !nodes[name])
      if (missing.length > 0) this.error(`Lucide has no icon ${missing.join(', ')}`)
      const chosen = Object.fromEntries(iconNames.map((name) => [name, nodes[name]]))
      return `export const icons = ${JSON.stringify(chosen)}`
    },
  }
}

export default defineConfig({
  root: folder,
  base: '/console/',
  plugins: [svelte({ configFile: false }), icons()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // The first with light-dark(): what stands for it in older ones would double each colour.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Fonts stay files: the policy of the page allows no data: addresses for them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // The second is the frame into which the server writes documents.
      input: [`${folder}index.html`, `${folder}docs.html`],
      output: {
        // A server that is no sandbox answers 404 for what only a lab can do: see src/runtime/http/console.ts.
        chunkFileNames: ({ moduleIds }) =>
          `assets/${moduleIds.some((id) => id.includes('/console/src/lab/')) ? 'lab-' : ''}[name]-[hash].js`,
      },
    },
  },
})
