/**
 * Colors as numbers. A color of an app is never handed to a style as it was written: what was measured is what is shown, so
 * neither a transparent color nor one that follows another hides a text.
 */

/** Contrast below which a text counts as hidden, after the guidelines for contrast. */
const readable = 4.5

const black = [0, 0, 0]
const white = [255, 255, 255]

/** The red, green, blue and opacity of a color; `undefined` for what is none. */
function partsOf(text) {
  if (typeof text !== 'string' || text.length > 64 || !CSS.supports('color', text)) return undefined
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { colorSpace: 'srgb' })
  const read = (before) => {
    canvas.fillStyle = before
    canvas.fillStyle = text
    return canvas.fillStyle
  }
  // A word such as `inherit` leaves the color before it.
  if (read('#000000') !== read('#ffffff')) return undefined
  canvas.fillRect(0, 0, 1, 1)
  const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data
  return { rgb: [red, green, blue], opacity: alpha / 255 }
}

/** A color that covers what is below it; `undefined` for one that does not. */
export function opaque(text) {
  const parts = partsOf(text)
  return parts?.opacity === 1 ? parts.rgb : undefined
}

/** A color as it looks on a ground. */
export function over(text, ground) {
  const parts = partsOf(text)
  return parts?.rgb.map((part, index) =>
    Math.round(part * parts.opacity + ground[index] * (1 - parts.opacity)),
  )
}

export const textOf = (rgb) => `rgb(${rgb.join(' ')})`

/** The relative luminance of a color, as the guidelines for contrast define it. */
export function luminance(rgb) {
  const [red, green, blue] = rgb.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

export function isReadable(rgb, ground) {
  const [dark, light] = [luminance(rgb), luminance(ground)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05) >= readable
}

/** The first of these colors that can be read on the ground; black or white always can. */
export const firstReadable = (colors, ground) =>
  [...colors, black, white].find((rgb) => rgb && isReadable(rgb, ground))
