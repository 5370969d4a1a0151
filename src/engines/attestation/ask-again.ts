import { attestationProblem } from '#chains/crosschain/attestation'
import { finalizedThreshold } from '#chains/crosschain/message'
import { attestationKeysInUse } from '#custody/installation/index'
import type { Ctx } from '#engines/ctx'
import type { Hex } from '#lib/hex'
import { attesterAddresses } from './attesters.ts'
import { askForAnother, type MessageRow, messageByNonce } from './store/messages.ts'

/**
 * Asks for a further attestation of a message that is not delivered, in place of one that has an end, or that contracts refuse
 * since its attesters were replaced. Returns the blockchain of the message, once; `undefined` where there is nothing to ask for.
 */
export async function askAgain(ctx: Ctx, nonce: string): Promise<{ blockchain: string } | undefined> {
  const message = await messageByNonce(ctx.db, nonce)
  const isLasting = message?.finalityThreshold === finalizedThreshold
  if (!message || (isLasting && !(await isRefused(ctx, message)))) return undefined
  return askForAnother(ctx.db, message)
}

/** Whether contracts with the attesters and the threshold of the settings would refuse the attestation. */
async function isRefused({ db, config }: Ctx, message: MessageRow): Promise<boolean> {
  const { attestedMessage, attestation } = message
  if (attestedMessage === null || attestation === null) return false
  const inUse = await attestationKeysInUse(db, 'message')
  const problem = await attestationProblem({
    message: attestedMessage as Hex,
    attestation: attestation as Hex,
    attesters: [...inUse.map(({ address }) => address), ...attesterAddresses(config)],
    threshold: config.attestationThreshold,
  })
  return problem !== undefined
}
