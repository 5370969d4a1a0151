import { navigate } from '../router.svelte.ts'
import { settings } from '../settings.svelte.ts'
import { sections } from './sections.ts'

/** Keys that do something wherever the focus is, unless it is where text is written. */
export type Commands = Record<string, () => void>

const isWriting = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')

/** Listens to single keys, and to `g` with the letter of a section. Readers can switch them off. */
export function listenToKeys(commands: Commands): (event: KeyboardEvent) => void {
  let isGoing = false
  return (event) => {
    const { key, target, metaKey, ctrlKey, altKey } = event
    if ((metaKey || ctrlKey) && key.toLowerCase() === 'k') {
      event.preventDefault()
      commands['/']?.()
      return
    }
    if (
      settings.keys === 'off' ||
      metaKey ||
      ctrlKey ||
      altKey ||
      isWriting(target) ||
      document.querySelector('dialog[open]')
    )
      return
    const section = isGoing ? sections.find(({ letter }) => letter === key) : undefined
    isGoing = key === 'g'
    if (section) navigate(section.path)
    else if (key === 'j' || key === 'k') moveRow(key === 'j' ? 1 : -1)
    else if (commands[key]) commands[key]()
    else return
    event.preventDefault()
  }
}

/** Moves the focus to the next or the previous row of the list on the page. */
function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('a[data-row]')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]?.focus()
}
