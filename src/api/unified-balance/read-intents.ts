import type { Static } from 'typebox'
import type { BurnIntent } from '#chains/crosschain/transfer-payload'
import type { TransferSpec } from '#chains/crosschain/transfer-spec'
import type { SignedEntry } from '#engines/unified-balance/index'
import { invalid } from '#lib/errors'
import type { Hex } from '#lib/hex'
import type { intentSchema, signedIntentsSchema, specSchema } from './schema.ts'

type GivenSpec = Static<typeof specSchema>
type GivenIntent = Static<typeof intentSchema>

const lower = (text: string) => text.toLowerCase() as Hex

/** The specification as it is signed; its bytes in lower case. */
export const readSpec = ({ hookData = '0x', ...spec }: GivenSpec): TransferSpec => ({
  version: spec.version,
  sourceDomain: spec.sourceDomain,
  destinationDomain: spec.destinationDomain,
  sourceContract: lower(spec.sourceContract),
  destinationContract: lower(spec.destinationContract),
  sourceToken: lower(spec.sourceToken),
  destinationToken: lower(spec.destinationToken),
  sourceDepositor: lower(spec.sourceDepositor),
  destinationRecipient: lower(spec.destinationRecipient),
  sourceSigner: lower(spec.sourceSigner),
  destinationCaller: lower(spec.destinationCaller),
  value: BigInt(spec.value),
  salt: lower(spec.salt),
  hookData: lower(hookData),
})

const readIntent = ({ maxBlockHeight, maxFee, spec }: GivenIntent): BurnIntent => ({
  maxBlockHeight: BigInt(maxBlockHeight),
  maxFee: BigInt(maxFee),
  spec: readSpec(spec),
})

/** The intent as it is shown; empty hook data is left out. */
export const showIntent = ({ maxBlockHeight, maxFee, spec }: BurnIntent) => {
  const { value, hookData, ...others } = spec
  return {
    maxBlockHeight: String(maxBlockHeight),
    maxFee: String(maxFee),
    spec: { ...others, value: String(value), ...(hookData !== '0x' && { hookData }) },
  }
}

/** The signed items of a request. Throws `invalidRequest` for an item that is neither an intent nor a set. */
export const readSignedIntents = (body: Static<typeof signedIntentsSchema>): SignedEntry[] =>
  body.map(({ burnIntent, burnIntentSet, signature, contractSigner = false }, index) => {
    const shared = { signature: lower(signature), contractSigner }
    if (burnIntent && !burnIntentSet)
      return { ...shared, intents: [readIntent(burnIntent)], isSet: false, at: `[${index}].burnIntent` }
    if (!burnIntentSet || burnIntent)
      throw invalid({ at: `[${index}]`, reason: 'must have either burnIntent or burnIntentSet' })
    const at = `[${index}].burnIntentSet.intents`
    return { ...shared, intents: burnIntentSet.intents.map(readIntent), isSet: true, at }
  })
