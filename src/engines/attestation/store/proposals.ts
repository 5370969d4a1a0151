import { finalizedThreshold } from '#chains/crosschain/message'
import type { Hex } from '#lib/hex'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import type { FilledMessage } from './messages.ts'

/** The channel that announces new proposals. */
export const proposalChannel = 'message_proposals'

/** Records a filled message with the signature of this server; the message waits for those of the other attesters. */
export async function insertProposal(
  tx: Db,
  filled: FilledMessage & { attestation: string },
  attester: string,
  nowMs: number,
): Promise<void> {
  const { id, attestedMessage, digest, finalityThreshold, expirationBlock, forwardFeeAtomic } = filled
  await tx.run(sql`insert into message_proposals (message_id, attested_message, digest, finality_threshold,
      expiration_block, forward_fee, create_date)
    values (${id}, ${attestedMessage}, ${digest}, ${finalityThreshold}, ${expirationBlock.toString()},
      ${forwardFeeAtomic?.toString() ?? null}, ${formatInstant(nowMs)})`)
  await tx.run(sql`insert into message_signatures (message_id, attester, signature, ask_date, tries)
    values (${id}, ${attester}, ${filled.attestation}, now(), 0)`)
  await tx.run(sql`select pg_notify(${proposalChannel}, '')`)
}

export const deleteProposals = (tx: Db, messageIds: readonly string[]) =>
  tx.run(sql`delete from message_proposals where message_id = any(${messageIds}::uuid[])`)

/**
 * Removes proposals of attestations before finality that are incomplete although their blocks are final, and were made before
 * `olderThanMs`. Their messages ask for an attestation without an end, which every attester gives without an allowance.
 */
export const dropLateProposals = (tx: Db, blockchain: string, final: number, olderThanMs: number) =>
  tx.run(sql`with late as materialized (
      select p.message_id from message_proposals p join messages m on m.id = p.message_id
      where m.blockchain = ${blockchain} and p.finality_threshold < ${finalizedThreshold} and m.block_number <= ${final}
        and p.create_date < ${formatInstant(olderThanMs)} for update of m, p skip locked),
    dropped as (delete from message_proposals p using late where p.message_id = late.message_id)
    update messages set reattest = true where id in (select message_id from late)`)

/** A proposal that an attester is asked to sign. */
export type AskedProposal = {
  messageId: string
  blockchain: string
  domain: number
  nonce: string
  attestedMessage: string
  digest: string
  /** Number of times that the attester was asked, this time included. */
  tries: number
}

/** Tries after which proposals are equal in their order. */
const triesMax = 8

/**
 * Claims proposals that an attester has not signed; no other process asks it for `leaseMs`. Those asked for least often come first,
 * so that many that it refuses, or cannot see, delay no new one; among equals, those due longest.
 */
export const claimProposals = (
  db: Db,
  attester: string,
  { limit, leaseMs }: { limit: number; leaseMs: number },
) =>
  db.all<AskedProposal>(sql`with due as materialized (
      select p.message_id from message_proposals p
        left join message_signatures s on s.message_id = p.message_id and s.attester = ${attester}
      where s.message_id is null or (s.signature is null and s.ask_date <= now())
      order by least(coalesce(s.tries, 0), ${triesMax}::integer), coalesce(s.ask_date, p.create_date)
      limit ${limit} for key share of p skip locked),
    asked as (insert into message_signatures as s (message_id, attester, ask_date, tries)
      select message_id, ${attester}, now() + ${leaseMs} * interval '1 millisecond', 1 from due
      on conflict (message_id, attester) do update set ask_date = excluded.ask_date, tries = s.tries + 1
        where s.signature is null and s.ask_date at time zone 'UTC'
          <= excluded.ask_date at time zone 'UTC' - ${leaseMs} * interval '1 millisecond'
      returning s.message_id, s.tries)
    select m.id as message_id, m.blockchain, m.domain, m.nonce, p.attested_message, p.digest,
      asked.tries
    from asked join message_proposals p on p.message_id = asked.message_id join messages m on m.id = p.message_id`)

/** Records the signature of an attester; `false` when the proposal is gone or was replaced meanwhile. */
export const setProposalSignature = async (
  db: Db,
  { messageId, digest }: Pick<AskedProposal, 'messageId' | 'digest'>,
  attester: string,
  signature: string,
): Promise<boolean> =>
  (await db.run(sql`update message_signatures s set signature = ${signature} from message_proposals p
    where s.message_id = ${messageId} and s.attester = ${attester} and s.signature is null
      and p.message_id = s.message_id and p.digest = ${digest}`)) === 1

/** Sets when an attester is asked for this signature again. */
export const setNextAsk = (db: Db, messageId: string, attester: string, pauseMs: number) =>
  db.run(sql`update message_signatures set ask_date = now() + ${pauseMs} * interval '1 millisecond'
    where message_id = ${messageId} and attester = ${attester} and signature is null`)

/**
 * Whether a proposal of the chain waits for signatures; none does where this server is the only attester. `offset` has the few
 * proposals looked up among all messages, and not the other way round.
 */
export const proposalsWait = async (db: Db, blockchain: string): Promise<boolean> =>
  (await db.maybe(sql`select 1 from message_proposals p cross join lateral (select 1 from messages m
    where m.id = p.message_id and m.blockchain = ${blockchain} offset 0) own limit 1`)) !== undefined

export type SignedProposal = FilledMessage & {
  destinationDomain: number
  blockHash: string
  /** Exactly as many signatures as the proposal asked for. */
  signatures: readonly Hex[]
}

/**
 * Claims proposals of a chain with this many signatures of these attesters, oldest first, until the `tx` ends. Those of an attester
 * that was removed meanwhile do not count: the contracts may not take them any more.
 */
export const claimSigned = (
  tx: Db,
  blockchain: string,
  { threshold, attesters, limit }: { threshold: number; attesters: readonly string[]; limit: number },
) =>
  tx.all<SignedProposal>(sql`select p.message_id as id, m.destination_domain, m.block_hash, p.attested_message, p.digest,
      p.finality_threshold, p.expiration_block, p.forward_fee as forward_fee_atomic, signed.signatures
    from message_proposals p join messages m on m.id = p.message_id
      cross join lateral (select (array_agg(s.signature order by s.attester))[:${threshold}::integer] as signatures
        from message_signatures s
        where s.message_id = p.message_id and s.signature is not null and s.attester = any(${attesters})) signed
    where m.blockchain = ${blockchain} and m.block_hash is not null and cardinality(signed.signatures) >= ${threshold}
    order by p.create_date limit ${limit} for update of m, p skip locked`)
