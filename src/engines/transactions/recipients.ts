import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { UserOperation } from '#chains/facets/accounts'
import type { Call } from '#chains/facets/payments'
import { isScreeningChain, parseScreenedAddress } from '#chains/screening-chains'
import type { Operation } from '#custody/policy/index'
import type { Counterparty } from '#engines/compliance/index'

/** The effects of a payload, as policy and screening evaluate it. */
type DecodedPayload = Pick<Operation, 'effects' | 'parties'>

/**
 * The addresses that get value or power over it, or are called, each on the chain where it is: recipients inside calldata too,
 * and those on other chains. `blockchain` is that of the wallet, for signatures that are valid on every chain.
 */
export function recipientsOf(blockchain: string, { effects }: DecodedPayload): Counterparty[] {
  return distinct(
    effects.flatMap((effect) => {
      const on = screenedOn(blockchain, effect.blockchain)
      if (!('destination' in effect))
        return 'contract' in effect && effect.contract !== 'none'
          ? [{ blockchain: on, address: effect.contract }]
          : []
      const { destination: address, destinationChain } = effect
      if (address === undefined) return []
      return [
        {
          blockchain: destinationChain === undefined ? on : screenedOn(blockchain, destinationChain),
          address,
        },
      ]
    }),
  )
}

/**
 * The same, and every other address that takes part: also a word in an argument that may be one, except in calls that this server
 * makes by itself. A burn for what was minted has to follow, whom it names or not.
 */
export function counterpartiesOf(
  blockchain: string,
  decoded: DecodedPayload,
  { guessed } = { guessed: true },
): Counterparty[] {
  const { parties = [] } = decoded
  const others = parties
    .filter((party) => guessed || !party.guessed)
    .map(({ address, blockchain: at }) => ({ address, blockchain: screenedOn(blockchain, at) }))
  return distinct([...recipientsOf(blockchain, decoded), ...others])
}

/** An address on a chain that cannot be screened is looked up as one of the wallet's chain: lists name accounts of all EVM chains. */
const screenedOn = (blockchain: string, at: string): string => (isScreeningChain(at) ? at : blockchain)

/** Each once; without accounts whose form their chain does not have. */
const distinct = (all: readonly Counterparty[]): Counterparty[] => {
  const each = new Map(all.map((one) => [`${one.blockchain} ${one.address}`, one]))
  return [...each.values()].filter(
    ({ blockchain, address }) =>
      isScreeningChain(blockchain) && parseScreenedAddress(blockchain, address) !== undefined,
  )
}

/** The addresses that a call concerns. */
export const counterpartiesOfCall = (chain: Chain, call: Call): Counterparty[] =>
  counterpartiesOf(chain.network.blockchain, chain.payments.decodeCall(call))

/** The addresses that the creation of an operation's account concerns: its first owners. */
export const counterpartiesOfCreation = (
  chain: Chain,
  { creation }: Pick<UserOperation, 'creation'>,
): Counterparty[] =>
  creation
    ? counterpartiesOfCall(chain, { to: creation.factory as Address, valueAtomic: 0n, data: creation.data })
    : []
