import { addressForm, isReserved, parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import { isTokenContract, tokenAddress, unitsOfBooks } from '#chains/network'
import { networkOf } from '#chains/networks/index'
import type { Ctx } from '#engines/ctx'
import { nativeToken, type Token, tokenByAddress, tokenById } from '#engines/ledger/tokens/index'
import { parseAmount } from '#lib/amounts'
import { invalid } from '#lib/errors'

export type TokenFields = { tokenId?: string; tokenAddress?: string }

/** A token as a request names it. `units`: those of the books in the smallest one of its contract, where they are not the same. */
export type SentToken = Token & { units?: bigint }

/**
 * The token that is sent; without any token field, or with an empty address, the native coin. By the address of its contract, the
 * native coin is sent as that contract does it.
 */
export async function requireToken(
  ctx: Ctx,
  { tokenId, tokenAddress }: TokenFields,
  blockchain: string,
): Promise<SentToken> {
  if (tokenId !== undefined && tokenAddress !== undefined)
    throw invalid({
      at: 'tokenAddress',
      reason: 'cannot be combined with tokenId',
      value: tokenAddress,
      error: 'not_required',
    })
  if (tokenId !== undefined) {
    const token = await tokenById(ctx.db, tokenId)
    if (!token)
      throw invalid({
        at: 'tokenId',
        reason: 'is not a token of this server',
        value: tokenId,
        kind: 'tokenNotFound',
      })
    if (token.blockchain === blockchain) return token
    throw invalid({
      at: 'tokenId',
      reason: `is a token of ${token.blockchain}, the wallet is on ${blockchain}`,
      value: tokenId,
      kind: 'tokenOnOtherChain',
    })
  }
  if (tokenAddress === undefined || tokenAddress === '') return nativeToken(ctx.db, blockchain)
  const address = parseAddress(blockchain as Blockchain, tokenAddress)
  if (!address)
    throw invalid({
      at: 'tokenAddress',
      reason: `must be ${addressForm(blockchain as Blockchain)}`,
      value: tokenAddress,
      kind: 'tokenAddressInvalid',
      error: 'pattern_mismatch',
    })
  const token = await tokenByAddress(ctx.db, blockchain, address)
  if (token) return token.isNative ? byContract(token) : token
  throw invalid({
    at: 'tokenAddress',
    reason: 'is not a token of the blockchain: name the address of one',
    value: tokenAddress,
    kind: 'tokenAddressUnsupported',
  })
}

/** The native coin in the terms of its contract. */
function byContract(native: Token): SentToken {
  const network = networkOf(native.blockchain)
  const contract = network?.nativeToken.contract
  if (!contract) return native
  const { decimals } = contract
  return { ...native, decimals, address: tokenAddress(contract), units: unitsOfBooks(network, contract) }
}

/** Exactly one amount, with no more digits than the token has; zero only where `zeroAllowed`. */
export function requireAmount(
  amounts: readonly string[],
  token: SentToken,
  zeroAllowed = false,
): { text: string; atomic: bigint } {
  const [text, ...more] = amounts
  if (text === undefined || more.length > 0)
    throw invalid({
      at: 'amounts',
      reason: 'must have exactly one item for a fungible token',
      value: amounts,
      kind: 'amountsInvalid',
      error: 'length_outside_bounds',
    })
  const atomic = parseAmount(text, token.decimals)
  if (atomic === 'format')
    throw invalid({
      at: 'amounts[0]',
      reason: 'must be a decimal number such as "12.5"',
      value: text,
      kind: 'amountsNotDecimal',
      error: 'number_format',
    })
  if (atomic === 'decimals')
    throw invalid({
      at: 'amounts[0]',
      reason: `has more than ${token.decimals} decimal places, the precision of ${token.symbol}${token.units === undefined ? '' : ' by its contract: leave tokenAddress out to send more of them'}`,
      value: text,
      kind: 'amountsInvalid',
      error: 'number_format',
    })
  if (atomic === 'range')
    throw invalid({
      at: 'amounts[0]',
      reason: 'exceeds the largest possible balance',
      value: text,
      kind: 'amountsInvalid',
      error: 'max_value',
    })
  if (atomic === 0n && !zeroAllowed)
    throw invalid({
      at: 'amounts[0]',
      reason: 'must be above zero',
      value: text,
      kind: 'amountsInvalid',
      error: 'min_value',
    })
  return { text, atomic }
}

/**
 * A destination that can hold coins: not the zero address, not one reserved by the chain, not the contract of a listed token
 * or of the token that is sent.
 */
export function requireDestination(text: string, blockchain: Blockchain, sent: Token): Address {
  const address = parseAddress(blockchain, text)
  const refuse = (reason: string) =>
    invalid({ at: 'destinationAddress', reason, value: text, kind: 'destinationAddressInvalid' })
  if (!address) throw refuse(`must be ${addressForm(blockchain)}`)
  if (isReserved(blockchain, address))
    throw refuse('is reserved by the blockchain: coins sent there are lost')
  const network = networkOf(blockchain)
  if (address === sent.address || (network && isTokenContract(network, address)))
    throw refuse('is a token contract: coins sent there are lost')
  return address
}
