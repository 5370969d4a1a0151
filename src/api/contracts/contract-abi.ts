import type { ContractAbi } from '#chains/facets/contracts'
import type { ContractChain } from '#chains/facets/optional'
import type { ContractRow } from './store.ts'

/** The ABI of a contract with that of its implementation; undefined where neither is known. */
export function abiOfContract(
  chain: ContractChain,
  { abiJson, implementation }: ContractRow,
): ContractAbi | undefined {
  const texts = [abiJson, implementation?.abiJson].filter((text) => typeof text === 'string')
  if (texts.length === 0) return undefined
  const abis = texts.map((text) => chain.contracts.readAbi(text))
  return {
    functions: abis.flatMap(({ functions }) => functions),
    events: abis.flatMap(({ events }) => events),
    errors: abis.flatMap(({ errors }) => errors),
  }
}
