import type { Chain } from '#chains/chain'
import type { ContractAbi } from '#chains/facets/contracts'
import { contractsOn } from '#chains/facets/optional'
import type { ContractRow } from './store.ts'

/** The ABI of a contract with that of its implementation; undefined where neither is known. */
export function abiOfContract(
  chain: Chain,
  { abiJson, implementation }: ContractRow,
): ContractAbi | undefined {
  const texts = [abiJson, implementation?.abiJson].filter((text) => typeof text === 'string')
  if (texts.length === 0) return undefined
  const abis = texts.map((text) => contractsOn(chain).readAbi(text))
  return {
    functions: abis.flatMap(({ functions }) => functions),
    events: abis.flatMap(({ events }) => events),
    errors: abis.flatMap(({ errors }) => errors),
  }
}
