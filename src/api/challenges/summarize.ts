import { networkOf } from '#chains/networks/index'
import type { Operation, OperationDanger, OperationEffect } from '#custody/policy/index'
import type { Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { nativeToken, type Token, tokenByAddress } from '#engines/ledger/tokens/index'
import { formatAmount } from '#lib/amounts'
import type { Summary, SummaryLine } from './types.ts'

export const detail = (name: string, label: string, value: string): SummaryLine => ({ name, label, value })

/** A line for each field that is given. */
export const details = (...rows: (readonly [name: string, label: string, value: string | undefined])[]) =>
  rows.flatMap(([name, label, value]) => (value ? [detail(name, label, value)] : []))

export const walletDetails = ({ blockchain, name, address }: Wallet): SummaryLine[] =>
  details(
    ['blockchain', 'Network', blockchain],
    ['wallet', 'From', name ? `${address}, named ${name}` : address],
  )

/** The amount of a token, in whole tokens; tokens that are not known are shown by their contract. */
const amountText = (atomic: bigint, token: Token | undefined, address: string) =>
  token
    ? `${atomic === unlimited ? 'an unlimited amount of' : formatAmount(atomic, token.decimals)} ${symbolText(token, address)}`
    : `${atomic === unlimited ? 'an unlimited amount' : `${atomic} units`} of ${address === 'native' ? 'the native coin' : `the token ${address}`}`

/** The deployer of a token that no network lists chose its symbol, so its contract stands beside it. */
const symbolText = ({ symbol, listed }: Token, address: string) =>
  listed ? symbol : symbol ? `${symbol} (the token ${address})` : `of the token ${address}`

const unlimited = 2n ** 256n - 1n

/** The native coin, where the blockchain is known further than by its id. */
const coinOf = async ({ db }: Ctx, blockchain: string): Promise<Token | undefined> =>
  networkOf(blockchain) && nativeToken(db, blockchain)

/** An amount of the native coin of a blockchain. */
export const nativeText = async (ctx: Ctx, blockchain: string, atomic: bigint): Promise<string> =>
  amountText(atomic, await coinOf(ctx, blockchain), 'native')

/**
 * The summary of an operation: its first lines, the coins that it moves, the permissions that it gives, and its dangers.
 * `isNamed` says that the first lines have the function and the arguments of the call itself.
 */
export async function summaryOf(
  ctx: Ctx,
  first: readonly SummaryLine[],
  { effects, dangers }: Pick<Operation, 'effects' | 'dangers'>,
  isNamed = false,
): Promise<Summary> {
  const calls = effects.filter((effect) => effect.kind === 'call')
  // Calls within another one are found only in functions that are known.
  const isUnclear = calls.some((call) => !call.known) && !(isNamed && calls.length === 1)
  const all = new Set([...dangers, ...(isUnclear ? ['undecodable' as const] : [])])
  const moved: SummaryLine[] = []
  for (const effect of effects) moved.push(...(await effectDetails(ctx, effect)))
  return {
    details: [...first, ...moved],
    warnings: [...all].map((name) => ({ name, text: warnings[name] })),
  }
}

async function effectDetails(ctx: Ctx, effect: OperationEffect): Promise<SummaryLine[]> {
  if (effect.kind === 'call' || effect.kind === 'typedData') return []
  const { kind, blockchain, token: address, destination, destinationChain, amountAtomic } = effect
  const token =
    address === 'native' ? await coinOf(ctx, blockchain) : await tokenByAddress(ctx.db, blockchain, address)
  const amount = amountText(amountAtomic, token, address)
  if (kind === 'approval')
    return [detail('approval', 'Permission', `${destination ?? 'anybody'} may take ${amount}`)]
  if (amountAtomic === 0n) return []
  const arrives = destinationChain === undefined ? '' : ` on ${destinationChain}`
  return [detail('transfer', 'Sends', destination ? `${amount} to ${destination}${arrives}` : amount)]
}

/** The meaning of each danger for the user. */
const warnings: Record<OperationDanger, string> = {
  approve: 'This lets another account take tokens from you, now or later.',
  increaseAllowance: 'This lets another account take more tokens from you, now or later.',
  permit: 'This signature lets another account take tokens from you.',
  setApprovalForAll: 'This lets another account take all of your items of this collection.',
  transferAuthorization: 'Whoever holds this signature can move your tokens.',
  delegateCall: 'This runs code of others as if it were your account.',
  upgrade: 'This changes the code, the modules or the owners of an account.',
  contractCreation: 'This creates a contract.',
  setCode: 'This puts code of others at your own address.',
  rawHash: 'These 32 bytes may stand for anything, also for a payment.',
  undecodable: 'Not all of this could be understood. Approve it only if you trust who asks for it.',
}
