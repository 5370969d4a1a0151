import { messageMovements, messagesDeliveredBy } from '#engines/attestation/index'
import type { Movement, MovementKind } from '#engines/movement'
import { transfersBurnedBy, unifiedMovements } from '#engines/unified-balance/index'
import type { Db } from '#runtime/db/db'
import { movementsSentAs, movementTables } from '../list-movements.ts'
import type { UseStay } from './crosschain-evidence.ts'
import type { Mark, TimelineLane } from './types.ts'

/** Another movement of the same coins, by a transaction that both have. */
export type LinkedMovement = { kind: MovementKind; id: string; txHash: string; isBurn: boolean }

const crosschainTables = [messageMovements, unifiedMovements]
const otherTables = movementTables.filter((table) => !crosschainTables.includes(table))

/** Transactions of a burn, a mint and their replacements; a transfer has as many burns as sources. */
const hashesMax = 8

type Places = {
  /** The blocks that hold or held the movement's own transaction. */
  blockHashes: readonly string[]
  uses: readonly UseStay[]
}

/**
 * The movements of the entity on the other side: of a message or transfer those that its burn and mint are, and of these the
 * message or transfer. Both directions go by the hashes of transactions, so that one never lacks the other.
 */
export async function linkedMovements(
  db: Db,
  entityId: string,
  { kind, txHash, blockchain }: Movement,
  { blockHashes, uses }: Places,
): Promise<LinkedMovement[]> {
  if (kind === 'message' || kind === 'unifiedTransfer') {
    const standing = uses.filter(({ isUndone }) => !isUndone)
    const burns = new Set(standing.flatMap((use) => (use.kind === 'burned' ? [use.txHash] : [])))
    if (kind === 'message' && txHash !== null) burns.add(txHash)
    const hashes = [...new Set([...(txHash === null ? [] : [txHash]), ...standing.map((use) => use.txHash)])]
    const found = await movementsSentAs(db, entityId, otherTables, hashes.slice(0, hashesMax))
    return found.map((each) => ({ ...each, isBurn: burns.has(each.txHash) }))
  }
  if (txHash === null) return []
  const place = { blockchain, blockHashes, txHash }
  const [same, delivered, burned] = await Promise.all([
    movementsSentAs(db, entityId, crosschainTables, [txHash]),
    messagesDeliveredBy(db, entityId, place),
    transfersBurnedBy(db, entityId, place),
  ])
  return [
    ...same.map((each) => ({ ...each, isBurn: each.kind === 'message' })),
    ...delivered.map(({ id }) => ({ kind: 'message' as const, id, txHash, isBurn: false })),
    ...burned.map(({ id }) => ({ kind: 'unifiedTransfer' as const, id, txHash, isBurn: true })),
  ]
}

const titles: Record<MovementKind, string> = {
  transaction: 'Transaction',
  payment: 'Payment',
  refund: 'Refund',
  payout: 'Payout',
  redemption: 'Redemption',
  transfer: 'Transfer',
  deposit: 'Deposit',
  sweep: 'Sweep',
  userOperation: 'User operation',
  modularTransfer: 'Transfer of a modular wallet',
  message: 'Cross-chain message',
  unifiedTransfer: 'Transfer of a unified balance',
}

/** One lane for each linked movement, with a mark where the transaction that both have was first in a block. */
export const linkedMovementLanes = (
  linked: readonly LinkedMovement[],
  seenMsOf: (txHash: string) => number,
): TimelineLane[] =>
  linked.map(({ kind, id, txHash, isBurn }) =>
    linkedLane(id, titles[kind], {
      atMs: seenMsOf(txHash),
      text: `${titles[kind]} ${id} ${isBurn ? 'burns' : 'mints'} the same coins, in transaction ${txHash}.`,
      refs: { [`${kind}Id`]: id, txHash },
    }),
  )

/** The lane of another resource that moves the same money. */
export const linkedLane = (
  id: string,
  title: string,
  mark: Pick<Mark, 'atMs' | 'text' | 'refs'>,
): TimelineLane => ({
  id: `linked:${id}`,
  kind: 'linked',
  title,
  note: id,
  spans: [],
  marks: [{ ...mark, what: 'linked', tone: 'info' }],
})
