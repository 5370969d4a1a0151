/** Replacements of transactions where a chain numbers those of an address. */

export type { ReplacementKind } from '../store/replacements.ts'
export { requestReplacement } from './request-replacement.ts'
