import type { Address } from '../../addresses/types.ts'
import type { BlockAt } from '../../facets/blocks.ts'
import type { RecipientAccount } from '../../facets/offers.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import type { BlockWithOutcomes } from '../../nodes/kept-blocks.ts'
import { type NodeFields, nodeFields } from '../../nodes/values.ts'
import { fewFields, followed, readRefOfSlot } from '../blocks/slots.ts'
import { associatedAccountOf } from '../derived-addresses.ts'
import { programIds } from '../programs.ts'
import type { SolanaClient } from '../rpc/client.ts'
import { lamportsIn, slotIn } from '../rpc/values.ts'
import { accountRent } from './fees.ts'

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
  const account = associatedAccountOf(address, token, programIds.token)
  const shown = { ...config, encoding: 'jsonParsed' }
  const told = nodeFields(await node.call('getAccountInfo', [account, shown], fewFields), 'account')
  const slot = slotOfContext(told['context'])
  if (told['value'] === null) return { slot, amountAtomic: 0n }
  const { parsed } = nodeFields(nodeFields(told['value'], 'account')['data'], 'data of an account')
  const { tokenAmount } = nodeFields(nodeFields(parsed, 'account of a token')['info'], 'account of a token')
  return { slot, amountAtomic: lamportsIn(nodeFields(tokenAmount, 'amount')['amount'], 'amount') }
}

const slotOfContext = (context: unknown) => slotIn(nodeFields(context, 'context')['slot'], 'slot')

/** Reads a whole block, which may be one that was read before; `undefined` where no node has it. */
export type BlockWithChanges = (at: BlockAt) => Promise<BlockWithOutcomes | undefined>

/** Blocks that are taken back at most to tell a balance of before. */
const takenBackMax = 300

/**
 * The balance now, or at a block. Nodes tell of their newest block alone: what the blocks after the one asked for changed is taken
 * back.
 */
export async function balanceThrough(
  node: SolanaClient,
  holding: AccountToken,
  at: BlockAt | undefined,
  wholeOf: BlockWithChanges,
): Promise<bigint> {
  const { slot, amountAtomic } = await readBalance(node, holding)
  if (at === undefined) return amountAtomic
  const newest = await readRefOfSlot(node, slot)
  if (!newest || newest.number < at.number || newest.number - at.number > takenBackMax)
    throw new NodeUnreachable(`the node tells balances of slot ${slot}, too far from block ${at.number}`)
  let [amount, hash] = [amountAtomic, newest.hash]
  for (let height = newest.number; height > at.number; height--) {
    const whole = await wholeOf({ number: height, hash })
    if (!whole) throw new NodeUnreachable(`block ${height} was taken back meanwhile`)
    amount -= changeIn(whole, holding)
    hash = whole.block.parentHash
  }
  if (hash === at.hash) return amount
  throw new NodeUnreachable(`the node has another block ${at.number}`)
}

/** Returns the change of a balance in a block. */
function changeIn({ block, receipts }: BlockWithOutcomes, { address, token }: AccountToken): bigint {
  let sum = 0n
  for (const transfer of block.transfers) {
    if (transfer.token !== token) continue
    if (transfer.to === address) sum += transfer.amountAtomic
    if (transfer.from === address) sum -= transfer.amountAtomic
  }
  if (token !== undefined) return sum
  const paid = block.transactions.filter(({ from }) => from === address)
  return paid.reduce((left, { hash }) => left - receipts.get(hash)!.feeAtomic, sum)
}

/** The number of base units that there are of a token. */
export async function supplyThrough(node: SolanaClient, mint: Address): Promise<bigint> {
  const told = await node.call('getTokenSupply', [mint, { commitment: followed }], fewFields)
  return lamportsIn(nodeFields(nodeFields(told, 'supply')['value'], 'supply')['amount'], 'supply')
}

/** Whether an address has no account of a token yet: the first payment creates it. */
export async function lacksTokenAccount(node: SolanaClient, owner: Address, mint: Address): Promise<boolean> {
  return (await accountAt(node, associatedAccountOf(owner, mint, programIds.token))) === undefined
}

/** The fields of an account without its data; `undefined` where there is none. */
async function accountAt(node: SolanaClient, address: Address): Promise<NodeFields | undefined> {
  const config = { commitment: followed, encoding: 'base64', dataSlice: { offset: 0, length: 0 } }
  const told = nodeFields(await node.call('getAccountInfo', [address, config], fewFields), 'account')
  return told['value'] === null ? undefined : nodeFields(told['value'], 'account')
}

/** The state of a recipient: accounts that programs own are not paid, and one that is not there yet needs its rent. */
export async function recipientThrough(node: SolanaClient, address: Address): Promise<RecipientAccount> {
  const account = await accountAt(node, address)
  if (!account) return { leastAtomic: accountRent }
  const { owner, executable } = account
  if (executable === true) return { unpayable: 'is a program: pay to the address of a wallet' }
  if (owner === programIds.token || owner === programIds.token2022)
    return { unpayable: 'is an account of the token program: pay to its owner' }
  return {}
}
