import { type LostBurn, lostBurns } from '#engines/attestation/index'
import { type Reconciliation, reconcile } from '#engines/indexer/reconciliation/index'
import { type BookError, checkBooks, currencyDecimals } from '#engines/ledger/index'
import { checkMerchants, type MoneyProof, proveMoney } from '#engines/treasury/reconciliation/index'
import { proveUnifiedBalances, type UnifiedProof } from '#engines/unified-balance/index'
import { formatAmount } from '#lib/amounts'
import { type Command, type ParsedArgs, textFlag } from './command.ts'
import { connectionOptions } from './connection.ts'
import { shownLoss } from './lost-burns.ts'
import { counted, tableLines } from './table.ts'
import { unifiedGapCount, unifiedJson, unifiedLines } from './unified-proof.ts'
import { selectChains, withContext } from './with-context.ts'

export const reconcileCommand: Command = {
  usage: `bezant reconcile [--chain NAME] [--json]

Compares the balance of every managed address in every token with the books, gas included, at the
newest block that has its confirmations; the native coins of a paymaster are its deposit. Also checks that the books are consistent, and that the
balance of each merchant is the sum of its deposits and disbursements. A chain without a confirmed
block yet is reported as not compared.

Then compares, for each currency, the coins at all deposit addresses and treasuries with the amounts
owed to merchants. These columns explain part of the difference; the rest is a gap:

  arriving    deposits that are not credited yet, because their block has too few confirmations
  unclaimed   coins that a treasury received and that belong to no merchant
  adjusted    booked by bezant adjust: coins that belong to no merchant, or, if negative, missing coins
  leaving     missing coins that a payout, transfer or refund which has not ended moved in a block
  moving      missing coins that a rebalancing burned on one chain and that are not minted on the other

Then compares the unified balances of depositors with the wallet contracts: deposits less withdrawals,
burns and fees is what a contract holds; more, which strangers sent, is no gap.

  reserved    what attested transfers take of the balances on this chain
  unburned    the part of it that is minted on another chain and burned here next

Then names the burns that were attested and whose block is gone: each is a gap until it is in a block
again, or until bezant lost-burns books it.

Exits with 1 if there is a gap, or if a chain or token could not be compared.`,
  options: {
    chain: { type: 'string', value: 'NAME', about: 'Compare only this chain, such as BASE-SEPOLIA.' },
    json: { type: 'boolean', about: 'Print one line of JSON instead of a table.' },
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  return withContext(args, async (ctx) => {
    const bookErrors = [...(await checkBooks(ctx.db)), ...(await checkMerchants(ctx.db))]
    const proofs: Reconciliation[] = []
    const failures: ComparisonFailure[] = []
    for (const chain of selectChains(ctx, textFlag(args, 'chain'))) {
      const { blockchain } = chain.network
      // A chain that cannot be compared is reported, and the others are compared all the same.
      await reconcile(ctx, chain, progress(blockchain)).then(
        (proof) => proofs.push(proof),
        (error: Error) => failures.push({ blockchain, reason: error.message }),
      )
    }
    const unified = await proveUnifiedBalances(ctx).catch((error: Error) => {
      failures.push({ blockchain: 'unified balances', reason: error.message })
      return { chains: [], errors: [] }
    })
    const lost = await lostBurns(ctx.db, lostMax)
    const found = { proofs, failures, bookErrors, money: await proveMoney(ctx.db), unified, lost }
    process.stdout.write(args.flags['json'] ? `${JSON.stringify(asJson(found))}\n` : asText(found))
    return gapCount(found) + notCompared(found).length === 0 ? 0 : 1
  })
}

/** Shows the progress at a terminal: comparing many addresses takes a while. */
const progress = (blockchain: string) => (addresses: number) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${blockchain}: ${counted(addresses, 'address')} compared`)
}

/** The reason why a chain, or one token of it, is not compared. */
type ComparisonFailure = { blockchain: string; reason: string; symbol?: string; address?: string | null }

type ReconcileResult = {
  proofs: readonly Reconciliation[]
  failures: readonly ComparisonFailure[]
  bookErrors: readonly BookError[]
  money: MoneyProof
  unified: UnifiedProof
  lost: readonly LostBurn[]
}

const lostMax = 1_000

const notCompared = ({ proofs, failures }: ReconcileResult): ComparisonFailure[] => [
  ...failures,
  ...proofs.flatMap(({ blockchain, block, missing }) => [
    ...(block ? [] : [{ blockchain, reason: noBlock }]),
    ...missing.map(({ symbol, address }) => ({
      blockchain,
      symbol,
      address,
      reason: `the node has no contract at ${address}`,
    })),
  ]),
]

const noBlock = 'no block that a worker indexed has its confirmations yet: run bezant worker, and try again'

const gapCount = ({ proofs, bookErrors, money, unified, lost }: ReconcileResult) =>
  proofs.reduce((count, { gaps }) => count + gaps.length, 0) +
  bookErrors.length +
  money.gaps.length +
  unifiedGapCount(unified) +
  lost.length

function asText(found: ReconcileResult): string {
  const compared = found.proofs.filter(({ block }) => block !== undefined)
  const broken = found.bookErrors.map(({ what, id }) => `BOOKS: ${what} (${id})`)
  const missing = notCompared(found).map(
    ({ blockchain, symbol, reason }) =>
      `${symbol ? `${symbol} of ${blockchain}` : blockchain} is not compared: ${reason}`,
  )
  const count = gapCount(found)
  const verdict =
    missing.length > 0
      ? 'zero gaps in what was compared'
      : 'zero gaps: the books equal the chains, and the coins equal the amounts owed to merchants'
  return [
    ...compared.flatMap(chainLines),
    ...emptyLine(compared),
    ...moneyLines(found.money),
    ...unifiedLines(found.unified),
    ...lostLines(found.lost),
    ...broken,
    ...missing,
    count === 0 ? verdict : counted(count, 'gap'),
    '',
  ].join('\n')
}

/** Rows of a chain. Tokens with zero on chain and in the books share one line, to keep the others in sight. */
function chainLines(proof: Reconciliation): string[] {
  const { blockchain, block, addresses, tokens, gaps } = proof
  const hasSome = ({ token, onChainAtomic, bookedAtomic }: Reconciliation['tokens'][number]) =>
    onChainAtomic !== 0n || bookedAtomic !== 0n || gaps.some(({ tokenId }) => tokenId === token.id)
  const held = tokens.filter(hasSome)
  const others = tokens.filter((each) => !hasSome(each)).map(({ token }) => token.symbol)
  if (held.length === 0) return []
  return [
    `${blockchain} at block ${block!.number} ${block!.hash}, ${counted(addresses, 'address')}`,
    ...indented(tableLines(held.map(tokenRow), ['token', 'onChain', 'books', 'gap'])),
    ...(others.length > 0 ? indented([`nothing of ${others.join(', ')} on chain or in the books`]) : []),
    ...gapLines(proof),
  ]
}

/** Names the chains of which there is nothing in one line, to keep the others in sight. */
function emptyLine(compared: readonly Reconciliation[]): string[] {
  const empty = compared.filter((proof) => chainLines(proof).length === 0)
  if (empty.length === 0) return []
  return [`${empty.map(({ blockchain }) => blockchain).join(', ')}: nothing on chain or in the books`]
}

const lostLines = (lost: readonly LostBurn[]) =>
  lost.map(shownLoss).map(({ nonce, blockchain, amount, token, burn, minted }) => {
    const mint = minted === null ? 'not minted as far as this server knows' : `minted by ${minted}`
    return `LOST BURN ${amount} ${token} of ${blockchain}: ${burn} was attested and is in no block, ${mint} (nonce ${nonce})`
  })

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`)

