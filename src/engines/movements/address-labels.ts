import { type AddressAt, namesAt } from '#custody/wallets/index'
import { nicknamesAt } from '#engines/treasury/address-book/index'
import type { Db } from '#runtime/db/db'

/** Returns what an entity calls an address on a blockchain. */
type LabelOf = (at: AddressAt) => string | undefined

const purposes = { deposit: 'deposit address', treasury: 'treasury', paymaster: 'paymaster' } as const

/** Reads what an entity calls these addresses: names of its wallets, nicknames of recipients, and what the platform uses one for. */
export async function readLabels(db: Db, entityId: string, at: readonly AddressAt[]): Promise<LabelOf> {
  if (at.length === 0) return () => undefined
  const managed = await namesAt(db, entityId, at)
  const nicknames = await nicknamesAt(db, entityId, [...new Set(at.map(({ address }) => address))])
  const recipients = new Map(nicknames.map(({ address, nickname }) => [address, nickname]))
  const own = new Map(
    managed.map(({ purpose, name, ...place }) => [
      keyOf(place),
      name || (purposes as Partial<Record<string, string>>)[purpose],
    ]),
  )
  return (place) => own.get(keyOf(place)) ?? recipients.get(place.address)
}

const keyOf = ({ blockchain, address }: AddressAt) => `${blockchain} ${address}`
