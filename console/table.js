/** An element with these properties and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

/** Changes a text only where it differs, so that a selection in it stays. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}

const keyOf = (item) => item.id ?? item.blockchain

/**
 * Shows the items of a section in `view`. A row stays the same element for as long as its item is there, so that it keeps
 * the focus, and the page does not jump, while others come and go.
 */
export function draw(view, section, items, open) {
  if (items.length === 0)
    return view.replaceChildren(make('p', { className: 'empty', textContent: section.empty }))
  if (view.firstElementChild?.tagName !== 'TABLE') view.replaceChildren(emptyTable(section))
  const body = view.querySelector('tbody')
  const wanted = new Set(items.map(keyOf))
  for (const row of [...body.rows]) if (!wanted.has(row.dataset.key)) row.remove()
  const rows = new Map([...body.rows].map((row) => [row.dataset.key, row]))
  items.forEach((item, index) => {
    const row = rows.get(keyOf(item)) ?? emptyRow(section, item)
    fill(row, section, item)
    row.onclick = () => item.id && open(item)
    if (body.rows[index] !== row) body.insertBefore(row, body.rows[index] ?? null)
  })
}

function emptyTable({ columns }) {
  const headings = columns.map(({ heading, style }) =>
    make('th', { textContent: heading, className: style === 'right' ? style : '' }),
  )
  return make('table', {}, make('thead', {}, make('tr', {}, ...headings)), make('tbody'))
}

function emptyRow({ columns }, item) {
  const row = make('tr', item.id ? { tabIndex: 0 } : {}, ...columns.map(() => make('td')))
  row.dataset.key = keyOf(item)
  row.onkeydown = (event) => event.key === 'Enter' && row.click()
  return row
}

function fill(row, { columns }, item) {
  columns.forEach(({ read, style }, index) => {
    const cell = row.cells[index]
    const text = String(read(item) ?? '')
    say(cell, text)
    cell.className = style === 'state' ? text : style
    cell.title = text
  })
}
