/**
 * Normalises answers to security questions, so that the same answer opens the key however a keyboard writes it. Strings cannot
 * be wiped, so no string holds more than one letter with its marks; everything longer is a Buffer.
 */

/** Bytes of a normalised answer. */
const answerBytesMax = 512

const isMark = /^\p{M}$/u
const isSpace = /^\s$/u

/**
 * Unicode NFKD, without case, with single spaces and none at the ends, as UTF-8 that the caller wipes; `undefined` for bytes
 * that are not UTF-8, for nothing, and for too much. Decomposed, because that depends on no letter but the one at hand.
 */
export function normalAnswer(bytes: Buffer): Buffer | undefined {
  if (bytes.length > answerBytesMax) return undefined
  const normal = Buffer.alloc(answerBytesMax)
  let length = 0
  let isFull = false
  const write = (letter: string) => {
    if (length + Buffer.byteLength(letter) > normal.length) isFull = true
    else length += normal.write(letter, length)
  }
  let hasGap = false
  try {
    for (const letter of lettersOf(bytes)) {
      const folded = fold(letter)
      if (isSpace.test(folded) || folded === '') hasGap = true
      else {
        if (hasGap && length > 0) write(' ')
        hasGap = false
        write(folded)
      }
    }
    return isFull || length === 0 ? undefined : Buffer.from(normal.subarray(0, length))
  } catch {
    return undefined
  } finally {
    normal.fill(0)
  }
}

/** Upper case first, so that letters with two lower-case forms, such as sigma, become one. */
const fold = (letter: string) => letter.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD').trim()

/** Yields each character with the marks that follow it. Throws where the bytes are not UTF-8. */
function* lettersOf(bytes: Buffer): Generator<string> {
  let letter = ''
  for (let at = 0; at < bytes.length; ) {
    const end = at + lengthOf(bytes[at]!)
    const character = strict.decode(bytes.subarray(at, end))
    if (isMark.test(character) && letter.length < lettersMax) letter += character
    else {
      if (letter !== '') yield letter
      letter = character
    }
    at = end
  }
  if (letter !== '') yield letter
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** UTF-16 units of a letter with its marks; more marks stand alone. */
const lettersMax = 8

/** Bytes of the character that begins with this byte; the decoder refuses false ones. */
const lengthOf = (first: number) => (first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4)

/** Joins normalised answers in the order of their questions, each with its length in front; the caller wipes it. */
export function joinAnswers(answers: readonly Buffer[]): Buffer {
  const joined = Buffer.alloc(answers.reduce((sum, { length }) => sum + 2 + length, 0))
  let at = 0
  for (const answer of answers) {
    at = joined.writeUInt16BE(answer.length, at)
    at += answer.copy(joined, at)
  }
  return joined
}
