/**
 * The wallets that an owner may find, such as one that recovers them. The published client claims a mapping before the operation
 * that adds the owner, without a proof, so a claim shows nothing: it counts once the wallet has the owner. The wallets of
 * an owner are shown in the order in which blocks gave it to them, so that a stranger who adds an owner takes no earlier place.
 */
import { canonicalAddress } from '#chains/addresses/canonical'
import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { accountsOn } from '#chains/facets/optional'
import type { Ctx, EngineCtx } from '#engines/ctx'
import { indexedHead, type Step } from '#engines/indexer/index'
import { observedOwnersOf } from '#engines/indexer/observed/index'
import type { Hex } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import {
  bindClaims,
  bindInBlock,
  boundMappings,
  claimsWithoutBlock,
  findMapping,
  insertBound,
  insertMapping,
  type MappingPlace,
  movedClaims,
  type OwnerMapping,
  rejectClaims,
  removeEndedClaims,
  removeMappings,
  removeOldestClaims,
} from './store/mappings.ts'
import { type ModularWallet, walletsAt } from './store/wallets.ts'

/** Number of wallets that are shown of one owner, and of owners that blocks give one wallet without a claim. */
const mappedMax = 100
/** Number of claims that a wallet keeps. Others may claim it too, so that the newest count. */
const claimsMax = 100
/** Number of claims that one question compares with the chain. */
const comparedMax = 10

const placeOf = ({ entity }: Ctx, { network }: Chain): MappingPlace => ({
  entityId: entity.id,
  blockchain: network.blockchain,
})

/** Claims that a wallet has these owners. Returns the claims; none where one of them is there already. */
export async function claimMappings(
  ctx: Ctx,
  chain: Chain,
  wallet: ModularWallet,
  owners: readonly string[],
): Promise<OwnerMapping[]> {
  const place = placeOf(ctx, chain)
  const found = await Promise.all(
    owners.map((owner) => findMapping(ctx.database, place, owner, wallet.address)),
  )
  const earlier = found.flatMap((row) => row ?? [])
  if (earlier.length > 0) {
    await bindKnown(ctx, chain, wallet, earlier)
    return []
  }
  const made = await insertAll(ctx, place, wallet, owners)
  try {
    // After the claims: a block that is followed before them is part of the state that the chain answers from.
    await bindKnown(ctx, chain, wallet, made)
  } catch (error) {
    await removeMappings(ctx.database, place, idsOf(made))
    throw error
  }
  return made
}

const insertAll = (
  ctx: Ctx,
  place: MappingPlace,
  wallet: ModularWallet,
  owners: readonly string[],
): Promise<OwnerMapping[]> =>
  ctx.database.tx(async (tx) => {
    const nowMs = ctx.clock.nowMs()
    await removeEndedClaims(tx, nowMs, place.entityId)
    const rows: OwnerMapping[] = []
    for (const owner of new Set(owners)) {
      const row = { id: newId(nowMs), blockchain: place.blockchain, walletAddress: wallet.address, owner }
      const inserted = await insertMapping(tx, nowMs, place.entityId, {
        ...row,
        isSole: soleOwnerOf(wallet) === owner,
      })
      if (inserted) rows.push(inserted)
    }
    await removeOldestClaims(tx, place, wallet.address, claimsMax)
    return rows
  })

const idsOf = (rows: readonly OwnerMapping[]) => rows.map(({ id }) => id)

/** Binds claims whose owners are on the chain already: no block that is followed later will report them. */
async function bindKnown(
  ctx: Ctx,
  chain: Chain,
  { address }: ModularWallet,
  claims: readonly OwnerMapping[],
): Promise<void> {
  const place = placeOf(ctx, chain)
  const owners = claims.map(({ owner }) => owner)
  const has = await accountsOn(chain).modular.hasOwners(address as Address, owners)
  const ids = idsOf(claims.filter((_, index) => has[index]))
  if (ids.length === 0) return
  const head = await indexedHead(ctx.database, place.blockchain)
  await bindClaims(ctx.database, ctx.clock.nowMs(), place, { ids, block: head?.number ?? 0 })
}

