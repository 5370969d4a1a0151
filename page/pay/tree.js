import { paths } from '../dom.js'

/**
 * Parts of a page as plain values: the server writes them as HTML, and the browser compares them with what it shows. So there is one
 * description of the page, and texts never become markup in either place.
 */

/** A part; children that are false or absent are left out. */
export const el = (tag, attributes, ...children) => ({
  tag,
  attributes: Object.fromEntries(
    Object.entries(attributes ?? {}).filter(([, value]) => value !== undefined && value !== false),
  ),
  children: joined(
    children.flat().filter((child) => child !== undefined && child !== null && child !== false),
  ),
})

/** Texts that follow one another are one text, as in HTML. */
function joined(children) {
  const all = []
  for (const child of children)
    if (typeof child === 'string' && typeof all.at(-1) === 'string') all.push(all.pop() + child)
    else all.push(child)
  return all
}

/** A drawing that says nothing to a screen reader: words beside it do. */
export const drawing = (name) =>
  el(
    'svg',
    { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' },
    paths[name].map((d) => el('path', { d })),
  )
