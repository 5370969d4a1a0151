/** The rules of the service and of both contracts for intents. What needs no signature and no node is checked first. */
import { addressOfWord, wordOfAddress } from '#chains/crosschain/native-address'
import type { EngineCtx } from '#engines/ctx'
import { formatAmount } from '#lib/amounts'
import { ApiError, invalid } from '#lib/errors'
import type { Db } from '#runtime/db/db'
import { requireSignedByContracts } from './contract-signers.ts'
import { feeOf, forwardingFeeOf, mintGasOf } from './fees.ts'
import { expirationHeightAbove, followedHeights, mintableBlocks } from './heights.ts'
import {
  digestOfEntry,
  isAccountWord,
  isZeroWord,
  type PlacedIntent,
  placedIntents,
  type SignedEntry,
} from './intents.ts'
import {
  countsParentBlocks,
  tokenSymbol,
  type UnifiedChain,
  unifiedChains,
  whyNoBalance,
} from './networks.ts'
import { addChange, availableOf, type Changes } from './store/balances.ts'
import { isDelegate } from './store/movements.ts'

export const intentsMax = 16
const maxUint256 = 2n ** 256n - 1n

/** An intent with its chain and the fee that this service takes. */
export type PricedIntent = PlacedIntent & {
  source: UnifiedChain
  depositor: string
  baseAtomic: bigint
  transferAtomic: bigint
  forwardingAtomic: bigint
  /** All fees together. */
  feeAtomic: bigint
}

type PricedTransfer = {
  entries: readonly SignedEntry[]
  intents: readonly PricedIntent[]
  destination: UnifiedChain
  forwarded: boolean
  /** The gas of its mint, where this server makes it. */
  forwardGas: bigint | undefined
}

export type VerifiedTransfer = PricedTransfer & {
  /** The last block of the destination in which it can be minted. */
  expirationBlock: number
}

/** Checks all that needs neither signatures nor nodes, and prices the intents. Throws `invalidRequest` and `unifiedDomainUnknown`. */
export function priceTransfer(
  ctx: EngineCtx,
  entries: readonly SignedEntry[],
  forwarded: boolean,
): PricedTransfer {
  const placed = placedIntents(entries)
  if (placed.length === 0) throw invalid({ at: 'body', reason: 'must contain at least one signed intent' })
  if (placed.length > intentsMax)
    throw invalid({ at: 'body', reason: `must not contain more than ${intentsMax} intents` })
  requireDistinct(placed)
  if (forwarded && ctx.config.crosschainEntity === undefined)
    throw invalid({
      at: 'enableForwarder',
      reason: 'is not offered by this server: mint with the attestation yourself',
    })
  const [first] = placed
  const chains = unifiedChains(ctx)
  const destination = requireDomain(
    ctx,
    chains,
    first!.spec.destinationDomain,
    `${first!.at}.spec.destinationDomain`,
  )
  if (countsParentBlocks(destination))
    throw invalid({
      at: `${first!.at}.spec.destinationDomain`,
      reason:
        'is a chain whose contracts count the blocks of another chain: transfers to it are not attested',
      value: destination.domain,
      kind: 'unifiedDomainUnknown',
    })
  const forwardGas = forwarded ? mintGasOf(placed.map(({ spec }) => spec)) : undefined
  const intents = placed.map((intent, index) => {
    const { spec, at } = intent
    if (spec.destinationDomain !== destination.domain)
      throw invalid({
        at: `${at}.spec.destinationDomain`,
        reason: 'must be the same in all intents',
        value: spec.destinationDomain,
      })
    const source = requireDomain(ctx, chains, spec.sourceDomain, `${at}.spec.sourceDomain`)
    requireFields(intent, source, destination)
    if (forwarded && !isZeroWord(spec.destinationCaller))
      throw invalid({
        at: `${at}.spec.destinationCaller`,
        reason: 'must be zero with a forwarder',
        value: spec.destinationCaller,
      })
    const { baseAtomic, transferAtomic, totalAtomic } = feeOf(source, destination, spec)
    // The first intent pays for the delivery of all.
    const forwardingAtomic =
      forwardGas !== undefined && index === 0 ? forwardingFeeOf(destination, forwardGas) : 0n
    const feeAtomic = totalAtomic + forwardingAtomic
    return {
      ...intent,
      source,
      depositor: addressOfWord(spec.sourceDepositor),
      baseAtomic,
      transferAtomic,
      forwardingAtomic,
      feeAtomic,
    }
  })
  const sum = intents.reduce((total, { spec, feeAtomic }) => total + spec.value + feeAtomic, 0n)
  if (sum > maxUint256) throw invalid({ at: 'body', reason: 'has values that do not fit 256 bits together' })
  return { entries, intents, destination, forwarded, forwardGas }
}

