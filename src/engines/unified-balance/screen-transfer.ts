import { addressOfWord } from '#chains/crosschain/native-address'
import { askUntilKnown, screenRecipients } from '#engines/compliance/index'
import { shareLists } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import type { Db } from '#runtime/db/db'
import type { PricedIntent, VerifiedTransfer } from './verify.ts'

/**
 * Throws `unifiedTransferDenied` unless all whom the intents concern are cleared: recipients, callers and hooks on the destination,
 * depositors and signers on their chains. No list changes before the `tx` ends, and an attestation cannot wait for an operator.
 */
export async function requireCleared(
  ctx: EngineCtx & { db: Db },
  intents: readonly PricedIntent[],
): Promise<void> {
  await shareLists(ctx.db)
  const decisions = await screenRecipients(
    ctx,
    intents.map(({ spec, source }) => source.crosschain.partiesOf(spec)),
  )
  const denied = decisions.findIndex(({ actions }) => !actions.includes('APPROVE'))
  if (denied < 0) return
  const { ruleName = '', reasons } = decisions[denied]!
  const { sourceValue = '' } = reasons[0] ?? {}
  throw new ApiError(
    'unifiedTransferDenied',
    `${ruleName} does not let the balance be spent: ${intents[denied]!.at} concerns ${sourceValue}. Nothing was attested.`,
  )
}

/**
 * Throws `unifiedTransferDenied` unless the provider of screening, where one is set, has answered about the recipients. What it
 * answers counts with the lists.
 */
export async function requireScreenedTransfer(
  ctx: EngineCtx,
  { intents, destination: { blockchain } }: VerifiedTransfer,
): Promise<void> {
  const recipients = intents.map(({ spec }) => ({
    blockchain,
    address: addressOfWord(spec.destinationRecipient),
  }))
  if (await askUntilKnown(ctx, recipients)) return
  throw new ApiError(
    'unifiedTransferDenied',
    'Screening has no answer of its provider about a recipient yet: try again. Nothing was attested.',
  )
}
