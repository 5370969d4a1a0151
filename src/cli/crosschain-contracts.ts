import { parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { wordOfAddress } from '#chains/crosschain/native-address'
import type {
  CrosschainSetup,
  CrosschainTerms,
  LeftCall,
  RemoteContracts,
} from '#chains/crosschain/planned-contracts'
import { contractsOn, crosschainPlannerOn, hasFacet } from '#chains/facets/optional'
import { stablecoinNamed } from '#chains/network'
import { attestationKeyInUse, attestationKeysInUse } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import { currencyDecimals } from '#engines/ledger/index'
import { deployContracts, openPayer } from '#engines/treasury/bundling/index'
import type { TreasuryRow } from '#engines/treasury/index'
import { parseAmount } from '#lib/amounts'
import type { Hex } from '#lib/hex'
import { numberFlag, type Option, type ParsedArgs, readFlag, UsageError } from './command.ts'
import { askToConfirm } from './confirm.ts'
import { follow, requireFunds, targetOf } from './paid-calls.ts'
import { counted, tableLines } from './table.ts'

const text = (value: string, about: string, fallback?: string): Option => ({
  type: 'string',
  value,
  about: `deploy-crosschain: ${about}`,
  ...(fallback !== undefined && { default: fallback }),
})

export const crosschainOptions: Record<string, Option> = {
  owner: text(
    'ADDRESS',
    'the account that has every role in the end; an owner accepts its office by a call.',
  ),
  'fee-recipient': text('ADDRESS', 'the account that gets the fees.', 'the owner'),
  attesters: text(
    'ADDRESSES',
    'the attesters, with commas between them.',
    'the keys in use of bezant attestation-keys list --purpose message',
  ),
  threshold: text('N', 'how many attesters have to sign a message.', '1'),
  'burn-limit': text('AMOUNT', 'the most that one message burns.', '10000000'),
  'withdrawal-days': text('DAYS', 'the delay of withdrawals of unified balances.', '7'),
  remotes: text(
    'LIST',
    'further chains to link, as DOMAIN:TOKEN-MESSENGER:TOKEN with commas between them. Addresses of 32 bytes name other families.',
  ),
}

/** One chain, the treasury that pays there, and what its contracts still need. */
type ChainSetup = { chain: Chain; payer: TreasuryRow; setup: CrosschainSetup }

/** Creates the contracts of cross-chain messages and unified balances, call after call, on each chain. */
export async function deployCrosschain(ctx: EngineCtx, args: ParsedArgs): Promise<number> {
  const waitMs = (numberFlag(args, 'wait', 86_400) ?? 600) * 1_000
  const { entityId, chains } = await targetOf(ctx, args)
  const termsOf = await readTerms(ctx, args, chains)
  const plan = async (chain: Chain): Promise<ChainSetup[]> => {
    if (!hasFacet(chain, 'crosschainPlanner')) return []
    const payer = await openPayer(ctx, entityId, chain)
    const setup = await chain.crosschainPlanner.plan(termsOf(chain, payer.address))
    return setup ? [{ chain, payer, setup }] : []
  }
  const planAll = async () => (await Promise.all(chains.map(plan))).flat()
  const plans = await planAll()
  if (plans.length === 0) throw new UsageError('no chosen chain has cross-chain messages')
  const missing = plans.flatMap(({ setup }) => setup.calls.filter(({ isDone }) => !isDone))
  if (missing.length === 0 || args.flags['dry-run'] === true) {
    printSetups(args, plans)
    return 0
  }
  await requireDeployer(plans)
  if (args.flags['json'] !== true) printSetups(args, plans)
  const question = `This makes ${counted(missing.length, 'call')} on ${plans.map(({ chain }) => chain.network.blockchain).join(', ')}, paid by the treasury of ${entityId}.`
  if (args.flags['yes'] !== true && !(await askToConfirm(question))) {
    process.stderr.write('Nothing was created.\n')
    return 1
  }
  const failures = await Promise.all(plans.map((each) => createAll(ctx, each, plan, waitMs)))
  const now = await planAll()
  printSetups(args, now)
  for (const line of failures.flat()) process.stderr.write(`${line}\n`)
  return now.every(({ setup }) => setup.calls.every(({ isDone }) => isDone)) ? 0 : 1
}

/**
 * Makes the missing calls of one chain, each when the one before it is in a block. Returns why it had to stop. A call that an
 * earlier command made may still be under way: then this waits for that one first, and `tried` names the call that has to follow.
 */
async function createAll(
  ctx: EngineCtx,
  { chain, payer, setup }: ChainSetup,
  plan: (chain: Chain) => Promise<ChainSetup[]>,
  waitMs: number,
  tried?: string,
): Promise<string[]> {
  const next = setup.calls.find(({ isDone }) => !isDone)
  if (!next) return []
  const { call, name } = next
  const deployment = { chain, contracts: [], missing: [{ address: call.to, call }] }
  await requireFunds(ctx, [{ plan: deployment, payer }])
  process.stderr.write(`${chain.network.blockchain}: creating the ${name}\n`)
  const ids = await deployContracts(ctx, deployment, payer, 'operator')
  const failures = await follow(ctx, chain, payer, ids, waitMs)
  if (failures.length > 0) return failures
  const [now] = await plan(chain)
  const isThere = now?.setup.calls.some((each) => each.name === name && each.isDone) === true
  return !now || (!isThere && tried === name)
    ? [`${chain.network.blockchain}: the ${name} are not there: repeat the command`]
    : createAll(ctx, now, plan, waitMs, name)
}

/** The creator of contracts is itself created by the deterministic deployer. */
async function requireDeployer(plans: readonly ChainSetup[]): Promise<void> {
  for (const { chain, setup } of plans) {
    const [creator] = setup.calls
    if (!creator || creator.isDone || (await contractsOn(chain).hasCode(creator.call.to))) continue
    throw new Error(
      `${chain.network.blockchain} has no deployer at ${creator.call.to}: send the signed transaction that its project publishes, which anybody may, and repeat the command`,
    )
  }
}

/** Reads the options; the function makes the terms of one chain. */
async function readTerms(ctx: EngineCtx, args: ParsedArgs, chains: readonly Chain[]) {
  const { blockchain } = chains[0]!.network
  const address = (name: string) => (given: string) => addressIn(blockchain, given, name)
  const owner = readFlag(args, 'owner', address('owner'))
  if (owner === undefined) throw new UsageError('--owner is missing\nSee: bezant contracts --help')
  const attesters =
    readFlag(args, 'attesters', (given) => given.split(',').map(address('attesters'))) ??
    (await keysInUse(ctx))
  if (attesters.length === 0)
    throw new Error('no key attests messages: bezant attestation-keys create --purpose message makes one')
  const signatureThreshold = BigInt(numberFlag(args, 'threshold', attesters.length) ?? 1)
  if (signatureThreshold === 0n) throw new UsageError('--threshold must be 1 or more')
  const shared = {
    owner,
    attesters,
    signatureThreshold,
    feeRecipient: readFlag(args, 'fee-recipient', address('fee-recipient')) ?? owner,
    burnLimitAtomic: readFlag(args, 'burn-limit', amountOf) ?? 10_000_000n * 10n ** BigInt(currencyDecimals),
  }
  const given = readFlag(args, 'remotes', remotesOf) ?? []
  const signer = (await attestationKeyInUse(ctx.db, 'balance'))?.address
  const quoteSigner = (await attestationKeyInUse(ctx.db, 'quote'))?.address
  const days = numberFlag(args, 'withdrawal-days', 365) ?? 7
  return ({ network }: Chain, payer: string): CrosschainTerms => {
    const blocks = BigInt(Math.ceil((days * 86_400_000) / network.blockTimeMs))
    return {
      ...shared,
      payer,
      remotes: [...linkedTo(ctx, network.blockchain, payer, given), ...given],
      balance:
        network.unifiedBalance && signer !== undefined
          ? { signer, withdrawalDelayBlocks: blocks }
          : undefined,
      quoteSigner,
    }
  }
}

const keysInUse = async ({ db }: EngineCtx): Promise<string[]> =>
  (await attestationKeysInUse(db, 'message')).map(({ address }) => address)

/** The other chains of the environment that are configured: the same payer has its contracts at the same addresses there. */
function linkedTo(
  ctx: EngineCtx,
  blockchain: string,
  payer: string,
  given: readonly RemoteContracts[],
): RemoteContracts[] {
  const here = ctx.chains.find(blockchain)!
  return ctx.chains.list().flatMap((chain) => {
    const { domain, environment } = chain.network
    const token = stablecoinNamed(chain.network, 'USDC')
    const isOther = environment === here.network.environment && domain !== here.network.domain
    if (!hasFacet(chain, 'crosschainPlanner')) return []
    if (domain === undefined || !token || !isOther || given.some((each) => each.domain === domain)) return []
    const tokenMessenger = wordOfAddress(crosschainPlannerOn(here).addressesOf(payer).tokenMessenger)
    return [{ domain, tokenMessenger, token: wordOfAddress(token.address) }]
  })
}

function addressIn(blockchain: Chain['network']['blockchain'], given: string, name: string): Address {
  const address = parseAddress(blockchain, given.trim())
  if (address !== undefined) return address
  throw new UsageError(`--${name} must be an address of ${blockchain}, not "${given}"`)
}

function amountOf(given: string, flag: string): bigint {
  const amount = parseAmount(given, currencyDecimals)
  if (typeof amount === 'bigint' && amount > 0n) return amount
  throw new Error(`${flag} must be an amount such as 10000000, not "${given}"`)
}

const remotesOf = (given: string, flag: string): RemoteContracts[] =>
  given.split(',').map((entry) => {
    const [domain = '', tokenMessenger = '', token = '', ...rest] = entry.trim().split(':')
    if (!/^\d{1,9}$/.test(domain) || !isPlace(tokenMessenger) || !isPlace(token) || rest.length > 0)
      throw new Error(`${flag} must be a list of DOMAIN:TOKEN-MESSENGER:TOKEN, not "${entry}"`)
    return { domain: Number(domain), tokenMessenger: wordIn(tokenMessenger), token: wordIn(token) }
  })

const isPlace = (given: string) => /^0x([\da-f]{40}|[\da-f]{64})$/i.test(given)
const wordIn = (given: string): Hex => (given.length === 66 ? (given as Hex) : wordOfAddress(given))

function printSetups(args: ParsedArgs, plans: readonly ChainSetup[]): void {
  const lines = plans.flatMap((each) =>
    args.flags['json'] === true ? [JSON.stringify(jsonOf(each))] : linesOf(each),
  )
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

const settingOf = ({ chain, setup }: ChainSetup) => ({
  blockchain: chain.network.blockchain,
  crosschain: setup.addresses,
})

const jsonOf = (each: ChainSetup) => ({
  chain: each.chain.network.blockchain,
  payer: each.payer.address,
  calls: each.setup.calls.map(({ name, isDone, call }) => ({ name, state: stateOf(isDone), ...sent(call) })),
  left: each.setup.left,
  setting: settingOf(each),
})

const stateOf = (isDone: boolean) => (isDone ? 'created' : 'missing')
const sent = ({ to, data }: { to: string; data: string }) => ({ to, data })

function linesOf(each: ChainSetup): string[] {
  const { chain, payer, setup } = each
  const { blockchain } = chain.network
  return [
    `${blockchain}, paid by ${payer.address}`,
    ...indented(
      tableLines(
        setup.calls.map(({ name, isDone, call }) => {
          return { what: name, state: stateOf(isDone), to: call.to, bytes: (call.data.length - 2) / 2 }
        }),
        ['what', 'state', 'to', 'bytes'],
      ),
    ),
    ...(setup.left.length === 0 ? [] : ['  left to others:', ...indented(setup.left.map(leftLine))]),
    `  BEZANT_NETWORKS: ${JSON.stringify(settingOf(each))}`,
  ]
}

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`)

const leftLine = ({ to, by, signature, values, why }: LeftCall) =>
  `${by} calls ${signature} of ${to}${values.length > 0 ? ` with ${values.join(', ')}` : ''}: ${why}`
