/**
 * The colors, images and the font that an app chooses. They never touch the summary of a request: an app must not be able to
 * hide what the user signs, so a summary has the page's own font, and an app's colors only where they can be read.
 */
const names = [
  ...[
    'backdrop',
    'divider',
    'bg',
    'success',
    'error',
    'textMain',
    'textMain2',
    'textAuxiliary',
    'textAuxiliary2',
  ],
  ...['textPlaceholder', 'textInteractive', 'interactiveBg', 'tooltipText', 'tooltipBg'],
  ...[
    'pinDotBase',
    'pinDotBaseBorder',
    'pinDotActivated',
    'enteredPinText',
    'inputText',
    'inputBorderFocused',
  ],
  ...[
    'inputBorderFocusedError',
    'inputBg',
    'inputBgDisabled',
    'dropdownBg',
    'dropdownBorderIsOpen',
    'dropdownBorderError',
  ],
  ...[
    'mainBtnText',
    'mainBtnTextDisabled',
    'mainBtnTextOnHover',
    'mainBtnBg',
    'mainBtnBgOnHover',
    'mainBtnBgDisabled',
  ],
  ...[
    'secondBtnText',
    'secondBtnTextDisabled',
    'secondBtnTextOnHover',
    'secondBtnBorder',
    'secondBtnBorderOnHover',
  ],
  ...[
    'secondBtnBgOnHover',
    'secondBtnBorderDisabled',
    'plainBtnText',
    'plainBtnTextDisabled',
    'plainBtnTextOnHover',
  ],
  ...['plainBtnBg', 'plainBtnBgOnHover', 'recoverPinHintTitle', 'recoverPinHintTitleBg', 'recoverPinHint'],
]
const summaryNames = ['textSummary', 'textSummaryHighlight', 'textDetailToggle']

const root = document.documentElement
const isColor = (text) =>
  typeof text === 'string' && text.length <= 64 && !/[;{}]|url|var/i.test(text) && CSS.supports('color', text)
const set = (name, value) => root.style.setProperty(`--${name}`, value)

export function paint(colors) {
  const theme = typeof colors === 'object' && colors !== null ? colors : {}
  for (const name of names) if (isColor(theme[name])) set(name, theme[name])
  const { backdropOpacity, titleGradients } = theme
  if (typeof backdropOpacity === 'number' && backdropOpacity >= 0 && backdropOpacity <= 1)
    set('backdropOpacity', backdropOpacity)
  const stops = Array.isArray(titleGradients) ? titleGradients.filter(isColor).slice(0, 8) : []
  if (stops.length > 0) {
    set(
      'titleGradients',
      `linear-gradient(90deg, ${stops.length > 1 ? stops.join(', ') : `${stops[0]}, ${stops[0]}`})`,
    )
    root.classList.add('gradient')
  }
  if (!isColor(theme.bg)) return
  // The rest of the page follows the background that the app chose, whatever the device prefers.
  root.dataset.scheme = luminance(theme.bg) > 0.35 ? 'light' : 'dark'
  for (const name of summaryNames)
    if (isColor(theme[name]) && contrast(theme[name], theme.bg) >= 4.5) set(name, theme[name])
}

/** The relative luminance of a color, as the guidelines for contrast define it. */
function luminance(color) {
  const [red, green, blue] = rgbOf(color).map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function rgbOf(color) {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d')
  canvas.fillStyle = color
  canvas.fillRect(0, 0, 1, 1)
  return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)]
}

let images = {}

const isImage = (text) => typeof text === 'string' && /^(https:\/\/|data:image\/)/.test(text)

/** Takes the images and the font of an app. A style sheet is not loaded, because it could hide a part of the page. */
export function dress(resources) {
  const chosen = typeof resources === 'object' && resources !== null ? resources : {}
  images = Object.fromEntries(Object.entries(chosen).filter(([, url]) => isImage(url)))
  void loadFont(chosen.fontFamily)
}

async function loadFont(font) {
  const { name, url } = typeof font === 'object' && font !== null ? font : {}
  if (typeof name !== 'string' || !/^[\w -]{1,60}$/.test(name)) return
  set('font', `"${name}", system-ui, sans-serif`)
  if (typeof url !== 'string' || !/^(https:\/\/\S+\.(woff2?|ttf|otf)(\?\S*)?|data:font\/\S+)$/.test(url))
    return
  const face = await new FontFace(name, `url(${JSON.stringify(url)})`).load().catch(() => undefined)
  if (face) document.fonts.add(face)
}

/** The image that an app has for a place, or what the page shows there. */
export function pictureOr(name, own, className = '') {
  const url = images[name]
  if (!url) return own
  const picture = Object.assign(new Image(), {
    src: url,
    alt: '',
    className: `picture ${className}`,
    referrerPolicy: 'no-referrer',
  })
  picture.onerror = () => picture.replaceWith(own ?? '')
  return picture
}
