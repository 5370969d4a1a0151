import { ApiError, notFound } from '#lib/errors'
import { newId } from '#lib/ids'
import type { ScaCore } from '#lib/sca-cores'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { readableBy } from '#runtime/row-owner'
import type { CustodyCtx, KeyOpener } from '../custody.ts'
import { walletPrivateKey, walletSetEntropy } from '../sealing/contexts.ts'
import { seal, unseal } from '../sealing/sealing.ts'
import { deriveKeys } from '../signing/seed.ts'
import { type IndexedKey, insertKeys, type KeyRow, keysOfSet } from '../store/keys.ts'
import { insertManaged } from '../store/managed-addresses.ts'
import { addToWalletCount, type LockedSet, lockWalletSet } from '../store/wallet-sets.ts'
import {
  findWallet,
  findWalletByAddress,
  insertWallets,
  lockWallet,
  type NewWallet,
  nextIndex,
  setCores,
  setWalletMetadata,
  type WalletCore,
  walletsOfBatch,
} from '../store/wallets.ts'
import type { KeyFamily, Wallet, WalletChain, WalletMetadata } from './types.ts'

/** Maximum number of wallets in one set. */
export const walletsPerSetMax = 10_000_000

export type CreateWalletsInput = {
  walletSetId: string
  /** Without repetition. */
  chains: readonly WalletChain[]
  /** Wallets on each chain. */
  count: number
  /** Returns the name and reference of a wallet, by the index of its chain in `chains` and its own from 0 to `count` - 1. */
  metadataOf?: ((chain: number, wallet: number) => WalletMetadata | undefined) | undefined
  /** Given for wallets that are contracts owned by the keys; without it, the wallets are the addresses of the keys. */
  smartAccount?: SmartAccountKind | undefined
}

/** The version of new smart accounts. `addressOf` returns the address of the account that the key with the address `owner` owns. */
export type SmartAccountKind = { core: ScaCore; addressOf: (owner: string) => string }

/**
 * Creates `count` wallets on each chain, at the next indexes that are free on all of them: so a wallet has the same address on all
 * chains of a family. `walletsMadeWith` returns them again, in the same order. Throws 156005 when `opener` has no such wallet set,
 * 155502 when it has no room.
 */
export async function createWallets(
  ctx: CustodyCtx,
  opener: KeyOpener,
  input: CreateWalletsInput,
): Promise<Wallet[]> {
  const { db, entity } = ctx
  const set = await lockWalletSet(db, entity.id, input.walletSetId)
  if (!set || set.userId !== (opener.userId ?? null))
    throw notFound('wallet set', input.walletSetId, 'walletSetNotFound', 'walletSetId')
  requireRoom(set, input.count * input.chains.length)
  const names = input.chains.map((chain) => chain.blockchain)
  const first = await nextIndex(db, entity.id, input.walletSetId, names, typeOf(input.smartAccount?.core))
  const keys = new Map<KeyFamily, IndexedKey[]>()
  for (const family of new Set(input.chains.map((chain) => chain.family)))
    keys.set(family, await keysFor(ctx, opener, { ...input, family }, set, first))
  const rows = input.chains.flatMap(({ blockchain, family }, chain) =>
    keys.get(family)!.map((key, wallet) => {
      const metadata = input.metadataOf?.(chain, wallet)
      return {
        keyId: key.id,
        blockchain,
        address: input.smartAccount?.addressOf(key.address) ?? key.address,
        derivationIndex: key.derivationIndex,
        name: metadata?.name || null,
        refId: metadata?.refId || null,
      }
    }),
  )
  const batchId = await addWallets(ctx, input.walletSetId, input.chains, rows, input.smartAccount?.core)
  return walletsOfBatch(db, entity.id, batchId)
}

const typeOf = (core: ScaCore | null | undefined) => (core == null ? 'EOA' : 'SCA')

function requireRoom(set: LockedSet, added: number): void {
  if (set.walletCount + added > walletsPerSetMax) {
    const left = walletsPerSetMax - set.walletCount
    throw new ApiError(
      'walletLimitReached',
      `A wallet set holds at most ${walletsPerSetMax} wallets, and this one has room for ${left}: use another one.`,
    )
  }
}

/** Returns the keys of a family at `count` indexes from `first`, and derives and stores those that no chain has used yet. */
async function keysFor(
  ctx: CustodyCtx,
  opener: KeyOpener,
  { walletSetId, family, count }: Pick<CreateWalletsInput, 'walletSetId' | 'count'> & { family: KeyFamily },
  set: LockedSet,
  first: number,
): Promise<IndexedKey[]> {
  const { db, entity, custody } = ctx
  const there = await keysOfSet(db, entity.id, walletSetId, family, first, first + count - 1)
  const known = new Set(there.map((key) => key.derivationIndex))
  const missing = Array.from({ length: count }, (_, offset) => first + offset).filter(
    (index) => !known.has(index),
  )
  if (missing.length === 0) return inOrder(there)
  const nowMs = ctx.clock.nowMs()
  const entropy = unseal(opener.walletKey, walletSetEntropy(entity.id, walletSetId), set.sealedEntropy)
  const derived = await deriveKeys(custody.signer, family, entropy, missing).finally(() => entropy.fill(0))
  const rows = derived.map(({ index, privateKey, address, publicKey = null }): KeyRow => {
    const id = newId(nowMs)
    const sealedPrivateKey = seal(opener.walletKey, walletPrivateKey(entity.id, id), privateKey)
    privateKey.fill(0)
    return {
      entityId: entity.id,
      id,
      class: opener.userId === undefined ? 'wallet' : 'user',
      walletSetId,
      family,
      derivationIndex: index,
      address,
      publicKey,
      sealedPrivateKey,
    }
  })
  await insertKeys(db, rows, formatInstant(nowMs))
  return inOrder([...there, ...rows])
}

