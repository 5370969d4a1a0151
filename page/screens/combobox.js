import { freshId, icon, make } from '../dom.js'
import { pictureOr } from '../theme.js'

/** A list to choose one text from, as a button that opens it. `optionsOf` is asked each time, for what is left to choose. */
export function combobox({ label, placeholder, optionsOf, onChoose, chosen }) {
  const listId = freshId('list')
  let active = -1
  let items = []
  const text = make('span', { className: chosen ? '' : 'placeholder', textContent: chosen ?? placeholder })
  const button = make(
    'button',
    {
      type: 'button',
      attributes: {
        role: 'combobox',
        'aria-haspopup': 'listbox',
        'aria-expanded': 'false',
        'aria-controls': listId,
        'aria-label': `${label}: ${chosen ?? placeholder}`,
      },
    },
    text,
    pictureOr('dropdownArrow', icon('down')),
  )
  const root = make(
    'div',
    { className: 'combobox', attributes: { 'data-testid': 'question-dropdown' } },
    button,
  )

  const isOpen = () => button.getAttribute('aria-expanded') === 'true'
  const close = () => {
    button.setAttribute('aria-expanded', 'false')
    button.removeAttribute('aria-activedescendant')
    root.querySelector('ul')?.remove()
    root.classList.remove('open')
  }
  const choose = (option) => {
    text.textContent = option
    text.className = ''
    button.setAttribute('aria-label', `${label}: ${option}`)
    close()
    onChoose(option)
  }
  const move = (to) => {
    active = Math.max(0, Math.min(to, items.length - 1))
    for (const [index, item] of items.entries()) {
      item.classList.toggle('active', index === active)
      if (index !== active) continue
      button.setAttribute('aria-activedescendant', item.id)
      item.scrollIntoView({ block: 'nearest' })
    }
  }
  const open = () => {
    const present = text.className ? undefined : text.textContent
    items = optionsOf().map((option) =>
      make(
        'li',
        {
          id: freshId('option'),
          onclick: () => choose(option),
          attributes: { role: 'option', 'aria-selected': String(option === present) },
        },
        make('span', { textContent: option }),
        option === present ? pictureOr('selectCheckMark', icon('check')) : undefined,
      ),
    )
    root.append(make('ul', { id: listId, attributes: { role: 'listbox', 'aria-label': label } }, ...items))
    root.classList.add('open')
    button.setAttribute('aria-expanded', 'true')
    move(
      Math.max(
        0,
        items.findIndex((item) => item.getAttribute('aria-selected') === 'true'),
      ),
    )
  }

  button.onclick = () => (isOpen() ? close() : open())
  button.onblur = () => setTimeout(close, 150)
  button.onkeydown = (event) => {
    const act = isOpen() ? openKeys[event.key] : closedKeys[event.key]
    if (!act) return
    event.preventDefault()
    act({ open, close, move, active, count: items.length, pick: () => items[active]?.click() })
  }
  return root
}

const closedKeys = {
  ArrowDown: ({ open }) => open(),
  ArrowUp: ({ open }) => open(),
  Enter: ({ open }) => open(),
  ' ': ({ open }) => open(),
}
const openKeys = {
  ArrowDown: ({ move, active }) => move(active + 1),
  ArrowUp: ({ move, active }) => move(active - 1),
  Home: ({ move }) => move(0),
  End: ({ move, count }) => move(count - 1),
  Enter: ({ pick }) => pick(),
  ' ': ({ pick }) => pick(),
  Escape: ({ close }) => close(),
}
