import { setTimeout as sleep } from 'node:timers/promises'
import { openContext } from '#context'
import type { EngineCtx } from '#engines/ctx'
import { type Proof, reconcile } from '#engines/indexer/index'
import { type BookError, checkBooks } from '#engines/ledger/index'
import { checkMerchants } from '#engines/treasury/index'
import { formatAmount } from '#lib/amounts'
import { createLog } from '#runtime/log/log'
import { readRootKey } from '#runtime/root-key'
import { type Command, type Given, textOf, UsageError } from './command.ts'
import { configOf, connectionOf, joinOptions, nodesOf } from './join.ts'

export const reconcileCommand: Command = {
  name: 'reconcile',
  summary: 'Proves that the books equal the chains, to the last base unit; exits with 1 when it cannot.',
  usage: `bezant reconcile [--chain NAME] [--json]

Compares what every managed address owns of every token, at the newest final block of each chain, with what the
books say it owned at that block, gas included; and checks that the books agree with themselves, and that each merchant
owns what his deposits and orders add up to, with the coins for it. A chain of which no
block is final yet is not compared, and proves nothing.`,
  options: {
    chain: { type: 'string', value: 'NAME', about: 'Compare this chain alone, for example BASE.' },
    json: { type: 'boolean', about: 'Print one line of JSON instead of a table.' },
    ...joinOptions,
  },
  run,
}

async function run(given: Given): Promise<number> {
  const config = configOf(given, { logLevel: 'error' })
  const connection = await connectionOf(config)
  const nodes = await nodesOf(config)
  const rootKey = await readRootKey(config, false)
  const { ctx, close } = await openContext({
    config,
    log: createLog(config.logLevel),
    connection,
    rootKey,
    nodes,
  })
  try {
    const bookErrors = [...(await checkBooks(ctx.db)), ...(await lastingErrors(ctx))]
    const proofs: Proof[] = []
    for (const chain of chosenChains(ctx, textOf(given, 'chain')))
      proofs.push(await reconcile(ctx, chain, progress(chain.network.blockchain)))
    process.stdout.write(
      given.flags['json'] ? `${JSON.stringify(asJson(proofs, bookErrors))}\n` : asText(proofs, bookErrors),
    )
    return gapsIn(proofs) + bookErrors.length + notCompared(proofs).length === 0 ? 0 : 1
  } finally {
    await close()
  }
}

/** How often, and how far apart, an error is seen that is one: in between, everybody has followed the newest blocks. */
const looksMax = 5
const lookAgainMs = 500

async function lastingErrors(ctx: EngineCtx): Promise<BookError[]> {
  for (let look = 1; ; look++) {
    const errors = await checkMerchants(ctx.db)
    if (errors.length === 0 || look === looksMax) return errors
    await sleep(lookAgainMs)
  }
}

function chosenChains(ctx: EngineCtx, name: string | undefined) {
  const chains = ctx.chains.list()
  if (chains.length === 0)
    throw new UsageError(
      'no chain is configured: set BEZANT_NETWORKS, or --data-dir to that of a running sandbox',
    )
  const chosen = name === undefined ? chains : chains.filter(({ network }) => network.blockchain === name)
  if (chosen.length > 0) return chosen
  throw new UsageError(
    `--chain must be one of ${chains.map(({ network }) => network.blockchain).join(', ')}, not "${name}"`,
  )
}

/** Comparing many addresses takes a while; whoever waits at a terminal sees how far it is. */
const progress = (blockchain: string) => (addresses: number) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${blockchain}: ${addresses} addresses compared`)
}

const gapsIn = (proofs: readonly Proof[]) => proofs.reduce((count, { gaps }) => count + gaps.length, 0)

const notCompared = (proofs: readonly Proof[]) =>
  proofs.filter(({ block }) => block === undefined).map(({ blockchain }) => blockchain)

function asText(proofs: readonly Proof[], bookErrors: readonly BookError[]): string {
  const compared = proofs.filter(({ block }) => block !== undefined)
  const lines = compared.flatMap(({ blockchain, block, addresses, tokens, gaps }) => [
    `${blockchain} at final block ${block!.number} ${block!.hash}, ${addresses} addresses`,
    ...tokens.map(({ token, onChainAtomic, bookedAtomic }) => {
      const amounts = [onChainAtomic, bookedAtomic, onChainAtomic - bookedAtomic].map((atomic) =>
        formatAmount(atomic, token.decimals),
      )
      return `  ${token.symbol.padEnd(8)} on chain ${amounts[0]}  books ${amounts[1]}  gap ${amounts[2]}`
    }),
    ...gaps.map(({ entityId, address, tokenId, onChainAtomic, bookedAtomic }) => {
      const token = tokens.find((each) => each.token.id === tokenId)!.token
      return `  GAP ${address} ${token.symbol}: on chain ${formatAmount(onChainAtomic, token.decimals)}, books ${formatAmount(bookedAtomic, token.decimals)} (entity ${entityId})`
    }),
  ])
  const broken = bookErrors.map(({ what, id }) => `BOOKS: ${what} (${id})`)
  const missing = notCompared(proofs).map(
    (blockchain) =>
      `${blockchain} is not compared: no block of it that a worker followed is final yet. Run bezant worker and try again`,
  )
  const count = gapsIn(proofs) + bookErrors.length
  const verdict =
    missing.length > 0 ? 'zero gaps in what was compared' : 'zero gaps: the books equal the chains'
  return [...lines, ...broken, ...missing, count === 0 ? verdict : `${count} gaps`, ''].join('\n')
}

const asJson = (proofs: readonly Proof[], bookErrors: readonly BookError[]) => ({
  gaps: gapsIn(proofs) + bookErrors.length,
  bookErrors,
  notCompared: notCompared(proofs),
  chains: proofs.map(({ tokens, gaps, ...proof }) => ({
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
