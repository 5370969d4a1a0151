import { compareWallet } from '#api/sources/compare-wallet'
import { requireChains } from '#api/sources/connected-chain'
import { showToken } from '#api/sources/token-shape'
import { parseAddress } from '#chains/address'
import type { Blockchain } from '#chains/blockchains'
import { findWalletByAddress, listWallets, type Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { type Balance, balancesOf, ownsAtLeast } from '#engines/ledger/index'
import { type Token, tokenByAddress, tokensOf } from '#engines/ledger/tokens/index'
import { formatAmount, parseAmount } from '#lib/amounts'
import { invalid } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import { raw } from '#runtime/db/db'
import type { ListResult } from '#runtime/http/endpoint'
import { showWallet } from './schema.ts'
import { canonicalWalletFilters } from './wallet-filters.ts'

export type WalletsWithBalancesQuery = {
  blockchain: Blockchain
  address?: string
  scaCore?: string
  walletSetId?: string
  refId?: string
  amount__gte?: string
  tokenAddress?: string
}

/** Wallets of one blockchain with their balances of the native coin and, when it is named, of one token. */
export async function listWalletsWithBalances(
  ctx: Ctx,
  query: WalletsWithBalancesQuery,
  page: PageQuery,
): Promise<ListResult> {
  const { blockchain, amount__gte: amount, tokenAddress, ...rest } = query
  requireChains(blockchain, 'blockchain')
  const filters = canonicalWalletFilters(rest)
  if (filters.address !== undefined) await compareOne(ctx, blockchain, filters.address)
  const native = (await tokensOf(ctx.db, blockchain)).find((token) => token.isNative)
  const named = tokenAddress === undefined ? undefined : await requireToken(ctx, blockchain, tokenAddress)
  const compared = named ?? native
  const minAtomic = amount === undefined ? undefined : requireAmount(amount, compared)
  const where =
    minAtomic !== undefined && compared
      ? ownsAtLeast(ctx.entity.id, compared.id, raw('w.address'), minAtomic)
      : undefined
  const found = await listWallets(
    ctx.db,
    { entityId: ctx.entity.id },
    { ...filters, blockchain, where },
    page,
  )
  const addresses = found.rows.map((wallet) => wallet.address)
  const balances = await balancesOf(ctx.db, ctx.entity.id, blockchain, addresses)
  const tokens = [native, named?.id === native?.id ? undefined : named].filter(
    (token): token is Token => token !== undefined,
  )
  return {
    found,
    items: found.rows.map((wallet) => ({
      ...showWallet(wallet),
      tokenBalances: tokens.map((token) => show(wallet, token, balances)),
    })),
  }
}

/** Compares a single named address with its chain; a whole page shows the booked balances. */
async function compareOne(ctx: Ctx, blockchain: Blockchain, address: string): Promise<void> {
  const wallet = await findWalletByAddress(ctx.db, { entityId: ctx.entity.id }, blockchain, address)
  if (wallet) await compareWallet(ctx, wallet)
}

/** A token that the wallet never held is shown as zero. */
function show(wallet: Wallet, token: Token, balances: readonly Balance[]) {
  const balance = balances.find((row) => row.address === wallet.address && row.tokenId === token.id)
  return {
    token: showToken(token),
    amount: formatAmount(balance?.postedAtomic ?? 0n, token.decimals),
    updateDate: balance?.updateDate ?? wallet.updateDate,
  }
}

async function requireToken(ctx: Ctx, blockchain: Blockchain, text: string): Promise<Token> {
  const address = parseAddress(blockchain, text)
  const token = address === undefined ? undefined : await tokenByAddress(ctx.db, blockchain, address)
  if (token) return token
  throw invalid({
    at: 'tokenAddress',
    reason: 'is not a token that this server has seen on the blockchain',
    value: text,
    kind: 'tokenAddressUnsupported',
  })
}

function requireAmount(text: string, token: Token | undefined): bigint {
  const atomic = parseAmount(text, token?.decimals ?? 18)
  if (typeof atomic === 'bigint') return atomic
  throw invalid({
    at: 'amount__gte',
    reason: 'must be a decimal number within the precision of the token',
    value: text,
    error: 'number_format',
  })
}
