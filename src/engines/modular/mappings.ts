/**
 * The wallets that an owner may find, such as one that recovers them. The published client claims a mapping before the operation
 * that adds the owner, without a proof, so a claim shows nothing: it counts once the wallet has the owner. The wallets of
 * an owner are shown in the order in which blocks gave it to them, so that a stranger who adds an owner takes no earlier place.
 */
import { canonicalAddress } from '#chains/addresses/canonical'
import type { Address, Chain } from '#chains/chain'
import type { Ctx, EngineCtx } from '#engines/ctx'
import { indexedHead, observedOwnersOf, type Step } from '#engines/indexer/index'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import {
  bindClaims,
  bindInBlock,
  boundMappings,
  claimsWithoutBlock,
  countMappings,
  findMapping,
  insertMapping,
  type MappingPlace,
  movedClaims,
  type OwnerMapping,
  rejectClaims,
  removeEndedClaims,
  removeMappings,
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
  const found = await Promise.all(
    owners.map((owner) => findMapping(ctx.database, place, owner, wallet.address)),
  )
  const earlier = found.flatMap((row) => row ?? [])
  if (earlier.length > 0) {
    await bindKnown(ctx, chain, wallet, earlier)
    return 'there already'
  }
  const made = await insertAll(ctx, place, wallet, owners)
  if (typeof made === 'string') return made
  try {
    // After the claims: a block that is followed before them is part of the state that the chain answers from.
    await bindKnown(ctx, chain, wallet, made)
  } catch (error) {
    await removeMappings(ctx.database, place, idsOf(made))
    throw error
  }
  return made
}

class Refused extends Error {
  readonly why: MappingRefusal

  constructor(why: MappingRefusal) {
    super(why)
    this.why = why
  }
}

const insertAll = (
  ctx: Ctx,
  place: MappingPlace,
  wallet: ModularWallet,
  owners: readonly string[],
): Promise<OwnerMapping[] | MappingRefusal> =>
  ctx.database
    .tx(async (tx) => {
      const nowMs = ctx.clock.nowMs()
      await removeEndedClaims(tx, nowMs, place.entityId)
      if ((await countMappings(tx, place, wallet.address)) + owners.length > mappedMax)
        throw new Refused('too many')
      const rows: OwnerMapping[] = []
      for (const owner of owners) {
        const row = { id: newId(nowMs), blockchain: place.blockchain, walletAddress: wallet.address, owner }
        const isSole = soleOwnerOf(wallet) === owner
        const inserted = await insertMapping(tx, nowMs, place.entityId, { ...row, isSole })
        if (!inserted) throw new Refused('there already')
        rows.push(inserted)
      }
      return rows
    })
    .catch((error) => {
      if (error instanceof Refused) return error.why
      throw error
    })

const idsOf = (rows: readonly OwnerMapping[]) => rows.map(({ id }) => id)

/** Binds claims whose owners the chain names by now: no block that is followed later tells of them. */
async function bindKnown(
  ctx: Ctx,
  chain: Chain,
  { address }: ModularWallet,
  claims: readonly OwnerMapping[],
): Promise<void> {
  const place = placeOf(ctx, chain)
  const owners = claims.map(({ owner }) => owner)
  const has = await chain.accounts.modular.hasOwners(address as Address, owners)
  const ids = idsOf(claims.filter((_, index) => has[index]))
  if (ids.length === 0) return
  const head = await indexedHead(ctx.database, place.blockchain)
  await bindClaims(ctx.database, ctx.clock.nowMs(), place, { ids, block: head?.number ?? 0 })
}

/** The wallets that have an owner, in the order in which blocks gave it to them, and those that need no block last. */
export async function mappingsOfOwner(ctx: Ctx, chain: Chain, owner: string): Promise<OwnerMapping[]> {
  const place = placeOf(ctx, chain)
  await compareEarlier(ctx, chain, owner)
  return boundMappings(ctx.database, place, owner, mappedMax)
}

/** Compares claims whose wallets moved before blocks told of owners. */
async function compareEarlier(ctx: Ctx, chain: Chain, owner: string): Promise<void> {
  const place = placeOf(ctx, chain)
  const claims = await movedClaims(ctx.database, place, owner, comparedMax)
  if (claims.length === 0) return
  const compared = claims.map(({ walletAddress }) =>
    chain.accounts.modular.hasOwners(walletAddress as Address, [owner]),
  )
  const has = (await Promise.all(compared)).flat()
  const idsWhere = (isOwner: boolean) => idsOf(claims.filter((_, index) => has[index] === isOwner))
  await bindClaims(ctx.database, ctx.clock.nowMs(), place, { ids: idsWhere(true), block: 0 })
  await rejectClaims(ctx.database, place, idsWhere(false))
}

/** The owner of a wallet that was made for it alone. */
function soleOwnerOf({ owners }: ModularWallet): string | undefined {
  const first = [
    ...(owners?.owners ?? []).map((each) => canonicalAddress(each.address)),
    ...(owners?.webauthnOwners ?? []).map(({ publicKeyX, publicKeyY }) => `${publicKeyX}:${publicKeyY}`),
  ]
  return first.length === 1 ? first[0] : undefined
}

/** Binds the claims on owners that wallets got in a block, and those of the same block that came back. */
export async function bindByBlock(ctx: EngineCtx, tx: Db, { blockchain, blockHash }: Step): Promise<void> {
  const added = await observedOwnersOf(tx, blockchain, blockHash)
  const { ownerId } = ctx.chains.find(blockchain)!.accounts.modular
  const claims = added.length === 0 ? [] : await claimsWithoutBlock(tx, blockchain, added)
  const bound = claims.flatMap(({ entityId, id, walletAddress, owner }) => {
    const by = added.find(
      (each) =>
        each.entityId === entityId &&
        each.account === walletAddress &&
        each.ownerIds.includes(ownerId(owner)),
    )
    return by ? [{ entityId, id, block: by.blockNumber, log: by.logIndex, hash: blockHash }] : []
  })
  if (bound.length > 0) await bindInBlock(tx, ctx.clock.nowMs(), bound)
}
