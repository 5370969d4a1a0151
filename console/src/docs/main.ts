import '../styles/fonts.css'
import '../styles/tokens.css'
import '../styles/base.css'
import './docs.css'
import { applyTheme, keepTheme, keptTheme, themeAfter } from '../theme.ts'
import { addCopyButtons } from './copy.ts'
import { openSearch } from './search.ts'

/** The pages are complete without this script: it adds the search, the copy buttons and the choice of a theme. */
function openThemes(): void {
  const button = document.querySelector<HTMLButtonElement>('button.theme')!
  let theme = keptTheme()
  const show = () => {
    applyTheme(theme)
    button.textContent = `Theme: ${theme}`
  }
  button.addEventListener('click', () => {
    theme = themeAfter(theme)
    keepTheme(theme)
    show()
  })
  show()
  button.hidden = false
}

/** Closes the lists of a phone when a link within the page was chosen. */
function closeLists(): void {
  for (const list of document.querySelectorAll<HTMLElement>('nav[popover]'))
    list.addEventListener('click', ({ target }) => {
      if (target instanceof HTMLAnchorElement && list.matches(':popover-open')) list.hidePopover()
    })
}

openThemes()
addCopyButtons()
openSearch()
closeLists()
document.querySelector('nav.side [aria-current]')?.scrollIntoView({ block: 'nearest' })
