import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import {
  expirationHeightOf,
  leisureBlocks,
  type PricedIntent,
  priceTransfer,
  type SignedEntry,
  shownFees,
} from '#engines/unified-balance/index'
import { invalid } from '#lib/errors'
import { readSpec, showIntent } from './read-intents.ts'
import type { estimateSchema, forwarderQuery } from './schema.ts'

type EstimatedItems = Static<typeof estimateSchema>

/** Completes intents with fees and heights; those of the request are kept where they suffice. */
export async function estimateUnifiedTransfer(
  ctx: Ctx,
  query: Static<typeof forwarderQuery>,
  asked: EstimatedItems,
) {
  const forwarded = query.enableForwarder ?? false
  const { entries, intents } = priceTransfer(ctx, asked.map(entryOf), forwarded)
  const completed = await Promise.all(intents.map((intent) => complete(ctx, intent)))
  const body = entries.map(({ isSet }, index) => {
    const own = completed.filter((_, position) => intents[position]!.entry === index)
    return isSet ? { burnIntentSet: { intents: own } } : { burnIntent: own[0]! }
  })
  return forwarded ? { body, fees: shownFees(intents) } : body
}

/** An item without a signature; a height or fee that is absent is 0. */
function entryOf(
  { spec, maxBlockHeight, maxFee, intents }: EstimatedItems[number],
  index: number,
): SignedEntry {
  const read = (item: {
    spec: Parameters<typeof readSpec>[0]
    maxBlockHeight?: string
    maxFee?: string
  }) => ({
    maxBlockHeight: BigInt(item.maxBlockHeight ?? 0),
    maxFee: BigInt(item.maxFee ?? 0),
    spec: readSpec(item.spec),
  })
  if (spec && !intents)
    return {
      intents: [read({ spec, ...(maxBlockHeight && { maxBlockHeight }), ...(maxFee && { maxFee }) })],
      isSet: false,
      signature: '0x',
      contractSigner: false,
      at: `[${index}]`,
    }
  if (!intents || spec) throw invalid({ at: `[${index}]`, reason: 'must have either spec or intents' })
  return {
    intents: intents.map(read),
    isSet: true,
    signature: '0x',
    contractSigner: false,
    at: `[${index}].intents`,
  }
}

async function complete(ctx: Ctx, { maxBlockHeight, maxFee, feeAtomic, source, spec }: PricedIntent) {
  const least = await expirationHeightOf(ctx.db, source)
  return showIntent({
    maxBlockHeight: maxBlockHeight >= least ? maxBlockHeight : least + leisureBlocks(source),
    maxFee: maxFee > feeAtomic ? maxFee : feeAtomic,
    spec,
  })
}
