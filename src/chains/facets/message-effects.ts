import type { Effects } from './call-effects.ts'

/** Decodes a message that is signed as text or bytes. One that is as long as a hash, or spells one, may stand for anything. */
export function messageEffects(bytes: Uint8Array): Effects {
  const text = bytes.length <= 80 ? Buffer.from(bytes).toString('latin1').trim() : ''
  const mayBeHash = bytes.length === 32 || /^(0x)?[0-9a-f]{64}$/i.test(text)
  return { effects: [], dangers: mayBeHash ? ['rawHash'] : [], parties: [] }
}
