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
