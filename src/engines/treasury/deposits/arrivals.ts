import type { Network } from '#chains/networks/index'
import { type ObservedTransfer, withOrdinals } from '#engines/indexer/observed/index'
import type { Db } from '#runtime/db/db'
import { type DepositAddress, depositAddressesOf } from '../deposit-addresses/store.ts'
import { type ExternalTransfer, externalTransfers } from './external-transfers.ts'

/** A transfer to a deposit address of an intent, or of the account itself. */
export type Arrival = ExternalTransfer & { ordinal: number; at: DepositAddress }

/** Transfers of credited tokens to deposit addresses, each with its deposit address and its ordinal in the transaction. */
export async function arrivalsIn(
  tx: Db,
  network: Network,
  transfers: readonly ObservedTransfer[],
): Promise<Arrival[]> {
  const deposits = externalTransfers(network, transfers, 'deposit').filter(({ amount }) => amount > 0n)
  if (deposits.length === 0) return []
  const addresses = await depositAddressesOf(tx, deposits)
  const byId = new Map(addresses.map((address) => [address.id, address]))
  return withOrdinals(deposits).map((deposit) => {
    const at = byId.get(deposit.ownerId)
    if (!at) throw new Error(`deposit address ${deposit.ownerId} is unknown`)
    return { ...deposit, at }
  })
}
