const pinLength = 6
const [zero, nine] = [0x30, 0x39]

/** The rule that a refused PIN breaks, as the reason of an error. */
export const pinRule = 'must be 6 digits that are neither all the same nor a run such as 123456 or 987654'

/** Whether the bytes are a PIN that a user may choose. The page checks the same, but a page can be another one. */
export function isPin(bytes: Buffer): boolean {
  if (bytes.length !== pinLength || !bytes.every((digit) => digit >= zero && digit <= nine)) return false
  const step = bytes[1]! - bytes[0]!
  const isRun = bytes.every((digit, index) => index === 0 || digit - bytes[index - 1]! === step)
  return !(isRun && Math.abs(step) <= 1)
}
