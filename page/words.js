import { icon, make, visible } from './dom.js'
import { siteName } from './parent.js'
import { given, tame } from './texts.js'
import { pictureOr } from './theme.js'

/**
 * The place of the app: words and an image of its own, under its name. Screens that show a request or a warning have words of an
 * app here and nowhere else, and the place cuts what would reach out of it.
 */
export function appWords({ texts = [], items = [], values = [], image, note, link }) {
  const lines = [...texts.flatMap(([group, name]) => given(group, name) ?? []), ...items]
  const parts = [
    ...lines.map((text) => make('p', { textContent: text, dir: 'auto' })),
    values.length > 0 && valuesOf(values),
    link,
  ].filter(Boolean)
  const picture = image && pictureOr(image, undefined)
  if (parts.length === 0 && !picture) return undefined
  return make(
    'aside',
    { className: 'said', attributes: { 'aria-label': `Words of ${siteName}` } },
    make('p', { className: 'by' }, picture, make('bdi', { textContent: siteName }), ' says'),
    ...parts,
    note && make('p', { className: 'note', textContent: note }),
  )
}

const valueMax = 600

const valuesOf = (values) =>
  make(
    'details',
    { className: 'claims' },
    make('summary', {}, 'More of it', icon('down')),
    make(
      'dl',
      {},
      ...values.map(([term, value]) =>
        make(
          'div',
          {},
          make('dt', { textContent: term, dir: 'auto' }),
          make('dd', { textContent: visible(value.slice(0, valueMax)), dir: 'auto' }),
        ),
      ),
    ),
  )

/** Lines of an app below the page's own, such as what its users agree to. */
export const appItems = (items) =>
  (Array.isArray(items) ? items : []).slice(0, 10).flatMap((item) => tame(item, 400) ?? [])
