import { type Blockchain, familyOf } from '#chains/blockchains'
import { type BusinessChain, screenedBusinessAddress } from '#chains/business-chains'
import { addressIn, type ScreenedAddress } from '#chains/screening-chains'
import { type Db, scan, sql } from '#runtime/db/db'

/** An address of a customer that a present list names: one of its own, or one that it pays to. */
type ListedAddressOfCustomer = {
  entityId: string
  resource: 'wallet' | 'deposit' | 'treasury' | 'modular' | 'recipient' | 'recipientAddress'
  /** The id of the wallet, deposit address or recipient. */
  id: string
  chain: string
  address: string
  list: string
  reference: string | null
}

/** The customers' addresses that this list names, or any except the allowlist. It reads all of them: for commands. */
export async function listedAddresses(db: Db, list?: string): Promise<ListedAddressOfCustomer[]> {
  const found = await scan<ListedAddressOfCustomer & { space: string }>(
    db,
    sql`select a.entity_id, a.resource, a.id, a.chain, a.address, e.space, e.list, e.reference
      from screened_addresses a
      join screening_entries e on e.address = a.address and e.to_version is null
        and (${list ?? null}::text is null or e.list = ${list ?? null})
      join screening_lists l on l.name = e.list and l.kind <> 'allow'
      order by a.entity_id, a.resource, a.id, e.list`,
  )
  return found.flatMap(({ space, ...row }) => (screenedOf(row).space === space ? [row] : []))
}

const screenedOf = ({ resource, chain, address }: ListedAddressOfCustomer): ScreenedAddress =>
  resource === 'recipient' || resource === 'recipientAddress'
    ? screenedBusinessAddress(chain as BusinessChain, address)
    : addressIn(familyOf(chain as Blockchain), address)
