import fc from 'fast-check'

const character = fc
  .oneof(
    fc.integer({ min: 0x20, max: 0x7e }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint))

/**
 * Text of any characters, its length in code points. The library's own arbitrary first indexes all of Unicode, which
 * takes a second.
 */
export const anyText = (length: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.array(character, length).map((characters) => characters.join(''))
