/** An element with these properties and children. Attributes are those that no property sets. */
export function make(tag, { attributes = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false))
  return element
}

let made = 0
/** An id that no other element has. */
export const freshId = (word) => `${word}-${++made}`

export const paths = {
  close: ['M6 6l12 12', 'M18 6L6 18'],
  back: ['M15 5l-7 7 7 7'],
  down: ['M6 9l6 6 6-6'],
  check: ['M5 12.5l4.5 4.5L19 7.5'],
  alert: ['M12 8v5', 'M12 16.5v.01', 'M12 3l9.5 17h-19z'],
  info: ['M12 11v5', 'M12 8v.01', 'M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18'],
  lock: ['M7 11V8a5 5 0 0 1 10 0v3', 'M5.5 11h13v9h-13z'],
  shield: ['M12 3l7.5 3v5.5c0 4.6-3.1 7.9-7.5 9.5-4.4-1.6-7.5-4.9-7.5-9.5V6z', 'M8.5 12l2.5 2.5 4.5-5'],
  key: ['M8 10.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 1 0 0-9', 'M11.2 11.8L20 3.5', 'M16 7.3l3 3', 'M13.6 9.6l2 2'],
  mail: ['M4 6.5h16v11H4z', 'M4.5 7l7.5 6 7.5-6'],
  coin: [
    'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 1 0 0-17',
    'M12 7.5v9',
    'M14.5 9.2c-.6-.7-1.5-1-2.5-1-1.4 0-2.5.7-2.5 1.9s1.1 1.6 2.5 1.9 2.5.7 2.5 1.9-1.1 1.9-2.5 1.9c-1 0-1.9-.3-2.5-1',
  ],
  pen: ['M4.5 19.5l1-4L16 5l3 3L8.5 18.5z', 'M14 7l3 3'],
  copy: ['M9 9h10v10H9z', 'M15 9V5H5v10h4'],
  code: ['M9 8l-4 4 4 4', 'M15 8l4 4-4 4'],
  clock: ['M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 1 0 0-17', 'M12 7.5V12l3 2'],
  chain: [
    'M10 13.5a3.5 3.5 0 0 0 5 0l3.5-3.5a3.5 3.5 0 0 0-5-5L12 6.5',
    'M14 10.5a3.5 3.5 0 0 0-5 0L5.5 14a3.5 3.5 0 0 0 5 5L12 17.5',
  ],
  wallet: ['M4 7.5h15v11H4z', 'M4 7.5l11-3v3', 'M15.5 13v.01'],
}

const svg = 'http://www.w3.org/2000/svg'

/** A drawing that says nothing to a screen reader: words beside it do. */
export function icon(name) {
  const drawing = document.createElementNS(svg, 'svg')
  drawing.setAttribute('viewBox', '0 0 24 24')
  drawing.setAttribute('class', 'icon')
  drawing.setAttribute('aria-hidden', 'true')
  for (const d of paths[name]) {
    const path = document.createElementNS(svg, 'path')
    path.setAttribute('d', d)
    drawing.append(path)
  }
  return drawing
}

// Controls, and characters that have no width or turn the direction of a text around; those within an emoji belong to it.
const unseen =
  /(?<=\p{Emoji})\ufe0f|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<hidden>(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}])/gu

const nameOf = (character) => `[U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`

/** The text with such characters named, so that a value is what it looks like. */
export const visible = (text) =>
  text.replaceAll('\r\n', '\n').replace(unseen, (found, hidden) => (hidden ? nameOf(hidden) : found))

/** Lets an address break in its middle alone, so that its last characters do not stand in a line of their own. */
export const halves = (text) =>
  /^0x[0-9a-f]{40}$/i.test(text) ? [text.slice(0, 22), make('wbr'), text.slice(22)] : [text]
