import type { Address } from '../../addresses/types.ts'
import type { BlockAt } from '../../facets/blocks.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { nodeFields } from '../../nodes/values.ts'
import { fewFields, followed, readSlotRef } from '../blocks/slots.ts'
import { associatedAccountOf } from '../derived-addresses.ts'
import { programIds } from '../programs.ts'
import type { SolanaClient } from '../rpc/client.ts'
import { lamportsIn, slotIn } from '../rpc/values.ts'

type BalanceAtSlot = { slot: number; amountAtomic: bigint }

/** The balance of an address in lamports, or of its associated account of a token, with the slot that it is of. */
async function readBalance(
  node: SolanaClient,
  address: Address,
  token: Address | undefined,
): Promise<BalanceAtSlot> {
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

/** The balance now, or at a block: nodes tell of their newest block alone, so that it must be that one. */
export async function balanceThrough(
  node: SolanaClient,
  address: Address,
  token: Address | undefined,
  at: BlockAt | undefined,
): Promise<bigint> {
  const { slot, amountAtomic } = await readBalance(node, address, token)
  if (at === undefined) return amountAtomic
  const ref = await readSlotRef(node, at.number)
  if (ref?.hash === at.hash && ref.slot === slot) return amountAtomic
  throw new NodeUnreachable(
    `the node tells balances of slot ${slot}, which is not that of block ${at.number}`,
  )
}

/** The number of base units that there are of a token. */
export async function supplyThrough(node: SolanaClient, mint: Address): Promise<bigint> {
  const told = await node.call('getTokenSupply', [mint, { commitment: followed }], fewFields)
  return lamportsIn(nodeFields(nodeFields(told, 'supply')['value'], 'supply')['amount'], 'supply')
}

/** The reason why no key spends coins that are paid to an address. */
export async function whyUnpayableThrough(node: SolanaClient, address: Address): Promise<string | undefined> {
  const config = { commitment: followed, encoding: 'base64', dataSlice: { offset: 0, length: 0 } }
  const told = nodeFields(await node.call('getAccountInfo', [address, config], fewFields), 'account')
  if (told['value'] === null) return undefined
  const { owner, executable } = nodeFields(told['value'], 'account')
  if (executable === true) return 'is a program: pay to the address of a wallet'
  if (owner === programIds.token || owner === programIds.token2022)
    return 'is an account of the token program: pay to its owner'
  return undefined
}
