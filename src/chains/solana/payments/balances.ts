import type { Address } from '../../addresses/types.ts'
import type { BlockAt } from '../../facets/blocks.ts'
import type { RecipientAccount } from '../../facets/offers.ts'
import { nodeFields } from '../../nodes/values.ts'
import type { SolanaBlock } from '../blocks/read-block.ts'
import { fewFields, followed } from '../blocks/slots.ts'
import { associatedAccountOf } from '../derived-addresses.ts'
import { programIds } from '../programs.ts'
import { type ReadAccount, readAccounts, withoutData } from '../rpc/accounts.ts'
import type { SolanaClient } from '../rpc/client.ts'
import { lamportsIn, slotIn } from '../rpc/values.ts'
import { accountRent } from './fees.ts'
import { type BlockWithChanges, visitBlocksSince } from './taken-back.ts'

type BalanceAtSlot = { slot: number; amountAtomic: bigint }

/** An address and the token that it holds; lamports where there is none. */
type AccountToken = { address: Address; token: Address | undefined }

/** The balance of an address in lamports, or of its associated account of a token, with the slot that it is of. */
async function readBalance(node: SolanaClient, { address, token }: AccountToken): Promise<BalanceAtSlot> {
  const config = { commitment: followed }
  if (token === undefined) {
    const told = nodeFields(await node.call('getBalance', [address, config], fewFields), 'balance')
    return { slot: slotOfContext(told['context']), amountAtomic: lamportsIn(told['value'], 'balance') }
  }
  const { slot, accounts } = await readAccounts(node, [tokenAccountOf(address, token)], upToAmount)
  return { slot, amountAtomic: amountIn(accounts[0]) }
}

const slotOfContext = (context: unknown) => slotIn(nodeFields(context, 'context')['slot'], 'slot')

/** The balance now, or at a block. */
export async function balanceThrough(
  node: SolanaClient,
  holding: AccountToken,
  at: BlockAt | undefined,
  wholeOf: BlockWithChanges,
): Promise<bigint> {
  const { slot, amountAtomic } = await readBalance(node, holding)
  if (at === undefined) return amountAtomic
  const { address, token } = holding
  const account = token === undefined ? undefined : tokenAccountOf(address, token)
  let amount = amountAtomic
  await visitBlocksSince(node, slot, at, wholeOf, (whole) => {
    amount -=
      account === undefined ? lamportChangeIn(whole, address) : (whole.accountChanges.get(account) ?? 0n)
  })
  return amount
}

/** Returns the change of the lamports of an address in a block. */
function lamportChangeIn({ block, receipts }: SolanaBlock, address: Address): bigint {
  let sum = 0n
  for (const transfer of block.transfers) {
    if (transfer.token !== undefined) continue
    if (transfer.to === address) sum += transfer.amountAtomic
    if (transfer.from === address) sum -= transfer.amountAtomic
  }
  const paid = block.transactions.filter(({ from }) => from === address)
  return paid.reduce((left, { hash }) => left - receipts.get(hash)!.feeAtomic, sum)
}

/** A balance of a token, which is that of the associated account of its owner. */
type OwnedToken = { owner: Address; token: Address }

const tokenAccountOf = (owner: Address, token: Address) => associatedAccountOf(owner, token, programIds.token)

/** The bytes of an account of a token up to the end of its amount: its mint and its owner come before. */
const upToAmount = { offset: 0, length: 72 }
const amountAt = 64

/** The most accounts that a node tells of in one answer. */
const accountsMax = 100

/** The balances in tokens of any mint at a block. */
export async function tokenBalancesThrough(
  node: SolanaClient,
  holdings: readonly OwnedToken[],
  at: BlockAt,
  wholeOf: BlockWithChanges,
): Promise<bigint[]> {
  const amounts: bigint[] = []
  for (let first = 0; first < holdings.length; first += accountsMax) {
    const accounts = holdings
      .slice(first, first + accountsMax)
      .map(({ owner, token }) => tokenAccountOf(owner, token))
    const told = await readAccounts(node, accounts, upToAmount)
    const changed = accounts.map(() => 0n)
    await visitBlocksSince(node, told.slot, at, wholeOf, ({ accountChanges }) => {
      for (const [place, account] of accounts.entries()) changed[place]! += accountChanges.get(account) ?? 0n
    })
    amounts.push(...told.accounts.map((account, place) => amountIn(account) - changed[place]!))
  }
  return amounts
}

/** An account that the token program does not own holds nothing: the associated program makes no other. */
function amountIn(account: ReadAccount | undefined): bigint {
  if (account?.owner !== programIds.token || account.data.length < upToAmount.length) return 0n
  return account.data.readBigUInt64LE(amountAt)
}

/** The number of base units that there are of a token. */
export async function supplyThrough(node: SolanaClient, mint: Address): Promise<bigint> {
  const told = await node.call('getTokenSupply', [mint, { commitment: followed }], fewFields)
  return lamportsIn(nodeFields(nodeFields(told, 'supply')['value'], 'supply')['amount'], 'supply')
}

/** The state of a recipient, with whether its first payment in a token creates the account that holds it. */
export async function recipientThrough(
  node: SolanaClient,
  address: Address,
  token?: Address,
): Promise<RecipientAccount & { lacksTokenAccount: boolean }> {
  const asked = token === undefined ? [address] : [address, tokenAccountOf(address, token)]
  const { accounts } = await readAccounts(node, asked, withoutData)
  const [account, tokenAccount] = accounts
  return { ...stateOf(account), lacksTokenAccount: token !== undefined && tokenAccount === undefined }
}

/** Accounts that programs own are not paid, and one that is not there yet needs its rent. */
function stateOf(account: ReadAccount | undefined): RecipientAccount {
  if (!account) return { leastAtomic: accountRent }
  const { owner, executable } = account
  if (executable) return { unpayable: 'is a program: pay to the address of a wallet' }
  if (owner === programIds.token || owner === programIds.token2022)
    return { unpayable: 'is an account of the token program: pay to its owner' }
  return {}
}
