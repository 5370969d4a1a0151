import type { Endpoint } from '#runtime/http/endpoint'
import { openBaseFees } from './base-fee.ts'
import { type ControlParts, openChainControl } from './control.ts'
import { chainControlEndpoints } from './endpoints.ts'

/** Opens the control of the local chains; `stop` ends what it holds on them. */
export function openChains(parts: ControlParts): {
  endpoints: readonly Endpoint<never>[]
  stop: () => Promise<void>
} {
  const fees = openBaseFees()
  return { endpoints: chainControlEndpoints(openChainControl(parts), fees), stop: fees.stop }
}
