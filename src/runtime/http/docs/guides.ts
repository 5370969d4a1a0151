import { readdir, readFile } from 'node:fs/promises'
import { extname, join, posix } from 'node:path'
import { documentFolder as folder } from '../built-pages.ts'
import { type KeptFile, keepFile } from '../kept-file.ts'

/** A document: its path below `docs`, the path at which this server shows it, and its first heading. */
export type Guide = { file: string; address: string; title: string; text: string }

/** The documents of `docs`, and its drawings by their paths on this server. */
export type Guides = { all: readonly Guide[]; drawings: ReadonlyMap<string, KeptFile> }

export async function readGuides(): Promise<Guides> {
  const names = (await readdir(folder, { recursive: true })).map((name) => name.replaceAll('\\', '/')).sort()
  const documents = names.filter((name) => extname(name) === '.md')
  const all = await Promise.all(
    documents.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8')
      const title = /^# (.+)$/m.exec(text)?.[1] ?? file
      return { file, address: addressOf(file), title: title.replaceAll('`', ''), text }
    }),
  )
  const drawings = new Map<string, KeptFile>()
  for (const name of names.filter((each) => extname(each) === '.svg'))
    drawings.set(`/docs/${name}`, await keepFile('image/svg+xml', await readFile(join(folder, name))))
  return { all, drawings }
}

/** The path of a document on this server: that of its folder for a README.md. */
const addressOf = (file: string) => `/docs/${file}`.replace(/(\/README)?\.md$/, '')

/** The target of a link: an address, or a file of the repository, which this server does not show. */
type LinkTarget = { address: string } | { file: string }

export function linkTargetOf(from: string, link: string): LinkTarget {
  if (/^([a-z]+:|#)/.test(link)) return { address: link }
  const [path = '', anchor] = link.split('#')
  const file = posix.join('docs', posix.dirname(from), path)
  if (file === 'openapi.json') return { address: '/docs/reference' }
  if (!file.startsWith('docs/')) return { file }
  const address = addressOf(file.slice('docs/'.length))
  return { address: anchor === undefined ? address : `${address}#${anchor}` }
}

/** The part of an address that names a section, made of its heading as renderers of Markdown make it. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
