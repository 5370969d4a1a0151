import { Marked, type MarkedExtension, type Tokens } from 'marked'
import { anchorOf, type Guide, linkTargetOf } from './guides.ts'
import { fillSnippet, type SnippetAccess } from './snippets.ts'

export type GuideHeading = { depth: number; title: string; anchor: string }

/** A section of a document, as the search finds it. */
export type FoundSection = { address: string; page: string; heading: string; text: string }

type RenderedGuide = { html: string; headings: readonly GuideHeading[] }

/** Renders a document. Its own HTML is shown as text, since no document has any. */
export function renderGuide(guide: Guide, access: SnippetAccess): RenderedGuide {
  const headings = new Map<Tokens.Heading, GuideHeading>()
  const marked = new Marked({ renderer: rendererOf(guide, access, headings) })
  const tokens = marked.lexer(guide.text)
  for (const { token, heading } of headingsOf(tokens as Tokens.Generic[])) headings.set(token, heading)
  return { html: marked.parser(tokens), headings: [...headings.values()] }
}

type Renderer = NonNullable<MarkedExtension['renderer']>

function rendererOf(
  { file }: Guide,
  access: SnippetAccess,
  headings: ReadonlyMap<Tokens.Heading, GuideHeading>,
): Renderer {
  return {
    heading(token) {
      const heading = headings.get(token)
      if (!heading) return false
      const { depth, title, anchor } = heading
      const link =
        depth > 1 ? ` <a class="anchor" href="#${anchor}" aria-label="Link to: ${escaped(title)}">#</a>` : ''
      return `<h${depth} id="${anchor}">${this.parser.parseInline(token.tokens)}${link}</h${depth}>\n`
    },
    code: ({ text }) =>
      `<div class="snippet"><pre tabindex="0"><code>${escaped(fillSnippet(text, access))}</code></pre></div>\n`,
    table({ header, rows }) {
      const cells = (row: Tokens.TableCell[], tag: string) =>
        row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')
      const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>\n`).join('')
      return `<div class="table" tabindex="0"><table><thead><tr>${cells(header, 'th')}</tr></thead>\n<tbody>${body}</tbody></table></div>\n`
    },
    link({ href, text, tokens }) {
      const shown = this.parser.parseInline(tokens)
      const target = linkTargetOf(file, href)
      if ('address' in target) return `<a href="${escaped(target.address)}">${shown}</a>`
      const path = `<code>${escaped(target.file)}</code>`
      return target.file.includes(plainText(text)) ? path : `${shown} (${path})`
    },
    image({ href, text }) {
      const target = linkTargetOf(file, href)
      return `<img src="${escaped('address' in target ? target.address : target.file)}" alt="${escaped(text)}">`
    },
    html: ({ text }) => escaped(text),
  }
}

/** The headings of a document with their anchors, of which a repeated one gets a number. */
function headingsOf(tokens: readonly Tokens.Generic[]): { token: Tokens.Heading; heading: GuideHeading }[] {
  const counts = new Map<string, number>()
  return tokens.flatMap((each) => {
    if (each.type !== 'heading') return []
    const token = each as Tokens.Heading
    const plain = anchorOf(token.text)
    const count = counts.get(plain) ?? 0
    counts.set(plain, count + 1)
    const anchor = count === 0 ? plain : `${plain}-${count}`
    return [{ token, heading: { depth: token.depth, title: plainText(token.text), anchor } }]
  })
}

/** Divides a document into the sections that the search finds. */
export function foundSectionsOf(guide: Guide): FoundSection[] {
  const tokens = new Marked().lexer(guide.text) as Tokens.Generic[]
  const headings = new Map(headingsOf(tokens).map(({ token, heading }) => [token as Tokens.Generic, heading]))
  const found: FoundSection[] = []
  for (const token of tokens) {
    const heading = headings.get(token)
    if (heading) {
      const address = heading.depth > 1 ? `${guide.address}#${heading.anchor}` : guide.address
      found.push({ address, page: guide.title, heading: heading.title, text: '' })
    } else {
      const section = found.at(-1)
      if (section) section.text = `${section.text} ${plainText(token.raw)}`.trim()
    }
  }
  return found
}

/** Takes the signs of Markdown out of a text. */
const plainText = (markdown: string) =>
  markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*|]+|^#+ |-{3,}/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => signs[sign]!)