function requireDistinct(intents: readonly PlacedIntent[]): void {
  const seen = new Set<string>()
  for (const { specHash, at } of intents) {
    if (seen.has(specHash))
      throw invalid({ at: `${at}.spec`, reason: 'is the same as that of another intent', value: specHash })
    seen.add(specHash)
  }
}

function requireDomain(
  { config }: EngineCtx,
  chains: readonly UnifiedChain[],
  domain: number,
  at: string,
): UnifiedChain {
  const found = chains.find((chain) => chain.domain === domain)
  if (found) return found
  const known = chains.map((chain) => chain.domain).join(', ')
  const reason = `${whyNoBalance(config.crosschainEnvironment, domain)}: this server has ${known}`
  throw invalid({ at, reason, value: domain, kind: 'unifiedDomainUnknown' })
}

function requireFields(intent: PlacedIntent, source: UnifiedChain, destination: UnifiedChain): void {
  const { spec, at } = intent
  for (const name of ['maxBlockHeight', 'maxFee'] as const)
    if (intent[name] > maxUint256)
      throw invalid({
        at: `${at}.${name}`,
        reason: 'is not a whole number of 256 bits',
        value: String(intent[name]),
      })
  const must = (name: keyof typeof spec, holds: boolean, rule: string) => {
    if (!holds) throw invalid({ at: `${at}.spec.${name}`, reason: rule, value: String(spec[name]) })
  }
  const isAddress = (word: string, address: string) => word.toLowerCase() === wordOfAddress(address)
  must('version', spec.version === 1, 'must be 1')
  must('value', spec.value > 0n, 'must be above zero')
  must(
    'sourceContract',
    isAddress(spec.sourceContract, source.wallet),
    'must be the wallet contract of the source',
  )
  must(
    'destinationContract',
    isAddress(spec.destinationContract, destination.minter),
    'must be the minter contract of the destination',
  )
  must('sourceToken', isAddress(spec.sourceToken, source.token), `must be ${tokenSymbol} of the source`)
  must(
    'destinationToken',
    isAddress(spec.destinationToken, destination.token),
    `must be ${tokenSymbol} of the destination`,
  )
  must('sourceDepositor', isAccountWord(spec.sourceDepositor), 'must be an address in 32 bytes')
  must('sourceSigner', isAccountWord(spec.sourceSigner), 'must be an address in 32 bytes')
  must('destinationRecipient', isAccountWord(spec.destinationRecipient), 'must be an address in 32 bytes')
  must(
    'destinationCaller',
    isZeroWord(spec.destinationCaller) || isAccountWord(spec.destinationCaller),
    'must be an address in 32 bytes, or zero',
  )
}

/** The amounts that a transfer takes, by holder. */
export function takenBy(intents: readonly PricedIntent[]): Changes {
  const taken: Changes = new Map()
  for (const { source, depositor, spec, feeAtomic } of intents)
    addChange(taken, { blockchain: source.blockchain, depositor }, spec.value + feeAtomic)
  return taken
}

/** Refuses a transfer that some balance does not suffice for now, before signatures cost anything. */
export async function requireCovered(db: Db, { intents }: PricedTransfer): Promise<void> {
  const taken = [...takenBy(intents).values()]
  const rows = await availableOf(db, taken)
  for (const { blockchain, depositor, atomic } of taken) {
    const row = rows.find((each) => each.blockchain === blockchain && each.depositor === depositor)
    const availableAtomic = row?.availableAtomic ?? 0n
    if (availableAtomic < atomic) throw insufficient(intents, depositor, availableAtomic, atomic)
  }
}

