import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { nearest } from '#lib/suggest'
import { succeedOnce } from '#runtime/scheduling/memoize'
import { builtFolder, securePages, sendUnbuilt } from '../built-pages.ts'
import { type KeptFile, keepFile, sendKept } from '../kept-file.ts'
import { type Guide, type Guides, readGuides } from './guides.ts'
import { escaped, type FoundSection, foundSectionsOf, renderGuide } from './render-guide.ts'
import { contents, firstFile, groupsOf, sideBar } from './side-bar.ts'
import type { SnippetAccess } from './snippets.ts'

/** No script of these pages makes markup. */
const secure = securePages("'none'")

type PageParts = { title: string; side: string; content: string; contents: string }

/** Serves the documents of `docs` as pages, and the index that the search of these pages reads. */
export async function registerDocs(server: FastifyInstance, access: () => SnippetAccess): Promise<void> {
  // Read at the first request: the address of the server is known then.
  const guides = succeedOnce(readGuides)
  const index = succeedOnce(async () =>
    keepFile('application/json; charset=utf-8', await searchIndex(await guides())),
  )
  const pageOf = keepPages(access)
  server.get('/docs/search.json', async (request, reply) => sendKept(request, secure(reply), await index()))
  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.replace(/[?#].*$/, '').replace(/\/$/, '')
    const { all, drawings } = await guides()
    const drawing = drawings.get(path)
    if (drawing) return sendKept(request, reply, drawing)
    const frame = await readFile(`${builtFolder}docs.html`, 'utf8').catch(() => undefined)
    if (frame === undefined) return sendUnbuilt(secure(reply), 'The pages of the documents')
    const first = all.find(({ file }) => file === firstFile)!
    const guide = all.find(({ address }) => address === path)
    if (guide) return sendKept(request, secure(reply), await pageOf(frame, first, guide))
    return secure(reply)
      .code(404)
      .type(html)
      .send(fill(frame, missing(path, first, all)))
  }
  for (const path of ['/docs', '/docs/', '/docs/*']) server.get(path, show)
}

const html = 'text/html; charset=utf-8'

/** Renders a page at its first request, and again in the frame of a later build, which names other assets. */
function keepPages(access: () => SnippetAccess) {
  const kept = new Map<string, Promise<KeptFile>>()
  let inFrame = ''
  return (frame: string, first: Guide, guide: Guide): Promise<KeptFile> => {
    if (frame !== inFrame) kept.clear()
    inFrame = frame
    const page = kept.get(guide.address) ?? keepFile(html, fill(frame, partsOf(first, guide, access())))
    kept.set(guide.address, page)
    return page
  }
}

function partsOf(first: Guide, guide: Guide, access: SnippetAccess): PageParts {
  const { html: content, headings } = renderGuide(guide, access)
  return {
    title: guide === first ? guide.title : `${guide.title} · Bezant`,
    side: sideBar(groupsOf(first), guide.address),
    content,
    contents: guide === first ? '' : contents(headings),
  }
}

/** The page for an address without a document, which names the document that has nearly the same. */
function missing(path: string, first: Guide, all: readonly Guide[]): PageParts {
  const near = nearest(
    path.replace(/^\/docs\//, ''),
    all.map(({ file }) => file.replace(/\.md$/, '')),
  )
  const guide = all.find(({ file }) => file === `${near}.md`)
  const link = guide && `<a href="${escaped(guide.address)}">${escaped(guide.title)}</a>`
  const hint = link ? `Did you mean ${link}?` : '<a href="/docs">The first page</a> lists all documents.'
  return {
    title: 'No such page · Bezant',
    side: sideBar(groupsOf(first), path),
    content: `<h1>No such page</h1>\n<p>There is no document at <code>${escaped(path)}</code>. ${hint}</p>\n`,
    contents: '',
  }
}

/** Writes the parts of a page into the frame, where it names them. */
const fill = (frame: string, parts: PageParts) =>
  frame.replaceAll(/\{\{(\w+)\}\}/g, (_, name: keyof PageParts) =>
    name === 'title' ? escaped(parts.title) : parts[name],
  )

/** The sections of all documents, as the script of the pages searches them. */
async function searchIndex({ all }: Guides): Promise<string> {
  const found: FoundSection[] = []
  for (const guide of all) {
    found.push(...foundSectionsOf(guide))
    // All of them together take a tenth of a second, for which no other request waits.
    await nextTurn()
  }
  return JSON.stringify(found)
}
