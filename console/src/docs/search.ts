/** A section of a document, as the server lists it in `/docs/search.json`. */
type Section = { address: string; page: string; heading: string; text: string }

/** A section with its words in lower case, which are compared. */
type Indexed = Section & { lower: { page: string; heading: string; text: string } }

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
const shownMax = 12
const excerptLength = 140

/** Opens the search, which reads its index once and asks the server nothing else. */
export function openSearch(): void {
  const search = document.querySelector<HTMLElement>('.search')!
  const form = search.querySelector('form')!
  const input = form.querySelector('input')!
  const panel = search.querySelector<HTMLElement>('.found')!
  const list = panel.querySelector('ul')!
  const status = panel.querySelector('p')!
  let reading: Promise<Indexed[]> | undefined
  const index = () => {
    reading ??= readIndex()
    // An index that did not arrive is asked for again.
    reading.catch(() => (reading = undefined))
    return reading
  }
  const find = async () => {
    const asked = input.value
    const found = await index().then(
      (sections) => sectionsWith(sections, asked),
      () => undefined,
    )
    if (asked !== input.value) return
    panel.hidden = asked.trim() === ''
    list.replaceChildren(...(found ?? []).slice(0, shownMax).map((section) => itemOf(section, asked)))
    status.textContent = found ? `${found.length} found` : 'The server does not answer. Type again.'
  }
  const links = () => [...list.querySelectorAll('a')]
  input.addEventListener('focus', () => void index().catch(() => undefined))
  input.addEventListener('input', () => void find())
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void find().then(() => links()[0]?.click())
  })
  search.addEventListener('keydown', (event) => {
    const step = steps[event.key]
    if (event.key === 'Escape') panel.hidden = true
    if (step === undefined) return
    event.preventDefault()
    const stops = [input, ...links()]
    const at = stops.indexOf(document.activeElement as HTMLInputElement)
    stops[Math.max(0, Math.min(stops.length - 1, at + step))]?.focus()
  })
  list.addEventListener('click', () => (panel.hidden = true))
  document.addEventListener('click', ({ target }) => {
    if (!search.contains(target as Node)) panel.hidden = true
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement) return
    event.preventDefault()
    input.focus()
  })
  search.hidden = false
}

async function readIndex(): Promise<Indexed[]> {
  const answer = await fetch('/docs/search.json')
  if (!answer.ok) throw new Error(`The index was answered with ${answer.status}.`)
  const sections: Section[] = await answer.json()
  return sections.map((section) => {
    const [page, heading, text] = [section.page, section.heading, section.text].map((each) =>
      each.toLowerCase(),
    )
    return Object.assign(section, { lower: { page: page!, heading: heading!, text: text! } })
  })
}

const wordsOf = (asked: string) => asked.toLowerCase().split(/\s+/).filter(Boolean)

/** The sections that have all words, those with them in headings first. */
function sectionsWith(sections: readonly Indexed[], asked: string): Section[] {
  const words = wordsOf(asked)
  if (words.length === 0) return []
  return sections
    .map((section) => ({ section, weight: weightOf(section, words) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ section }) => section)
}

/** Zero for a section that lacks a word. */
function weightOf({ lower, address }: Indexed, words: readonly string[]): number {
  let weight = address.includes('/decisions/') ? 0 : 1
  for (const word of words) {
    const found =
      (lower.heading.includes(word) ? 8 : 0) +
      (lower.heading.startsWith(word) ? 4 : 0) +
      (lower.page.includes(word) ? 4 : 0) +
      (lower.text.includes(word) ? 2 : 0)
    if (found === 0) return 0
    weight += found
  }
  return weight
}

function itemOf({ address, page, heading, text }: Section, asked: string): HTMLElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = address
  const title = document.createElement('strong')
  title.textContent = heading === page ? page : `${page}: ${heading}`
  const excerpt = document.createElement('span')
  excerpt.textContent = excerptOf(text, wordsOf(asked))
  link.append(title, excerpt)
  item.append(link)
  return item
}

/** The part of a text around the first of the words that it has. */
function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const at = Math.max(
    0,
    ...words
      .map((word) => lower.indexOf(word))
      .filter((place) => place >= 0)
      .slice(0, 1),
  )
  const start = Math.max(0, at - excerptLength / 3)
  const part = text.slice(start, start + excerptLength)
  return `${start > 0 ? '…' : ''}${part}${start + excerptLength < text.length ? '…' : ''}`
}
