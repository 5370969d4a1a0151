import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { AddressedCall } from '#chains/facets/accounts'
import { accountsOn, hasFacet } from '#chains/facets/optional'
import type { EngineCtx } from '#engines/ctx'
import {
  callUsdcPaymaster,
  type OwnUsdcPaymaster,
  openOwnUsdcPaymaster,
  payerOf,
  usdcPaymasterState,
} from '#engines/treasury/bundling/index'
import { formatAmount, parseAmount } from '#lib/amounts'
import { numberFlag, type Option, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { askToConfirm } from './confirm.ts'
import { follow, requireFunds, targetOf } from './paid-calls.ts'
import { counted, printRows } from './table.ts'

const text = (value: string, about: string, fallback?: string): Option => ({
  type: 'string',
  value,
  about: `usdc-paymaster: ${about}`,
  ...(fallback !== undefined && { default: fallback }),
})

export const usdcPaymasterOptions: Record<string, Option> = {
  price: text('USD', 'what a whole native coin costs, in USDC.'),
  spread: text('POINTS', 'what is added to --price, in hundredths of a percent, at most 2000.', '0'),
  hours: text('HOURS', 'how long --price counts, at most 168.', '24'),
  deposit: text('AMOUNT', 'native coins that the treasury adds to the deposit.'),
  withdraw: text('AMOUNT', 'native coins that go from the deposit back to the treasury.'),
  'withdraw-usdc': text('AMOUNT', 'USDC of accounts that goes to the treasury.'),
}

const usdcDecimals = 6
const hourMs = 3_600_000

/** Amounts in base units. */
type Wishes = {
  price: { usdcAtomic: bigint; feeSpread: number; hours: number } | undefined
  deposit: bigint | undefined
  withdraw: bigint | undefined
  withdrawUsdc: bigint | undefined
}

/** Shows the paymaster of an entity that takes USDC, and creates it, sets its price and moves its money as the options say. */
export async function manageUsdcPaymaster(ctx: EngineCtx, args: ParsedArgs): Promise<number> {
  const waitMs = (numberFlag(args, 'wait', 86_400) ?? 600) * 1_000
  const { entityId, chains } = await targetOf(ctx, args)
  const [chain, another] = chains.filter((each) => hasFacet(each, 'accounts'))
  if (!chain || another) throw new UsageError('name one chain that has smart accounts with --chain')
  const wishes = readWishes(args, chain)
  const count = Object.values(wishes).filter((wish) => wish !== undefined).length
  if (count === 0 || args.flags['dry-run'] === true) {
    const owner = await payerOf(ctx, entityId, chain)
    const { usdcPaymasters } = accountsOn(chain)
    await printState(args, chain, owner ? usdcPaymasters.of(owner as Address)?.address : undefined)
    return 0
  }
  const question = `This changes the paymaster that takes USDC on ${chain.network.blockchain} by ${counted(count, 'call')} of the treasury of ${entityId}, which creates it first where it is missing.`
  if (args.flags['yes'] !== true && !(await askToConfirm(question))) {
    process.stderr.write('Nothing was changed.\n')
    return 1
  }
  const own = await openOwnUsdcPaymaster(ctx, entityId, chain)
  if (!own)
    throw new Error(
      `${chain.network.blockchain} has no USDC beside its native coin, or charges gas that nothing uses: no paymaster can take USDC there`,
    )
  const failures = await makeCalls(ctx, chain, own, wishes, waitMs)
  await printState(args, chain, own.creation.address)
  for (const line of failures) process.stderr.write(`${line}\n`)
  return failures.length === 0 ? 0 : 1
}

function readWishes(args: ParsedArgs, { network: { nativeToken } }: Chain): Wishes {
  const amount = (name: string, decimals: number) => {
    const given = textFlag(args, name)
    if (given === undefined) return undefined
    const read = parseAmount(given, decimals)
    if (typeof read === 'bigint' && read > 0n) return read
    throw new UsageError(`--${name} must be an amount above 0 with at most ${decimals} decimals`)
  }
  const usdcAtomic = amount('price', usdcDecimals)
  const feeSpread = numberFlag(args, 'spread', 2_000) ?? 0
  const hours = numberFlag(args, 'hours', 168) ?? 24
  if (hours < 1) throw new UsageError('--hours must be at least 1')
  return {
    price: usdcAtomic === undefined ? undefined : { usdcAtomic, feeSpread, hours },
    deposit: amount('deposit', nativeToken.decimals),
    withdraw: amount('withdraw', nativeToken.decimals),
    withdrawUsdc: amount('withdraw-usdc', usdcDecimals),
  }
}

/** Makes the calls one after another, each when the one before it is in a block. Returns why it had to stop. */
async function makeCalls(
  ctx: EngineCtx,
  chain: Chain,
  own: OwnUsdcPaymaster,
  wishes: Wishes,
  waitMs: number,
): Promise<string[]> {
  const { blockchain } = chain.network
  for (const { name, call } of await callsFor(chain, own, wishes)) {
    const plan = { chain, contracts: [], missing: [{ address: call.to, call }] }
    await requireFunds(ctx, [{ plan, payer: own.treasury }])
    process.stderr.write(`${blockchain}: ${name}\n`)
    const id = await callUsdcPaymaster(ctx, chain, own, call, 'operator')
    if (id === undefined)
      return [`${blockchain}: other calls of the treasury are under way: repeat the command for the rest`]
    const failures = await follow(ctx, chain, own.treasury, [id], waitMs)
    if (failures.length > 0) return failures
  }
  return []
}

async function callsFor(
  chain: Chain,
  { treasury, creation }: OwnUsdcPaymaster,
  { price, deposit, withdraw, withdrawUsdc }: Wishes,
): Promise<{ name: string; call: AddressedCall }[]> {
  const { usdcPaymasters, depositCall, withdrawalCall } = accountsOn(chain)
  const { address } = creation
  const to = treasury.address as Address
  const { isDeployed, depositAtomic, incomeAtomic } = await usdcPaymasterState(chain, address)
  const { symbol, decimals } = chain.network.nativeToken
  const coins = await chain.balances.of(to)
  requireAtMost('deposit', deposit, coins, decimals, `${symbol} that the treasury ${to} has`)
  requireAtMost('withdraw', withdraw, depositAtomic + (deposit ?? 0n), decimals, `${symbol} of the deposit`)
  requireAtMost('withdraw-usdc', withdrawUsdc, incomeAtomic, usdcDecimals, 'USDC that accounts paid')
  const { timeMs } = await chain.blocks.head()
  return [
    ...(isDeployed ? [] : [{ name: 'creating the paymaster', call: creation.call }]),
    ...(price
      ? [
          {
            name: 'setting the price',
            call: usdcPaymasters.priceCall(address, {
              nativeTokenPrice: price.usdcAtomic,
              feeSpread: price.feeSpread,
              validUntilMs: timeMs + price.hours * hourMs,
            }),
          },
        ]
      : []),
    ...(deposit ? [{ name: 'adding to the deposit', call: depositCall(address, deposit) }] : []),
    ...(withdraw ? [{ name: 'taking from the deposit', call: withdrawalCall(address, to, withdraw) }] : []),
    ...(withdrawUsdc
      ? [{ name: 'taking USDC', call: usdcPaymasters.withdrawalCall(address, to, withdrawUsdc) }]
      : []),
  ]
}

function requireAtMost(
  name: string,
  amount: bigint | undefined,
  max: bigint,
  decimals: number,
  of: string,
): void {
  if (amount !== undefined && amount > max)
    throw new Error(`--${name} must be at most the ${formatAmount(max, decimals)} ${of}`)
}

async function printState(args: ParsedArgs, chain: Chain, address: Address | undefined): Promise<void> {
  const { blockchain, nativeToken } = chain.network
  const state = address === undefined ? undefined : await usdcPaymasterState(chain, address)
  const { price, depositAtomic = 0n, incomeAtomic = 0n } = state ?? {}
  const row = {
    chain: blockchain,
    address: address ?? null,
    state: state?.isDeployed ? 'created' : 'missing',
    price: price ? formatAmount(price.nativeTokenPrice, usdcDecimals) : null,
    spread: price?.feeSpread ?? null,
    until: price ? new Date(price.validUntilMs).toISOString() : null,
    deposit: formatAmount(depositAtomic, nativeToken.decimals),
    usdc: formatAmount(incomeAtomic, usdcDecimals),
  }
  printRows(args, [row], ['chain', 'address', 'state', 'price', 'spread', 'until', 'deposit', 'usdc'])
}