function tokenRow({ token, onChainAtomic, bookedAtomic }: Reconciliation['tokens'][number]) {
  const shown = (atomic: bigint) => formatAmount(atomic, token.decimals)
  return {
    token: token.symbol,
    onChain: shown(onChainAtomic),
    books: shown(bookedAtomic),
    gap: shown(onChainAtomic - bookedAtomic),
  }
}

const gapLines = ({ tokens, gaps }: Reconciliation) =>
  gaps.map(({ entityId, address, tokenId, onChainAtomic, bookedAtomic }) => {
    const token = tokens.find((each) => each.token.id === tokenId)!.token
    return `  GAP ${address} ${token.symbol}: on chain ${formatAmount(onChainAtomic, token.decimals)}, books ${formatAmount(bookedAtomic, token.decimals)} (entity ${entityId})`
  })

const moneyParts = ['coins', 'owed', 'arriving', 'unclaimed', 'adjusted', 'leaving', 'moving', 'gap'] as const

const shownSums = (sums: MoneyProof['totals'][number]) =>
  Object.fromEntries(moneyParts.map((part) => [part, formatAmount(sums[part], currencyDecimals)])) as Record<
    (typeof moneyParts)[number],
    string
  >

const moneyTable = (totals: MoneyProof['totals']) =>
  tableLines(
    totals.map((sums) => ({ currency: sums.currency, ...shownSums(sums) })),
    ['currency', ...moneyParts],
  )

const moneyLines = ({ totals, gaps }: MoneyProof) => {
  const lineOf = (sums: MoneyProof['totals'][number]) =>
    Object.entries(shownSums(sums))
      .map((shown) => shown.join(' '))
      .join('  ')
  return [
    ...(totals.length > 0 ? ['merchants, on all chains', ...indented(moneyTable(totals))] : []),
    ...gaps.map((sums) => `  GAP ${sums.currency}: ${lineOf(sums)} (entity ${sums.entityId})`),
  ]
}

const moneyJson = <Sums extends MoneyProof['totals'][number]>(sums: Sums) => ({
  ...sums,
  ...shownSums(sums),
})

const asJson = (found: ReconcileResult) => ({
  gaps: gapCount(found),
  bookErrors: found.bookErrors,
  notCompared: [...new Set(notCompared(found).map(({ blockchain }) => blockchain))],
  reasons: notCompared(found),
  merchants: { totals: found.money.totals.map(moneyJson), gaps: found.money.gaps.map(moneyJson) },
  unifiedBalances: unifiedJson(found.unified),
  lostBurns: found.lost.map(shownLoss),
  chains: found.proofs.map(({ tokens, missing: _, gaps, ...proof }) => ({
    ...proof,
    tokens: tokens.map(({ token, onChainAtomic, bookedAtomic }) => ({
      symbol: token.symbol,
      tokenId: token.id,
      onChain: formatAmount(onChainAtomic, token.decimals),
      booked: formatAmount(bookedAtomic, token.decimals),
    })),
    gaps: gaps.map(({ bookedAtomic, onChainAtomic, ...gap }) => ({
      ...gap,
      bookedAtomic: String(bookedAtomic),
      onChainAtomic: String(onChainAtomic),
    })),
  })),
})
