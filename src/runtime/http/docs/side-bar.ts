import { type Guide, linkTargetOf } from './guides.ts'
import { escaped, type GuideHeading } from './render-guide.ts'

type ListedGuide = { title: string; address: string }
type GuideGroup = { title: string; guides: ListedGuide[] }

/** The first page lists all documents under headings: the side bar is that list. */
export const firstFile = 'README.md'

export function groupsOf({ text }: Guide): GuideGroup[] {
  const groups: GuideGroup[] = []
  for (const [, heading, title, link] of text.matchAll(/^## (.+)$|^- \[([^\]]+)\]\(([^)]+)\)/gm)) {
    if (heading !== undefined) groups.push({ title: heading, guides: [] })
    else {
      const target = linkTargetOf(firstFile, link!)
      if ('address' in target) groups.at(-1)?.guides.push({ title: title!, address: target.address })
    }
  }
  return groups
}

export function sideBar(groups: readonly GuideGroup[], current: string): string {
  const listed = groups.map(({ title, guides }) => `<p>${escaped(title)}</p>\n${linkList(guides, current)}`)
  return `<nav class="side" id="pages" popover aria-label="Documents">\n${listed.join('\n')}\n</nav>`
}

const linkList = (guides: readonly ListedGuide[], current: string) => {
  const items = guides.map(({ title, address }) => {
    const isHere = address === current || (address.includes('/docs/') && current.startsWith(`${address}/`))
    const here = isHere ? ' aria-current="page"' : ''
    return `<li><a href="${escaped(address)}"${here}>${escaped(title)}</a></li>`
  })
  return `<ul>\n${items.join('\n')}\n</ul>`
}

/** The sections of a page, where it has several. */
export function contents(headings: readonly GuideHeading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (shown.length < 2) return ''
  const items = shown.map(
    ({ depth, title, anchor }) =>
      `<li class="depth-${depth}"><a href="#${escaped(anchor)}">${escaped(title)}</a></li>`,
  )
  return `<button type="button" class="btn small open-sections" popovertarget="sections">On this page</button>
<nav class="toc" id="sections" popover aria-label="On this page">
<p>On this page</p>
<ul>
${items.join('\n')}
</ul>
</nav>`
}
