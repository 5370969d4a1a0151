import { isTestChain, parseScreenedAddress, type ScreeningChain } from '#chains/screening-chains'
import type { Subject } from './types.ts'

/** The address to screen, or `undefined` when it is invalid on that chain. */
export function parseSubject(chain: ScreeningChain, text: string): Subject | undefined {
  const parsed = parseScreenedAddress(chain, text)
  return parsed && { ...parsed, text, isTest: isTestChain(chain) }
}
