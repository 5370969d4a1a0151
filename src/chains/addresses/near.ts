/** An implicit account (64 lower-case hexadecimal digits) or a named one, 2 to 64 characters. */
export const isNearAddress = (text: string): boolean =>
  text.length >= 2 && text.length <= 64 && /^(([a-z\d]+[-_])*[a-z\d]+\.)*([a-z\d]+[-_])*[a-z\d]+$/.test(text)
