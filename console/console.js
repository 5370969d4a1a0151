import { ask } from './ask.js'
import { sections, symbols } from './sections.js'
import { draw, make, say } from './table.js'

const refreshMs = 2_000
const at = (id) => document.getElementById(id)

let key = sessionStorage.getItem('key') ?? ''
/** The page on show, as the Link header gave it; empty for the first one. */
let address = ''
/** The item whose details are shown. */
let openId
/** Counts what the reader chose, a section, a page or a key: an answer to an earlier choice is not shown. */
let choice = 0

const current = () => sections[location.hash.slice(1)] ?? sections.overview

async function show() {
  const asked = choice
  const section = current()
  if (!key && section !== sections.overview)
    return say(at('notice'), 'Enter an API key above to see this section.')
  try {
    const { data, links } = await ask(address || section.path, key)
    const items = section.items(data)
    if (section === sections.transactions) await nameTokens(items)
    if (asked !== choice) return
    say(at('notice'), '')
    draw(at('view'), section, items, open)
    offer(links)
    const opened = items.find(({ id }) => id === openId)
    if (openId && opened) await detail(opened)
  } catch (error) {
    if (asked !== choice) return
    // A server that does not answer may be back in a moment; one that refuses has nothing to show.
    if (error.status) forget()
    say(at('notice'), error.status === 404 ? section.empty : error.message)
  }
}

async function nameTokens(items) {
  const unknown = new Set(items.map((item) => item.tokenId).filter((id) => id && !symbols.has(id)))
  for (const id of unknown) symbols.set(id, (await ask(`/v1/w3s/tokens/${id}`, key)).data.token.symbol)
}

function close() {
  openId = undefined
  at('detail').hidden = true
  at('detail').replaceChildren()
}

/** Clears everything that an answer put on the page. */
function forget() {
  close()
  at('view').replaceChildren()
  offer({})
}

/** Shows the section and the key that the reader chose, and nothing of what was there before. */
function choose() {
  choice += 1
  address = ''
  forget()
  say(at('notice'), '')
  for (const link of at('sections').children) {
    if (link.hash === `#${nameOf(current())}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  return show()
}

const nameOf = (section) => Object.keys(sections).find((name) => sections[name] === section)

function open(item) {
  openId = item.id
  return detail(item)
}

async function detail(item) {
  const asked = choice
  const { more } = current()
  const further = more ? (await ask(more(item), key).catch(() => ({ data: undefined }))).data : undefined
  if (asked !== choice || item.id !== openId) return
  const panel = at('detail')
  if (!panel.firstElementChild) panel.append(make('h2'), make('pre'))
  say(panel.querySelector('h2'), item.id)
  say(panel.querySelector('pre'), JSON.stringify(further ? { ...item, ...further } : item, null, 2))
  panel.hidden = false
}

const turns = Object.entries({ first: 'First', prev: 'Newer', next: 'Older' }).map(([rel, textContent]) => ({
  rel,
  button: make('button', { textContent, hidden: true }),
}))

/** Offers the pages that there are beside this one. */
function offer(links) {
  for (const { rel, button } of turns) {
    button.hidden = !links[rel === 'first' ? 'prev' : rel]
    button.onclick = () => turn(links[rel])
  }
}

function turn(url) {
  const paged = url.searchParams.has('pageAfter') || url.searchParams.has('pageBefore')
  // The first page is the one that goes on showing what is new.
  address = paged ? url.pathname + url.search : ''
  choice += 1
  close()
  show()
}

function use(text) {
  key = text.trim()
  sessionStorage.setItem('key', key)
  at('key').value = key
}

at('session').onsubmit = (event) => {
  event.preventDefault()
  use(at('key').value)
  symbols.clear()
  choose()
}
at('pages').append(...turns.map(({ button }) => button))
at('sections').append(
  ...Object.entries(sections).map(([name, { title }]) => make('a', { href: `#${name}`, textContent: title })),
)
if (key) use(key)
// A sandbox offers its public key. It does not replace a key that is being typed.
const sandbox = await ask('/sandbox').catch(() => undefined)
if (!key && !at('key').value) use(sandbox?.data.apiKey ?? '')
if (!location.hash) history.replaceState(null, '', sandbox ? '#overview' : '#wallets')
addEventListener('hashchange', choose)
await choose()
setInterval(() => address === '' && !document.hidden && show(), refreshMs)
