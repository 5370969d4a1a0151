/**
 * The wallets that an owner may find, such as one that recovers them. The published client claims a mapping before the operation
 * that adds the owner, without a proof, so a claim shows nothing: it counts once the wallet has the owner. The wallets of
 * an owner are shown in the order in which they got it, so that a stranger who adds an owner takes no earlier place.
 */
import { canonicalAddress } from '#chains/addresses/canonical'
import type { Address, Chain } from '#chains/chain'
import type { Ctx } from '#engines/ctx'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import {
  bindClaims,
  boundMappings,
  countMappings,
  findMapping,
  insertMapping,
  type MappingPlace,
  movedClaims,
  type OwnerMapping,
  rejectClaims,
  removeEndedClaims,
} from './store/mappings.ts'
import type { ModularWallet } from './store/wallets.ts'

/** Number of owners that may be mapped to one wallet, and of wallets that are shown of one owner. */
export const mappedMax = 100
/** Number of claims that one question compares with the chain. */
const comparedMax = 10

const placeOf = ({ entity }: Ctx, { network }: Chain): MappingPlace => ({
  entityId: entity.id,
  blockchain: network.blockchain,
})

export type MappingRefusal = 'there already' | 'too many'

/** Claims that a wallet has these owners. Returns the claims, or why none was made. */
export async function claimMappings(
  ctx: Ctx,
  chain: Chain,
  wallet: ModularWallet,
  owners: readonly string[],
): Promise<OwnerMapping[] | MappingRefusal> {
  const place = placeOf(ctx, chain)
  const has = await hasOwners(chain, wallet, owners)
  const again = await rebind(
    ctx,
    place,
    wallet,
    owners.filter((_, index) => has[index]!),
  )
  if (again) return 'there already'
  const nowMs = ctx.clock.nowMs()
  return ctx.database
    .tx(async (tx) => {
      await removeEndedClaims(tx, nowMs, place.entityId)
      if ((await countMappings(tx, place, wallet.address)) + owners.length > mappedMax)
        throw new Refused('too many')
      return insertAll(tx, nowMs, place, { wallet, owners, has })
    })
    .catch((error) => {
      if (error instanceof Refused) return error.why
      throw error
    })
}

class Refused extends Error {
  readonly why: MappingRefusal

  constructor(why: MappingRefusal) {
    super(why)
    this.why = why
  }
}

async function insertAll(
  tx: Db,
  nowMs: number,
  { entityId, blockchain }: MappingPlace,
  { wallet, owners, has }: { wallet: ModularWallet; owners: readonly string[]; has: readonly boolean[] },
): Promise<OwnerMapping[]> {
  const rows: OwnerMapping[] = []
  for (const [index, owner] of owners.entries()) {
    const row = { id: newId(nowMs), blockchain, walletAddress: wallet.address, owner, isBound: has[index]! }
    const inserted = await insertMapping(tx, nowMs, entityId, row)
    if (!inserted) throw new Refused('there already')
    rows.push(inserted)
  }
  return rows
}

/** Binds earlier claims whose wallet has the owner by now. Whether there was one. */
async function rebind(
  ctx: Ctx,
  place: MappingPlace,
  { address }: ModularWallet,
  owners: readonly string[],
): Promise<boolean> {
  const earlier = await Promise.all(owners.map((owner) => findMapping(ctx.database, place, owner, address)))
  const open = earlier.flatMap((row) => (row && !row.isBound ? row.id : []))
  if (open.length > 0) await bindClaims(ctx.database, ctx.clock.nowMs(), place, open)
  return earlier.some(Boolean)
}

/** The wallets that have an owner, the earliest first. */
export async function mappingsOfOwner(ctx: Ctx, chain: Chain, owner: string): Promise<OwnerMapping[]> {
  const place = placeOf(ctx, chain)
  const claims = await movedClaims(ctx.database, place, owner, comparedMax)
  const compared = claims.map(({ walletAddress }) =>
    chain.accounts.modular.hasOwners(walletAddress as Address, [owner]),
  )
  const has = (await Promise.all(compared)).flat()
  const idsWhere = (isOwner: boolean) => claims.flatMap(({ id }, index) => (has[index] === isOwner ? id : []))
  if (claims.length > 0) {
    await bindClaims(ctx.database, ctx.clock.nowMs(), place, idsWhere(true))
    await rejectClaims(ctx.database, place, idsWhere(false))
  }
  return boundMappings(ctx.database, place, owner, mappedMax)
}

/** Whether a wallet has each owner: it is the only one that it was made for, or the chain says so. */
async function hasOwners(
  chain: Chain,
  { address, owners }: ModularWallet,
  asked: readonly string[],
): Promise<boolean[]> {
  const first = [
    ...(owners?.owners ?? []).map((each) => canonicalAddress(each.address)),
    ...(owners?.webauthnOwners ?? []).map(({ publicKeyX, publicKeyY }) => `${publicKeyX}:${publicKeyY}`),
  ]
  const onChain = await chain.accounts.modular.hasOwners(address as Address, asked)
  return asked.map((owner, index) => onChain[index]! || (first.length === 1 && first[0] === owner))
}
