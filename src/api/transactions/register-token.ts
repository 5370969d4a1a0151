import { parseItemId } from '#api/calls/transfer-items'
import type { TokenFields } from '#api/calls/transfer-request'
import { requireChain } from '#api/sources/connected-chain'
import { requireSource } from '#api/sources/source'
import { parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import type { Chain } from '#chains/chain'
import { hasItems } from '#chains/facets/tokens'
import { openSecretOf } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { tokenByAddress, tokenById } from '#engines/ledger/tokens/index'
import { meetItems, meetingEnd, meetToken } from '#engines/tokens/index'
import { formatAmount, parseAmount } from '#lib/amounts'
import { ApiError, invalid } from '#lib/errors'
import { resultWithin } from '#runtime/scheduling/time-limit'
import type { TransferBody } from './create-transfer.ts'

/** Prepares a transfer: its `tx` must neither decrypt nor wait for a node. */
export async function prepareTransfer(
  ctx: Ctx,
  input: { body: TransferBody & { entitySecretCiphertext: string } },
) {
  const secret = await openSecretOf(ctx, input)
  await meetSentToken(ctx, input.body)
  return secret
}

/**
 * Learns the token that a transfer sends, and its NFTs, where they are not known, and refuses a destination that no key
 * spends from, as a node says.
 */
export async function meetSentToken(ctx: Ctx, body: TransferBody): Promise<void> {
  const { tokenAddress, nftTokenIds = [] } = body
  await requirePayable(ctx, body)
  if (!tokenAddress && nftTokenIds.length === 0) return
  const { blockchain, address } = await requireSource(ctx, body)
  await meetGivenToken(ctx, body, { blockchain, address, entityId: ctx.entity.id })
}

/** A node that does not answer refuses nothing: the simulation before the signature asks again. */
async function requirePayable(ctx: Ctx, body: TransferBody): Promise<void> {
  const recipientOn = ({ network }: Chain) =>
    parseAddress(network.blockchain as Blockchain, body.destinationAddress)
  // Nodes of few chains tell about recipients: an address that is on none of them needs no look at the wallet.
  const telling = ctx.chains.list().filter(({ offers }) => offers.recipient)
  if (telling.every((each) => recipientOn(each) === undefined)) return
  const { blockchain } = await requireSource(ctx, body)
  const chain = requireChain(ctx, blockchain)
  const address = recipientOn(chain)
  if (!chain.offers.recipient || address === undefined) return
  const recipient = await resultWithin(payableMs, chain.offers.recipient(address))
  if (recipient?.unpayable !== undefined)
    throw invalid({
      at: 'destinationAddress',
      reason: recipient.unpayable,
      value: body.destinationAddress,
      kind: 'destinationAddressInvalid',
    })
  if (recipient?.leastAtomic !== undefined) requireLeast(chain, address, recipient.leastAtomic, body)
}

/** Refuses an amount of the native coin that the account of its recipient cannot begin with. */
function requireLeast({ network }: Chain, address: Address, leastAtomic: bigint, body: TransferBody): void {
  const { tokenId, tokenAddress, amounts: [amount] = [] } = body
  const { id, symbol, decimals } = network.nativeToken
  const isNative = tokenId === undefined ? !tokenAddress : tokenId === id
  const paidAtomic = parseAmount(amount, decimals)
  if (!isNative || typeof paidAtomic !== 'bigint' || paidAtomic === 0n || paidAtomic >= leastAtomic) return
  throw invalid({
    at: 'amounts[0]',
    reason: `must be at least ${formatAmount(leastAtomic, decimals)} ${symbol}, the rent of the account that ${address} does not have yet`,
    value: amount,
    kind: 'belowRent',
  })
}

/** Longest time that a transfer waits for what a node says of its destination. */
const payableMs = 2_000

/** `entityId` is that of the wallet at the address, if it is one. */
type TokenSender = { blockchain: string; address: string; entityId?: string }

/** Learns the token of a request, and its NFTs, from their contract where no transfer has shown them. */
export async function meetGivenToken(
  ctx: Ctx,
  { tokenId, tokenAddress, nftTokenIds = [] }: TokenFields & { nftTokenIds?: readonly string[] },
  { blockchain, address: owner, entityId }: TokenSender,
): Promise<void> {
  const address = parseAddress(blockchain as Blockchain, tokenAddress ?? '')
  const chain = requireChain(ctx, blockchain)
  const endMs = meetingEnd()
  const sender = entityId === undefined ? undefined : { entityId, address: owner }
  // Chains without contracts of tokens have the listed ones alone.
  if (address && chain.tokens) {
    const reason = await meetToken(ctx, chain, address, sender, endMs)
    if (reason === 'no answer') throw unanswered(blockchain, 'what the contract at tokenAddress is')
    if (reason)
      throw invalid({
        at: 'tokenAddress',
        reason: reasons[reason],
        value: tokenAddress,
        kind: 'tokenAddressUnsupported',
      })
  }
  const itemIds = nftTokenIds.map(parseItemId).filter((itemId) => itemId !== undefined)
  if (!sender || itemIds.length === 0) return
  const token = address
    ? await tokenByAddress(ctx.database, blockchain, address)
    : tokenId && (await tokenById(ctx.database, tokenId))
  const isItem = token && token.blockchain === blockchain && token.address && hasItems(token.standard)
  if (isItem && (await meetItems(ctx, chain, token, itemIds, sender, endMs)) === 'no answer')
    throw unanswered(blockchain, 'whether the wallet has the items in nftTokenIds')
}

const unanswered = (blockchain: string, what: string) =>
  new ApiError('unavailable', `The node of ${blockchain} does not tell ${what}: try again in a moment.`)

const reasons = {
  'no code':
    'is not the address of a contract or a mint on the blockchain: check the address and the blockchain',
  'no token':
    'is neither a contract that answers as an ERC-20 token with decimals, an ERC-721 or an ERC-1155, nor a mint of the SPL Token program: check the address, or use a contract execution',
}
