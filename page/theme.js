import { firstReadable, isReadable, luminance, opaque, over, textOf } from './colors.js'

/**
 * The colors, images and the font that an app chooses. Screens that show a request, a warning or an end have a ground and a
 * font of the page's own; elsewhere a color is used where the text in it can be read.
 */
const root = document.documentElement
const set = (name, rgb) => root.style.setProperty(`--${name}`, textOf(rgb))

/** The page's own colors, on a light and on a dark ground. They are those of `page.css`. */
const ownGround = { light: [255, 255, 255], dark: [26, 26, 23] }
const own = {
  light: {
    ink: [27, 26, 22],
    muted: [92, 88, 77],
    accent: [122, 90, 0],
    good: [23, 105, 63],
    bad: [179, 38, 30],
    main: [27, 26, 22],
    mainOff: [235, 232, 224],
  },
  dark: {
    ink: [240, 237, 228],
    muted: [185, 180, 165],
    accent: [227, 179, 65],
    good: [110, 211, 154],
    bad: [255, 155, 145],
    main: [227, 179, 65],
    mainOff: [44, 43, 38],
  },
}

/** Grounds of texts: the color of the app, and what is below it or in its place. */
const grounds = {
  inputBg: 'bg',
  inputBgDisabled: 'bg',
  dropdownBg: 'bg',
  pinDotBase: 'inputBg',
  mainBtnBg: 'main',
  mainBtnBgOnHover: 'mainBtnBg',
  mainBtnBgDisabled: 'mainOff',
  secondBtnBgOnHover: 'bg',
  plainBtnBg: 'bg',
  plainBtnBgOnHover: 'plainBtnBg',
  recoverPinHintTitleBg: 'bg',
}

/** Texts: the color of the app, its ground, and the page's own color in its place. */
const texts = [
  ['textMain', 'bg', 'ink'],
  ['textAuxiliary', 'bg', 'muted'],
  ['textInteractive', 'bg', 'accent'],
  ['success', 'bg', 'good'],
  ['error', 'bg', 'bad'],
  ['recoverPinHint', 'bg', 'muted'],
  ['secondBtnText', 'bg', 'ink'],
  ['secondBtnTextOnHover', 'secondBtnBgOnHover', 'ink'],
  ['textPlaceholder', 'inputBg', 'muted'],
  ['inputText', 'inputBg', 'ink'],
  ['dropdownText', 'dropdownBg', 'ink'],
  ['enteredPinText', 'pinDotBase', 'ink'],
  ['mainBtnText', 'mainBtnBg', 'ink'],
  ['mainBtnTextOnHover', 'mainBtnBgOnHover', 'ink'],
  ['mainBtnTextDisabled', 'mainBtnBgDisabled', 'muted'],
  ['plainBtnText', 'plainBtnBg', 'accent'],
  ['plainBtnTextOnHover', 'plainBtnBgOnHover', 'accent'],
  ['plainBtnTextDisabled', 'plainBtnBg', 'muted'],
  ['recoverPinHintTitle', 'recoverPinHintTitleBg', 'ink'],
]

/** Lines, which say nothing. */
const lines = [
  'divider',
  'pinDotBaseBorder',
  'inputBorderFocused',
  'inputBorderFocusedError',
  'dropdownBorderIsOpen',
  'secondBtnBorder',
  'secondBtnBorderOnHover',
]

/** Texts of a request, which stand on the page's own ground. */
const summaryTexts = ['textSummary', 'textSummaryHighlight', 'textDetailToggle']

/** Luminance below which light letters are easier to read than dark ones. */
const middle = 0.18

export function paint(colors) {
  const theme = typeof colors === 'object' && colors !== null ? colors : {}
  const ground = opaque(theme.bg)
  const scheme = schemeOf(ground)
  const mine = own[scheme]
  root.dataset.scheme = scheme
  const at = { ...mine, bg: ground ?? ownGround[scheme] }
  if (ground) set('bg', ground)
  for (const [name, below] of Object.entries(grounds)) {
    const color = over(theme[name], at[below])
    at[name] = color ?? at[below]
    if (color) set(name, color)
  }
  for (const [name, below, instead] of texts) {
    const chosen = over(theme[name], at[below])
    const isGiven = chosen !== undefined && isReadable(chosen, at[below])
    if (isGiven) set(name, chosen)
    else if (ground || at[below] !== at.bg) set(name, firstReadable([mine[instead]], at[below]))
  }
  for (const name of lines) {
    const color = over(theme[name], at.bg)
    if (color) set(name, color)
  }
  for (const name of summaryTexts) {
    const color = over(theme[name], ownGround[scheme])
    if (color && isReadable(color, ownGround[scheme])) set(name, color)
  }
  paintBackdrop(theme)
  paintTitles(theme.titleGradients, at.bg)
}

function schemeOf(ground) {
  if (ground) return luminance(ground) > middle ? 'light' : 'dark'
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

function paintBackdrop({ backdrop, backdropOpacity }) {
  const color = over(backdrop, ownGround.dark)
  if (color) set('backdrop', color)
  if (typeof backdropOpacity === 'number' && backdropOpacity >= 0 && backdropOpacity <= 1)
    root.style.setProperty('--backdropOpacity', String(backdropOpacity))
}

/** A gradient passes through every color between its ends, so all of them are on one side of the ground. */
function paintTitles(gradient, ground) {
  const stops = (Array.isArray(gradient) ? gradient.slice(0, 8) : [])
    .map((stop) => over(stop, ground))
    .filter((stop) => stop && isReadable(stop, ground))
  const sides = new Set(stops.map((stop) => luminance(stop) > luminance(ground)))
  if (sides.size !== 1) return
  const [first] = stops
  root.style.setProperty(
    '--titleGradients',
    `linear-gradient(90deg, ${[first, ...stops].map(textOf).join(', ')})`,
  )
  root.classList.add('gradient')
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
  root.style.setProperty('--font', `"${name}", system-ui, sans-serif`)
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
