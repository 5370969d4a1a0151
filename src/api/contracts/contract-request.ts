import { requireChain } from '#api/sources/connected-chain'
import { unusableChain } from '#api/sources/usable-chains'
import { addressForm, parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import type { ContractAbi } from '#chains/facets/contracts'
import { type ContractChain, hasFacet } from '#chains/facets/optional'
import { ValueProblem } from '#chains/invalid-value'
import { networkOf } from '#chains/networks/index'
import type { Ctx } from '#engines/ctx'
import type { ErrorName } from '#lib/error-kinds'
import { invalid } from '#lib/errors'

/** The connected chain of that name, which has contracts and is reachable with this kind of API key. */
export function requireContractChain(ctx: Ctx, blockchain: Blockchain): ContractChain {
  const refusal = () => unusableChain(ctx, 'blockchain', blockchain, 'contractChainUnsupported', 'contracts')
  if (!networkOf(blockchain) || !capabilitiesOf(blockchain).contracts) throw refusal()
  const chain = requireChain(ctx, blockchain)
  if (hasFacet(chain, 'contracts')) return chain
  throw refusal()
}

export function requireAddress(blockchain: Blockchain, field: string, text: string): Address {
  const address = parseAddress(blockchain, text)
  if (address) return address
  const reason = `must be ${addressForm(blockchain)}`
  throw invalid({ at: field, reason, value: text, kind: 'contractAddressInvalid', error: 'pattern_mismatch' })
}

export const requireAbi = (chain: ContractChain, json: string): ContractAbi =>
  readOrRefuse(() => chain.contracts.readAbi(json), 'abiInvalid')

/** Reads values of a request; one that does not fit is refused with this error, at its field. */
export function readOrRefuse<Result>(read: () => Result, kind: ErrorName): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ValueProblem)) throw error
    throw invalid({ at: error.location, reason: error.reason, kind })
  }
}
