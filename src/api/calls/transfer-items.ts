import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { tokensOn } from '#chains/facets/optional'
import type { Call } from '#chains/facets/payments'
import { hasItems, type TokenStandard } from '#chains/facets/tokens'
import { ValueProblem } from '#chains/invalid-value'
import type { Ctx } from '#engines/ctx'
import { balanceUnits, type Token, unlistedTokenId } from '#engines/ledger/tokens/index'
import { formatAmount } from '#lib/amounts'
import { invalid, notFound } from '#lib/errors'
import { requireAmount, type SentToken } from './transfer-request.ts'

export type AmountFields = { amounts?: readonly string[]; nftTokenIds?: readonly string[] }

/** The amounts that a transfer takes from its sender, each of a token or an item, and its call. */
type LeavingAmounts = {
  units: readonly { id: string; amountAtomic: bigint }[]
  amountTexts: readonly string[]
  nftTokenIds: readonly string[] | undefined
  call(chain: Chain, parties: { from: Address; to: Address }): Call
}

/** The amounts of a request, as the standard of its token has them; zero only where `zeroAllowed`. */
export async function requireLeaving(
  ctx: Ctx,
  token: SentToken,
  { amounts = [], nftTokenIds = [] }: AmountFields,
  { zeroAllowed = false, known = true } = {},
): Promise<LeavingAmounts> {
  if (hasItems(token.standard)) return requireItems(ctx, token, amounts, nftTokenIds, known)
  if (nftTokenIds.length > 0)
    throw invalid({
      at: 'nftTokenIds',
      reason: `does not go with a token that has no items: omit it, or name the token of the NFTs`,
      value: nftTokenIds,
      error: 'not_required',
    })
  const { text, atomic } = requireAmount(amounts, token, zeroAllowed)
  return {
    units: [{ id: token.id, amountAtomic: atomic * (token.units ?? 1n) }],
    amountTexts: [text],
    nftTokenIds: undefined,
    call: (chain, { to }) => paymentCall(chain, to, atomic, token),
  }
}

function paymentCall(chain: Chain, to: Address, atomic: bigint, token: Token): Call {
  try {
    return chain.payments.transferCall(to, atomic, token.address ?? undefined, token.decimals)
  } catch (error) {
    if (!(error instanceof ValueProblem)) throw error
    throw invalid({
      at: 'amounts[0]',
      reason: error.reason,
      value: formatAmount(atomic, token.decimals),
      kind: 'amountsInvalid',
      error: 'max_value',
    })
  }
}

/** `known`: whether the items must be known to this server. */
async function requireItems(
  ctx: Ctx,
  token: Token,
  amounts: readonly string[],
  nftTokenIds: readonly string[],
  known: boolean,
): Promise<LeavingAmounts> {
  const isUnique = token.standard === 'ERC721'
  if (nftTokenIds.length === 0 || (isUnique && nftTokenIds.length > 1))
    throw invalid({
      at: 'nftTokenIds',
      reason: isUnique ? 'must have exactly one item for an ERC721 token' : 'must name at least one NFT',
      value: nftTokenIds,
      kind: 'nftCountInvalid',
      error: 'length_outside_bounds',
    })
  if (amounts.length !== nftTokenIds.length)
    throw invalid({
      at: 'amounts',
      reason: 'must have one item for each of nftTokenIds',
      value: amounts,
      kind: 'nftAmountsMismatch',
      error: 'length_outside_bounds',
    })
  const items = nftTokenIds.map((text, index) => ({
    itemId: requireItemId(nftTokenIds, text, index),
    amountAtomic: requireItemAmount(token, amounts[index]!, index),
  }))
  const units = items.map(({ itemId, amountAtomic }) => ({
    id: unlistedTokenId(token.blockchain, token.address!, itemId),
    amountAtomic,
  }))
  if (known) await requireKnown(ctx, units, nftTokenIds)
  return {
    units,
    amountTexts: amounts,
    nftTokenIds,
    call: (chain, parties) =>
      tokensOn(chain).itemsCall(token.address!, token.standard as TokenStandard, parties, items),
  }
}

const largest = 2n ** 256n - 1n

/** The id that the text is; undefined where no contract can have it. */
export function parseItemId(text: string): bigint | undefined {
  const itemId = /^\d{1,78}$/.test(text) ? BigInt(text) : undefined
  return itemId !== undefined && itemId <= largest ? itemId : undefined
}

function requireItemId(all: readonly string[], text: string, index: number): bigint {
  const location = `nftTokenIds[${index}]`
  const itemId = parseItemId(text)
  if (itemId === undefined)
    throw invalid({
      at: location,
      reason: 'must be a whole number such as "12", below 2^256',
      value: text,
      error: 'number_format',
    })
  if (all.findIndex((other) => parseItemId(other) === itemId) < index)
    throw invalid({ at: location, reason: 'names an NFT twice: add up its amounts', value: text })
  return itemId
}

function requireItemAmount({ standard }: Token, text: string, index: number): bigint {
  const amount = /^\d{1,78}$/.test(text) ? BigInt(text) : undefined
  const fits =
    amount !== undefined && amount > 0n && amount <= largest && (standard !== 'ERC721' || amount === 1n)
  if (fits) return amount
  const rule = standard === 'ERC721' ? 'must be "1" for an ERC721 token' : 'must be a whole number above zero'
  throw invalid({
    at: `amounts[${index}]`,
    reason: rule,
    value: text,
    kind: 'amountsInvalid',
    error: 'number_format',
  })
}

async function requireKnown(
  ctx: Ctx,
  units: readonly { id: string }[],
  nftTokenIds: readonly string[],
): Promise<void> {
  const known = new Set(
    (
      await balanceUnits(
        ctx.db,
        units.map(({ id }) => id),
      )
    ).map(({ id }) => id),
  )
  const missing = units.findIndex(({ id }) => !known.has(id))
  if (missing >= 0) throw notFound('NFT', nftTokenIds[missing], 'nftNotFound', `nftTokenIds[${missing}]`)
}