/** The text that clients parse. */
export function insufficient(
  intents: readonly PricedIntent[],
  depositor: string,
  availableAtomic: bigint,
  requiredAtomic: bigint,
): ApiError {
  const { decimals } = intents[0]!.source
  const shown = (atomic: bigint) => formatAmount(atomic, decimals)
  return new ApiError(
    'unifiedBalanceInsufficient',
    `Insufficient balance for depositor ${depositor}: available ${shown(availableAtomic)}, required ${shown(requiredAtomic)}`,
  )
}

/** Checks fees, signatures, signers and heights. Throws `unifiedSignerRefused`, `unifiedContractSigner` and `unavailable` beside `invalidRequest`. */
export async function verifyTransfer(db: Db, priced: PricedTransfer): Promise<VerifiedTransfer> {
  const { entries, intents, destination } = priced
  for (const { maxFee, feeAtomic, at } of intents)
    if (maxFee < feeAtomic)
      throw invalid({
        at: `${at}.maxFee`,
        reason: `must be at least ${feeAtomic}: see POST /v1/estimate`,
        value: String(maxFee),
      })
  for (const [index, entry] of entries.entries()) {
    const own = intents.filter(({ entry: of }) => of === index)
    if (!entry.contractSigner) await requireSignedByKey(entry, own)
    for (const intent of own) await requireAuthorized(db, intent)
  }
  const heads = await followedHeights(db, [destination, ...intents.map(({ source }) => source)])
  for (const { maxBlockHeight, source, at } of intents) {
    const least = await expirationHeightAbove(heads.get(source.blockchain)!, source)
    if (maxBlockHeight < least)
      throw invalid({
        at: `${at}.maxBlockHeight`,
        reason: `must be at least ${least}: see GET /v1/info`,
        value: String(maxBlockHeight),
      })
  }
  await requireSignedByContracts(db, entries, intents)
  await requireMintable(priced)
  return { ...priced, expirationBlock: heads.get(destination.blockchain)! + mintableBlocks(destination) }
}

/** The minter would revert for these accounts, and the amounts be locked until the attestation expires. */
async function requireMintable({ intents, destination }: PricedTransfer): Promise<void> {
  const receivers = intents.map(({ spec }) => addressOfWord(spec.destinationRecipient))
  const callers = intents.map(({ spec: { destinationCaller } }) =>
    isZeroWord(destinationCaller) ? undefined : addressOfWord(destinationCaller),
  )
  const accounts = [...new Set([...receivers, ...callers])].filter((account) => account !== undefined)
  const obstacle = await destination.crosschain.mintObstacle(accounts).catch(() => {
    throw new ApiError('unavailable')
  })
  if (obstacle === undefined) return
  if (obstacle === 'paused')
    throw new ApiError('unavailable', 'The minter contract of the destination is paused: try again later.')
  const { denied } = obstacle
  const field = receivers.some((receiver) => receiver === denied)
    ? 'destinationRecipient'
    : 'destinationCaller'
  const among: readonly (string | undefined)[] = field === 'destinationRecipient' ? receivers : callers
  throw invalid({
    at: `${intents[among.indexOf(denied)]!.at}.spec.${field}`,
    reason: 'is on the denylist of the minter contract',
    value: denied,
  })
}

async function requireSignedByKey(entry: SignedEntry, intents: readonly PricedIntent[]): Promise<void> {
  const signer = await intents[0]!.source.crosschain.signerOf(digestOfEntry(entry), entry.signature)
  for (const { spec, at } of intents)
    if (signer === undefined || signer !== addressOfWord(spec.sourceSigner))
      throw invalid({
        at: `${at}.spec.sourceSigner`,
        reason:
          'did not sign the intent: the signature recovers to another account. Where a contract signs, send contractSigner: true',
        value: spec.sourceSigner,
        kind: 'unifiedSignerRefused',
      })
}

async function requireAuthorized(db: Db, { spec, source, depositor, at }: PricedIntent): Promise<void> {
  const signer = addressOfWord(spec.sourceSigner)
  if (signer === depositor) return
  const { blockchain } = source
  if (await isDelegate(db, { blockchain, depositor, delegate: signer })) return
  throw invalid({
    at: `${at}.spec.sourceSigner`,
    reason:
      'is not authorized for the balance of the depositor: it is neither the depositor nor a delegate whose block is final',
    value: spec.sourceSigner,
    kind: 'unifiedSignerRefused',
  })
}
