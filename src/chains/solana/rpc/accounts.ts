import type { Address } from '../../addresses/types.ts'
import { bytesOfBase64 } from '../../binary-reader.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { type NodeFields, nodeFields, nodeList, truth } from '../../nodes/values.ts'
import { fewFields, followed } from '../blocks/slots.ts'
import type { SolanaClient } from './client.ts'
import { accountIn, slotIn } from './values.ts'

/** An account, with the part of its data that was asked for. */
export type ReadAccount = { owner: Address; executable: boolean; data: Buffer }

/** The part of the data to read; all of it when absent. */
type DataSlice = { offset: number; length: number }

/** Accounts that no payment needs the data of. */
export const withoutData: DataSlice = { offset: 0, length: 0 }

/** Reads accounts, at most a hundred, and the slot that they are of; `undefined` for those that are not there. */
export async function readAccounts(
  node: SolanaClient,
  addresses: readonly Address[],
  dataSlice?: DataSlice,
): Promise<{ slot: number; accounts: (ReadAccount | undefined)[] }> {
  const config = { commitment: followed, encoding: 'base64', ...(dataSlice && { dataSlice }) }
  const told = nodeFields(await node.call('getMultipleAccounts', [addresses, config], fewFields), 'accounts')
  const values = nodeList(told['value'], 'accounts')
  if (values.length !== addresses.length) throw new NodeUnreachable('the node tells of other accounts')
  return {
    slot: slotIn(nodeFields(told['context'], 'context')['slot'], 'slot'),
    accounts: values.map((value) => (value === null ? undefined : readAccount(nodeFields(value, 'account')))),
  }
}

function readAccount({ owner, executable, data }: NodeFields): ReadAccount {
  const [text] = nodeList(data, 'data of an account')
  const bytes = typeof text === 'string' ? bytesOfBase64(text) : undefined
  if (!bytes) throw new NodeUnreachable("the node's data of an account is not base64")
  return { owner: accountIn(owner, 'owner'), executable: truth(executable, 'executable'), data: bytes }
}
