import type { Setting } from './settings.ts'

/** Texts of settings, as the environment or a file has them. */
type SettingTexts = { [name in Setting]?: string | undefined }

/** A whole number of up to nine digits. */
export function integerOf(environment: SettingTexts, name: Setting, fallback: number): number {
  const text = environment[name]
  if (text === undefined || text === '') return fallback
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} must be a whole number, not "${text}"`)
  return Number(text)
}

/** An amount in whole coins, in millionths. */
export function wholeCoins(environment: SettingTexts, name: Setting, usual: string): bigint {
  const text = environment[name] || usual
  if (/^(0|[1-9][0-9]{0,17})$/.test(text)) return BigInt(text) * 1_000_000n
  throw new Error(`${name} must be a number of whole coins, not "${text}"`)
}

/** Whether a setting is 1; it is 0 where it is absent. */
export function booleanOf(environment: SettingTexts, name: Setting): boolean {
  const text = environment[name] ?? ''
  if (!['', '0', '1'].includes(text)) throw new Error(`${name} must be 1 or 0, not "${text}"`)
  return text === '1'
}

/** Parses one root key, or two behind one another, between spaces, line breaks or commas; the error names their source. */
export function rootKeysIn(text: string, source: string): Buffer[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  const isKeys = parts.every((part) => /^[0-9a-fA-F]{64}$/.test(part))
  const keys = isKeys ? [...new Set(parts.map((part) => part.toLowerCase()))] : []
  if (keys.length === 1 || keys.length === 2) return keys.map((key) => Buffer.from(key, 'hex'))
  throw new Error(
    `${source} must hold 64 hexadecimal digits (32 bytes) or, while the root key is rotated, the old and the new key, each on a line of its own`,
  )
}