/** The wallets that have an owner, in the order in which blocks gave it to them, and those that need no block last. */
export async function mappingsOfOwner(ctx: Ctx, chain: Chain, owner: string): Promise<OwnerMapping[]> {
  const place = placeOf(ctx, chain)
  await compareEarlier(ctx, chain, owner)
  const id = accountsOn(chain).modular.ownerId(owner)
  const found = await boundMappings(ctx.database, place, [owner, id], mappedMax)
  const byWallet = new Map(found.toReversed().map((row) => [row.walletAddress, row]))
  return found.filter((row) => byWallet.get(row.walletAddress) === row).map((row) => ({ ...row, owner }))
}

/** Compares claims whose wallets had operations before owners were read from blocks. */
async function compareEarlier(ctx: Ctx, chain: Chain, owner: string): Promise<void> {
  const place = placeOf(ctx, chain)
  const claims = await movedClaims(ctx.database, place, owner, comparedMax)
  if (claims.length === 0) return
  const compared = claims.map(({ walletAddress }) =>
    accountsOn(chain).modular.hasOwners(walletAddress as Address, [owner]),
  )
  const has = (await Promise.all(compared)).flat()
  const idsWhere = (isOwner: boolean) => idsOf(claims.filter((_, index) => has[index] === isOwner))
  await bindClaims(ctx.database, ctx.clock.nowMs(), place, { ids: idsWhere(true), block: 0 })
  await rejectClaims(ctx.database, place, idsWhere(false))
}

/** The owners that a wallet was made for. */
const firstOwnersOf = ({ owners }: Pick<ModularWallet, 'owners'>): string[] => [
  ...(owners?.owners ?? []).map((each) => canonicalAddress(each.address)),
  ...(owners?.webauthnOwners ?? []).map(({ publicKeyX, publicKeyY }) => `${publicKeyX}:${publicKeyY}`),
]

/** The owner of a wallet that was made for it alone. */
function soleOwnerOf(wallet: ModularWallet): string | undefined {
  const first = firstOwnersOf(wallet)
  return first.length === 1 ? first[0] : undefined
}

/**
 * Binds the claims on owners that wallets got in a block. Owners beyond the first ones need no claim, which those of strangers may
 * have replaced: they are kept by their ids.
 */
export async function bindByBlock(ctx: EngineCtx, tx: Db, { blockchain, blockHash }: Step): Promise<void> {
  const added = await observedOwnersOf(tx, blockchain, blockHash)
  if (added.length === 0) return
  const { ownerId } = accountsOn(ctx.chains.find(blockchain)!).modular
  const nowMs = ctx.clock.nowMs()
  const claims = await claimsWithoutBlock(tx, blockchain, added)
  const wallets = await walletsAt(tx, blockchain, added)
  for (const { entityId, account: walletAddress, ownerIds, blockNumber, logIndex } of added) {
    const at = { entityId, block: blockNumber, log: logIndex, hash: blockHash }
    const bound = claims.filter(
      (claim) =>
        claim.entityId === entityId &&
        claim.walletAddress === walletAddress &&
        ownerIds.includes(ownerId(claim.owner)),
    )
    await bindInBlock(
      tx,
      nowMs,
      bound.map(({ id }) => ({ ...at, id })),
    )
    const wallet = wallets.find((each) => each.entityId === entityId && each.address === walletAddress)
    const known = new Set(
      [...(wallet ? firstOwnersOf(wallet) : []), ...bound.map(({ owner }) => owner)].map(ownerId),
    )
    const others = ownerIds.filter((each) => !known.has(each as Hex)).slice(0, mappedMax)
    const rows = others.map((owner) => ({ ...at, id: newId(nowMs), blockchain, walletAddress, owner }))
    await insertBound(tx, nowMs, rows, mappedMax)
  }
}
