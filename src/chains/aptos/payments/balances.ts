import type { Address } from '../../addresses/types.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { nativeCoinType } from '../encoding/addresses.ts'
import { type RestNode, unlessMissing } from '../rest/node.ts'
import { small } from '../rest/rules.ts'

/**
 * The balance of an address now, or at a version of the ledger: that of its primary store. The native coin is asked for by its coin
 * type, which counts it in both of its forms, once.
 */
export async function balanceAtVersion(
  node: RestNode,
  address: Address,
  token: Address | undefined,
  version: bigint | undefined,
): Promise<bigint> {
  const at = version === undefined ? '' : `?ledger_version=${version}`
  const path = `/accounts/${address}/balance/${token ?? nativeCoinType}${at}`
  const told = await unlessMissing(node.getNumber(path, small), 'account_not_found', 'resource_not_found')
  return told ?? 0n
}

/** The number of base units that there are of an asset. */
export async function readSupply(node: RestNode, asset: Address): Promise<bigint> {
  const view = {
    function: '0x1::fungible_asset::supply',
    type_arguments: ['0x1::fungible_asset::Metadata'],
    arguments: [asset],
  }
  const told = await node.post('/view', view, small)
  const [supply] = (Array.isArray(told) ? told : []) as { vec?: unknown[] }[]
  const [value] = supply?.vec ?? []
  if (typeof value === 'string' && /^\d{1,39}$/.test(value)) return BigInt(value)
  throw new NodeUnreachable("the node's supply is not a number")
}
