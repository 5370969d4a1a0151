/** Owners of modular wallets, as their contracts store them and report them in logs. */
import {
  decodeAbiParameters,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  pad,
  parseAbi,
  slice,
  toEventSelector,
} from 'viem'
import { ApiError } from '#lib/errors'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { OwnersAdded } from '../../facets/accounts.ts'
import type { ChainLog } from '../../facets/blocks.ts'
import { callLimits, pageGasMax } from '../rpc/call-bounds.ts'
import { toQuantity } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc } from '../rpc/rpc.ts'
import { modularContracts } from './deployed-contracts.ts'

/** The id of an owner in the contracts of the published client: an address, or coordinates as `x:y`. */
export function ownerId(owner: string): Hex {
  const [x, y] = owner.split(':')
  if (y === undefined) return pad(owner as Hex, { size: 30 })
  const point = [BigInt(x!), BigInt(y)] as const
  return slice(keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], point)), 2)
}

const ownershipAbi = parseAbi(['function ownershipInfoOf(address account) view returns (bytes30[] ids)'])

/** Asks a deployed account. The lists that follow the ids differ between versions, and are not read. */
export async function readOwners(rpc: Rpc, account: Address, owners: readonly string[]): Promise<boolean[]> {
  const data = encodeFunctionData({
    abi: ownershipAbi,
    functionName: 'ownershipInfoOf',
    args: [account as Hex],
  })
  const call = { to: modularContracts.plugin, data, gas: toQuantity(pageGasMax) }
  try {
    const answer = await rpc.call<Hex>('eth_call', [call, 'latest'], callLimits)
    const ids = decodeFunctionResult({ abi: ownershipAbi, functionName: 'ownershipInfoOf', data: answer })
    return owners.map((owner) => ids.includes(ownerId(owner)))
  } catch (error) {
    if (error instanceof NodeUnreachable || error instanceof ApiError) throw error
    return owners.map(() => false)
  }
}

const plugin = modularContracts.plugin.toLowerCase()
/** Accounts of these contracts report changes of their owners in logs of their own. */
const ownTopic = toEventSelector('OwnersAdded(bytes30[],uint256)')
const removedTopic = toEventSelector('OwnersRemoved(address,bytes30[],uint256)')

/**
 * Each account with owners that it got. The plugin of the published client names the account, and its event of added owners has
 * fields that differ between versions: each event of it with owners proves that the account has them, but that of removed ones.
 */
export const ownersAddedIn = (logs: readonly ChainLog[]): OwnersAdded[] =>
  logs.flatMap(({ address, topics, data, logIndex }) => {
    try {
      if (topics[0] === ownTopic) {
        const [ids] = decodeAbiParameters([{ type: 'bytes30[]' }], data)
        return [{ account: address as Address, ownerIds: ids, logIndex }]
      }
      if (address !== plugin || topics[0] === removedTopic) return []
      const [account, ids] = decodeAbiParameters([{ type: 'address' }, { type: 'bytes30[]' }], data)
      return [{ account: account.toLowerCase() as Address, ownerIds: ids, logIndex }]
    } catch {
      return []
    }
  })
