import { burnIntentDigest, burnIntentSetDigest } from '#chains/crosschain/burn-intent-typed-data'
import { MalformedTransfer } from '#chains/crosschain/malformed-transfer'
import { isAddressWord, zeroWord } from '#chains/crosschain/native-address'
import type { BurnIntent } from '#chains/crosschain/transfer-payload'
import { encodeBurnIntent, encodeBurnIntentSet } from '#chains/crosschain/transfer-payload'
import { transferSpecHash } from '#chains/crosschain/transfer-spec'
import { invalid } from '#lib/errors'
import type { Hex } from '#lib/hex'
import { oncePer } from '#runtime/scheduling/memoize'

/** The content of one signature: an intent, or a set of them. */
export type SignedEntry = {
  intents: readonly BurnIntent[]
  isSet: boolean
  signature: Hex
  /** Whether a contract signed, by ERC-1271. */
  contractSigner: boolean
  /** The place in the request, such as `[0].burnIntentSet.intents`. */
  at: string
}

/** One intent of a request. */
export type PlacedIntent = BurnIntent & {
  specHash: Hex
  entry: number
  position: number
  /** The place in the request, such as `[0].burnIntent`. */
  at: string
}

/** The intents of all entries, in their order. */
export function placedIntents(entries: readonly SignedEntry[]): PlacedIntent[] {
  let position = 0
  return entries.flatMap(({ intents, isSet, at }, entry) =>
    intents.map((intent, index) => {
      const place = isSet ? `${at}[${index}]` : at
      return {
        ...intent,
        specHash: refusing(`${place}.spec`, () => transferSpecHash(intent.spec)),
        entry,
        at: place,
        position: position++,
      }
    }),
  )
}

/** The bytes that the wallet contract takes for an entry. */
export const encodeEntry = ({ intents, isSet }: SignedEntry): Buffer =>
  isSet ? encodeBurnIntentSet({ intents }) : encodeBurnIntent(intents[0]!)

/** The 32 bytes that the signer of an entry signed. */
export const digestOfEntry = oncePer(
  ({ intents, isSet, at }: SignedEntry): Hex =>
    refusing(at, () => (isSet ? burnIntentSetDigest({ intents }) : burnIntentDigest(intents[0]!))),
)

/** Turns the refusal of a field into that of the request. */
function refusing<Result>(at: string, encode: () => Result): Result {
  try {
    return encode()
  } catch (error) {
    if (!(error instanceof MalformedTransfer)) throw error
    throw invalid({
      at: `${at}.${error.location.replace(/^(intents\[\d+\]|intent|spec)\.?/, '')}`,
      reason: error.reason,
    })
  }
}

/** Whether a word is the address of an account, other than zero. */
export const isAccountWord = (word: Hex): boolean => isAddressWord(word) && word !== zeroWord

export const isZeroWord = (word: Hex): boolean => word === zeroWord
