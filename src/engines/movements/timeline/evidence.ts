import { decisionsAbout, type PolicyDecision } from '#custody/policy/index'
import type { EngineCtx } from '#engines/ctx'
import { type BlockStep, stepsOfBlocks } from '#engines/indexer/index'
import {
  blocksOfHashes,
  blocksOfNonces,
  blocksOfTransfers,
  type HoldingBlock,
} from '#engines/indexer/observed/index'
import { type PlacedHold, placedHolds } from '#engines/ledger/holds/index'
import {
  type BookedEntry,
  type BookedFact,
  entriesOfPostings,
  factsOfBlocks,
  factsOfMoney,
} from '#engines/ledger/index'
import type { Movement } from '#engines/movement'
import { carriedOperation, type SignedAttempt, signedAttempts } from '#engines/transactions/history/index'
import { type MoneyLink, moneyLinks } from '#engines/treasury/index'
import { type DeliveryHistory, deliveriesOf } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { bindingsOf } from '#runtime/idempotency/store'
import { type AskedEvent, eventsOf } from '#runtime/record/store'
import { type RequestRow, requestsAbout } from '#runtime/request-log/store'
import { noncesOf } from './block-lanes.ts'
import { type CrosschainEvidence, readCrosschainEvidence } from './crosschain-evidence.ts'
import { type LinkedMovement, linkedMovements } from './linked-movements.ts'

/** The numbers of rows that are read at most: the timeline says when there are more. */
export const requestsMax = 20
export const eventsMax = 1_000
export const deliveriesMax = 500

/** All that is recorded of one movement. */
export type MovementEvidence = {
  requests: readonly RequestRow[]
  events: readonly AskedEvent[]
  bindings: readonly { operation: string; key: string; recordedAt: string }[]
  decisions: readonly PolicyDecision[]
  holds: readonly PlacedHold[]
  operation:
    | { userOpHash: string; state: string; bundleId: string | null; endReason: string | null }
    | undefined
  attempts: readonly SignedAttempt[]
  blocks: readonly HoldingBlock[]
  steps: readonly BlockStep[]
  facts: readonly BookedFact[]
  /** Entries of the facts. */
  entries: readonly BookedEntry[]
  deliveries: readonly DeliveryHistory[]
  links: readonly MoneyLink[]
  /** Of messages and transfers of unified balances. */
  crosschain: CrosschainEvidence | undefined
  linked: readonly LinkedMovement[]
}

/** Reads what is recorded of a movement, each part by an index on its id. */
export async function readEvidence(
  ctx: EngineCtx,
  entityId: string,
  movement: Movement,
): Promise<MovementEvidence> {
  const { db } = ctx
  const { id, blockchain } = movement
  const [requests, events, bindings, decisions, holds, operation, deliveries, links, crosschain] =
    await Promise.all([
      requestsAbout(db, entityId, id, requestsMax),
      eventsOf(db, entityId, id, eventsMax),
      bindingsOf(db, entityId, id),
      decisionsAbout(db, entityId, id),
      placedHolds(db, entityId, id),
      carriedOperation(db, entityId, id),
      deliveriesOf(db, entityId, id, deliveriesMax),
      moneyLinks(db, entityId, id),
      readCrosschainEvidence(ctx, movement),
    ])
  // An operation is carried by the treasury's transaction; the transaction of any other movement has its id.
  const attempts = await signedAttempts(db, entityId, operation?.bundleId ? [operation.bundleId] : [id])
  const blocks = crosschain?.blocks ?? (await blocksOf(db, entityId, movement, attempts))
  const hashes = [...new Set(blocks.map(({ blockHash }) => blockHash))]
  const txHashes = [
    ...new Set([...attempts.map(({ txHash }) => txHash), ...(movement.txHash ? [movement.txHash] : [])]),
  ]
  const [steps, chainFacts, moneyFacts, linked] = await Promise.all([
    stepsOfBlocks(db, blockchain, hashes),
    factsOfBlocks(db, entityId, blockchain, hashes, txHashes),
    factsOfMoney(db, entityId, moneyFactNames(movement)),
    linkedMovements(db, entityId, movement, { blockHashes: hashes, uses: crosschain?.uses ?? [] }),
  ])
  const facts = [...chainFacts, ...moneyFacts]
  const postingIds = facts.map((each) => each.id)
  const entries = postingIds.length === 0 ? [] : await entriesOfPostings(db, entityId, postingIds)
  return {
    requests,
    events,
    bindings,
    decisions,
    holds,
    operation,
    attempts,
    blocks,
    steps,
    facts,
    entries,
    deliveries,
    links,
    crosschain,
    linked,
  }
}

/**
 * Uses of a nonce tell of transactions that others signed too. Where nonces have no order, hashes tell of ours; money that came in has
 * no nonce of ours.
 */
async function blocksOf(
  db: Db,
  entityId: string,
  { blockchain, txHash }: Movement,
  attempts: readonly SignedAttempt[],
): Promise<readonly HoldingBlock[]> {
  if (attempts.length > 0) {
    const ofNonces = await blocksOfNonces(db, entityId, blockchain, noncesOf(attempts))
    return ofNonces.length > 0 ? ofNonces : blocksOfHashes(db, entityId, blockchain, attempts)
  }
  return txHash === null ? [] : blocksOfTransfers(db, entityId, blockchain, txHash)
}

/** A merchant's money is booked under the name of the movement; a reorg takes it back under another. */
const moneyFactNames = ({ kind, id }: Movement): string[] => [`${kind}:${id}`, `${kind}:${id}:orphaned`]
