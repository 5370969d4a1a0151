import { createHash, randomBytes } from 'node:crypto'

const sha256 = (data: string) => createHash('sha256').update(data).digest()

/**
 * The secret that a login gives to the device of a command-line tool: `shown` goes to the tool, which proves later that it has it by
 * the hash of a text that it derives. `secret`, that hash, opens the wrap of the device; the caller wipes it.
 */
export function newDeviceSecret(): { shown: string; secret: Buffer } {
  const shown = randomBytes(32).toString('hex')
  return { shown, secret: sha256(sha256(shown).toString('base64')) }
}
