import { signersOf } from '#chains/crosschain/attestation'
import { decodeBurnBody, decodeMessage, finalizedThreshold } from '#chains/crosschain/message'
import type { EngineCtx } from '#engines/ctx'
import type { Hex } from '#lib/hex'
import { messageChains } from './networks.ts'
import {
  type AskedAttester,
  askedAttesters,
  findMessageRecord,
  type MessageRecord,
} from './store/message-history.ts'

/** The records of a burn that is minted on another chain. */
export type MessageHistory = Omit<MessageRecord, 'attestedMessage' | 'finalityThreshold'> & {
  /** Undefined where this server does not follow the destination. */
  destination: string | undefined
  /** The number of attesters that have to sign. */
  threshold: number
  isFinalAttestation: boolean
  /** Of the attestation that there is: its signers, and the fee that it takes. */
  signers: readonly string[]
  feeAtomic: bigint
  /** While a proposal waits for signatures: the attesters that were asked. */
  asked: readonly AskedAttester[]
}

/** Reads the history of a message; undefined where there is none with this id. */
export async function readMessageHistory(ctx: EngineCtx, id: string): Promise<MessageHistory | undefined> {
  const record = await findMessageRecord(ctx.db, id)
  if (!record) return undefined
  const { attestedMessage, finalityThreshold, ...shown } = record
  const { attestation, digest, destinationDomain } = record
  return {
    ...shown,
    destination: messageChains(ctx).find(({ domain }) => BigInt(domain) === BigInt(destinationDomain))
      ?.blockchain,
    threshold: ctx.config.attestationThreshold,
    isFinalAttestation: finalityThreshold === finalizedThreshold,
    signers: attestation === null ? [] : await signersOf(digest as Hex, attestation as Hex),
    feeAtomic:
      attestedMessage === null
        ? 0n
        : decodeBurnBody(decodeMessage(attestedMessage as Hex).messageBody).feeExecuted,
    asked: await askedAttesters(ctx.db, id),
  }
}
