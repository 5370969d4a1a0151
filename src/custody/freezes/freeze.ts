import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import {
  deleteEntityFreeze,
  frozenAddresses,
  insertEntityFreeze,
  lockFreezes,
  setWalletState,
} from '../store/freezes.ts'
import { findWallet } from '../store/wallets.ts'

/** Thrown when a wallet or its entity is frozen at the time of signing. Nothing is signed; the transactions wait for `unfreeze`. */
export class WalletFrozen extends Error {}

/** A whole entity, or one of its wallets. */
type FreezeSubject = { entityId: string; walletId?: string | undefined }

type FreezeScope = { db: Db; clock: { nowMs(): number }; actor: string; requestId?: string }

/**
 * Freezes the subject: nothing is signed for it afterwards. Returns false if it was frozen before; throws 156001 for an unknown
 * wallet. `isWanted` runs in the same `tx` while no signature is under way; where it returns false, nothing is frozen.
 */
export const freeze = (
  scope: FreezeScope,
  subject: FreezeSubject,
  isWanted?: (tx: Db) => Promise<boolean>,
): Promise<boolean> => change(scope, subject, true, isWanted)

/** Unfreezes the subject: what waits is signed from now on. Returns false if it was not frozen. A wallet stays frozen with its entity. */
export const unfreeze = (scope: FreezeScope, subject: FreezeSubject): Promise<boolean> =>
  change(scope, subject, false)

function change(
  { db, clock, actor, requestId }: FreezeScope,
  subject: FreezeSubject,
  on: boolean,
  isWanted: (tx: Db) => Promise<boolean> = async () => true,
): Promise<boolean> {
  const { entityId, walletId } = subject
  const nowMs = clock.nowMs()
  const at = formatInstant(nowMs)
  return db.tx(async (tx) => {
    await lockFreezes(tx, entityId)
    if (!(await isWanted(tx))) return false
    if (walletId !== undefined && !(await findWallet(tx, { entityId }, walletId)))
      throw new ApiError('walletNotFound')
    const changed = await (walletId !== undefined
      ? setWalletState(tx, entityId, walletId, on ? 'FROZEN' : 'LIVE', at)
      : on
        ? insertEntityFreeze(tx, entityId, at)
        : deleteEntityFreeze(tx, entityId))
    if (!changed) return false
    const type = `${walletId === undefined ? 'entity' : 'wallet'}.${on ? 'frozen' : 'unfrozen'}`
    await recordChanges(tx, nowMs, [{ entityId, actor, requestId, type, resourceId: walletId ?? entityId }])
    return true
  })
}

/** The addresses among these for which signing would be refused, so that a worker can skip the work before it. */
export const frozenAmong = async (
  db: Db,
  { entityId, blockchain, addresses }: { entityId: string; blockchain: string; addresses: readonly string[] },
): Promise<ReadonlySet<string>> => new Set(await frozenAddresses(db, entityId, blockchain, addresses))
