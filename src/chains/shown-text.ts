/** Texts by which tokens describe themselves, which their makers choose at will. */

/** The longest name or symbol that is kept of a token; a longer one is cut. */
export const textBytesMax = 100
/** The longest address of metadata that is kept. A longer one is left out: an address that was cut would lead elsewhere. */
export const uriBytesMax = 8_192

/** Without characters that cannot be stored, hide others or change the direction of a line. */
export const shownText = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\ufffd]/gu, '').trim()
