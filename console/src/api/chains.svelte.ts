import { read } from './ask.ts'
import type { OperatorChain } from './types.ts'

export type Capability = OperatorChain['capabilities'][number]

/** The capabilities of the chains of the server, which it has as long as it runs. */
const known: Record<string, readonly Capability[]> = $state({})
let asked: Promise<void> | undefined

function load(): Promise<void> {
  asked ??= read<OperatorChain[]>('/operator/chains').then(
    (chains) => {
      for (const { blockchain, capabilities } of chains) known[blockchain] = capabilities
    },
    (error) => {
      asked = undefined
      throw error
    },
  )
  return asked
}

/** The chains of the server that have a capability, or all of them. */
export async function chainsWith(capability?: Capability): Promise<string[]> {
  await load()
  return Object.keys(known).filter((name) => capability === undefined || known[name]!.includes(capability))
}

/** The first chain of the server, which forms choose by themselves; undefined until the server has told. */
export const firstChain = (): string | undefined => Object.keys(known)[0]

/** Whether a chain has a capability; false until the server has told. */
export function hasCapability(blockchain: string, capability: Capability): boolean {
  void load().catch(() => undefined)
  return known[blockchain]?.includes(capability) ?? false
}