const inOrder = (keys: IndexedKey[]) => keys.sort((a, b) => a.derivationIndex - b.derivationIndex)

type WalletSeed = Omit<NewWallet, 'id'>

/** Writes the wallets with their managed addresses, events and audit entries; returns the batch id. */
async function addWallets(
  ctx: CustodyCtx,
  walletSetId: string,
  chains: readonly WalletChain[],
  seeds: readonly WalletSeed[],
  scaCore: ScaCore | null = null,
): Promise<string> {
  const { db, entity } = ctx
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const batchId = newId(nowMs)
  const rows = seeds.map((seed): NewWallet => ({ id: newId(nowMs), ...seed }))
  const accountType = typeOf(scaCore)
  await insertWallets(
    db,
    { entityId: entity.id, walletSetId, batchId, createDate, accountType, scaCore },
    rows,
  )
  await addToWalletCount(db, entity.id, walletSetId, rows.length)
  const onChain = new Set(chains.filter((chain) => chain.onChain).map((chain) => chain.blockchain))
  const watched = rows
    .filter((row) => onChain.has(row.blockchain))
    .map((row) => ({
      entityId: entity.id,
      blockchain: row.blockchain,
      address: row.address,
      keyId: row.keyId,
      purpose: 'wallet' as const,
      ownerId: row.id,
    }))
  await insertManaged(db, watched, createDate)
  await recordWallets(
    ctx,
    nowMs,
    'wallet.created',
    rows.map((row) => row.id),
  )
  return batchId
}

const recordWallets = (ctx: CustodyCtx, nowMs: number, type: string, ids: readonly string[]) =>
  recordChanges(
    ctx.db,
    nowMs,
    ids.map((resourceId) => ({
      entityId: ctx.entity.id,
      actor: ctx.actor,
      type,
      resourceId,
      requestId: ctx.requestId,
    })),
  )

/**
 * Creates a wallet for the key of `source` on another chain of its family, with the same index and address. `made` is false when
 * the wallet existed already; then only its metadata is updated. Throws 155502 when the wallet set is full.
 */
export async function deriveWallet(
  ctx: CustodyCtx,
  source: Wallet,
  target: WalletChain,
  metadata: WalletMetadata = {},
): Promise<{ made: boolean; wallet: Wallet }> {
  const { db, entity } = ctx
  const set = await lockWalletSet(db, entity.id, source.walletSetId)
  if (!set) throw new ApiError('walletSetNotFound')
  const there = await findWalletByAddress(db, { entityId: entity.id }, target.blockchain, source.address)
  if (there) return { made: false, wallet: await updateWallet(ctx, there.id, metadata) }
  requireRoom(set, 1)
  const { keyId, address, derivationIndex } = source
  const batchId = await addWallets(
    ctx,
    source.walletSetId,
    [target],
    [
      {
        keyId,
        blockchain: target.blockchain,
        address,
        derivationIndex,
        name: metadata.name || null,
        refId: metadata.refId || null,
      },
    ],
    // On another chain nothing is upgraded yet.
    source.firstCore,
  )
  const [wallet] = await walletsOfBatch(db, entity.id, batchId)
  return { made: true, wallet: wallet! }
}

/** Sets the given fields; an empty text clears one. Throws 156001 when there is no such wallet, 155501 when it is frozen. */
export async function updateWallet(ctx: CustodyCtx, id: string, metadata: WalletMetadata): Promise<Wallet> {
  const { db, entity } = ctx
  const wallet = await lockWallet(db, readableBy(ctx), id)
  if (!wallet) throw notFound('wallet', id, 'walletNotFound')
  if (metadata.name === undefined && metadata.refId === undefined) return wallet
  if (wallet.state === 'FROZEN') throw new ApiError('walletFrozen')
  const nowMs = ctx.clock.nowMs()
  await recordWallets(ctx, nowMs, 'wallet.updated', [id])
  return setWalletMetadata(db, entity.id, id, metadata, formatInstant(nowMs))
}

/** Records that smart accounts were upgraded, or that a reorg undid their upgrades, in the `tx` that follows the block. */
export async function recordUpgrades(tx: Db, nowMs: number, cores: readonly WalletCore[]): Promise<void> {
  if (cores.length === 0) return
  const changed = await setCores(tx, cores, formatInstant(nowMs))
  await recordChanges(
    tx,
    nowMs,
    changed.map(({ entityId, id, scaCore }) => ({
      entityId,
      actor: 'transactions',
      type: 'wallet.upgraded',
      resourceId: id,
      data: { scaCore },
    })),
  )
}

/** Returns the wallet. Throws 156001 when `owner`, by default the one whose rows the request may read, has no such wallet. */
export async function requireWallet(ctx: CustodyCtx, id: string, owner = readableBy(ctx)): Promise<Wallet> {
  const wallet = await findWallet(ctx.db, owner, id)
  if (!wallet) throw notFound('wallet', id, 'walletNotFound')
  return wallet
}
