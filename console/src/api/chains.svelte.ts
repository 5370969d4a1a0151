import { publicDomainOf } from '../format/chains.ts'
import { read } from './ask.ts'
import type { OperatorChain } from './types.ts'

export type Capability = OperatorChain['capabilities'][number]

/** The facts of the chains of the server, which it has as long as it runs. */
const known: Record<string, OperatorChain> = $state({})
let asked: Promise<void> | undefined

function load(): Promise<void> {
  asked ??= read<OperatorChain[]>('/operator/chains').then(
    (chains) => {
      for (const chain of chains) known[chain.blockchain] = chain
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
  return Object.keys(known).filter(
    (name) => capability === undefined || known[name]!.capabilities.includes(capability),
  )
}

/** The first chain of the server, which forms choose by themselves; undefined until the server has told. */
export const firstChain = (): string | undefined => Object.keys(known)[0]

/** Whether a chain has a capability; false until the server has told. */
export function hasCapability(blockchain: string, capability: Capability): boolean {
  return factsOf(blockchain)?.capabilities.includes(capability) ?? false
}

/** The coin that pays for gas; undefined until the server has told. */
export const nativeSymbol = (blockchain: string): string | undefined => factsOf(blockchain)?.nativeSymbol

/** The number of a chain in cross-chain messages. The server knows those of its own networks too. */
export const domainOf = (blockchain: string): number | undefined =>
  factsOf(blockchain)?.domain ?? publicDomainOf(blockchain)

function factsOf(blockchain: string): OperatorChain | undefined {
  void load().catch(() => undefined)
  return known[blockchain]
}
