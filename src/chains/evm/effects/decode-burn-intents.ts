/** Decodes the typed data with which a depositor spends a unified balance. */
import type { Hex } from '#lib/hex'
import { canonicalAddress } from '../../addresses/canonical.ts'
import { burnIntentDomain } from '../../crosschain/burn-intent-typed-data.ts'
import { addressOfWord } from '../../crosschain/native-address.ts'
import { type TransferSpec, transferSpecFields } from '../../crosschain/transfer-spec.ts'
import { networks } from '../../networks/index.ts'
import { unifiedBalanceContractsOf } from '../unified-balance/deployed-contracts.ts'
import { addBurn, addDeed, type FoundEffects } from './decode-call.ts'
import { metBySpec } from './known-crosschain-calls.ts'
import type { DecodableTypedData } from './typed-data-shapes.ts'

const forms: Readonly<Record<string, readonly string[]>> = {
  TransferSpec: transferSpecFields.map(([name, type]) => `${type} ${name}`),
  BurnIntent: ['uint256 maxBlockHeight', 'uint256 maxFee', 'TransferSpec spec'],
  BurnIntentSet: ['BurnIntent[] intents'],
}
const intentsMax = 64

type UnreadIntent = { maxFee: unknown; spec: Record<keyof TransferSpec, unknown> }

/**
 * Adds the transfers of signed burn intents. False where the data is not exactly of their form and domain, which names neither a
 * chain nor a contract: the intents do.
 */
export function addBurnIntents(found: FoundEffects, data: DecodableTypedData): boolean {
  const { primaryType, message } = data
  if (primaryType !== 'BurnIntent' && primaryType !== 'BurnIntentSet') return false
  if (!isOfForm(data)) return false
  const intents = primaryType === 'BurnIntent' ? [message] : message['intents']
  if (!Array.isArray(intents) || intents.length > intentsMax) return false
  const read = intents.map((intent) => readIntent(intent as UnreadIntent))
  if (read.some((each) => each === undefined)) return false
  found.dangers.add('transferAuthorization')
  for (const { blockchain, spec, maxFee } of read as ReadIntent[]) {
    addBurn(found, blockchain, {
      token: addressOfWord(spec.sourceToken),
      account: spec.destinationRecipient,
      domain: spec.destinationDomain,
      amountAtomic: spec.value + maxFee,
    })
    for (const deed of metBySpec(spec))
      addDeed(found, blockchain, addressOfWord(spec.sourceContract), deed, 0)
  }
  return true
}

function isOfForm({ domain, types, primaryType }: DecodableTypedData): boolean {
  const names = Object.entries(domain).map(([name, value]) => `${name} ${String(value)}`)
  const expected = Object.entries(burnIntentDomain).map(([name, value]) => `${name} ${value}`)
  const declared = types['EIP712Domain']?.map(({ name }) => name) ?? ['name', 'version']
  const used = Object.keys(forms).filter((name) => name !== 'BurnIntentSet' || name === primaryType)
  return (
    names.sort().join() === expected.sort().join() &&
    declared.join() === 'name,version' &&
    used.every(
      (name) => types[name]?.map((field) => `${field.type} ${field.name}`).join() === forms[name]!.join(),
    )
  )
}

type ReadIntent = { blockchain: string; spec: TransferSpec; maxFee: bigint }

/** The chain of the source is that of its domain in the environment of its wallet contract; `undefined` for any other contract. */
function readIntent({ maxFee, spec }: UnreadIntent): ReadIntent | undefined {
  const read = Object.fromEntries(
    transferSpecFields.map(([name, type]) => {
      const value = spec[name]
      if (type === 'uint32') return [name, Number(value)]
      return [name, type === 'uint256' ? BigInt(value as string) : (String(value).toLowerCase() as Hex)]
    }),
  ) as TransferSpec
  const contract = addressOfWord(read.sourceContract)
  const source = networks.find(
    (network) =>
      network.domain === read.sourceDomain &&
      canonicalAddress(unifiedBalanceContractsOf(network).wallet) === contract,
  )
  return source && { blockchain: source.blockchain, spec: read, maxFee: BigInt(maxFee as string) }
}
