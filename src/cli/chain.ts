import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import {
  acceptFork,
  canonicalHead,
  type Fork,
  findFork,
  findHalt,
  highestComplete,
  highestFinal,
} from '#engines/indexer/index'
import { tokensOf } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import { isHex } from '#lib/hex'
import { type Command, type Given, textOf, UsageError } from './command.ts'
import { confirm } from './confirm.ts'
import { connected } from './connected.ts'
import { joinOptions } from './join.ts'
import { jsonOption, printRows } from './table.ts'

export const chainCommand: Command = {
  name: 'chain',
  usage: `bezant chain list [--json]
       bezant chain accept BLOCKCHAIN --at HASH [--yes]

A chain that takes back a final block is halted: nothing is signed or sent on it, and new transactions are refused
(155901). Find out from block explorers and other providers which history is right. If it is the one that your
endpoints follow now, name one of its blocks above the place where the histories part: \`accept\` shows what blocks
brought that are not part of it, asks, takes that back like any reorg, and lets the chain go on. What was sent in
these blocks is sent again with the same bytes. If your endpoints are wrong, replace them, and name the newest block
that was followed: then nothing is taken back.`,
  positionals: 'ACTION',
  options: {
    at: { type: 'string', value: 'HASH', about: 'A block of the history that is right.' },
    yes: { type: 'boolean', about: 'Do it without asking.' },
    ...jsonOption,
    ...joinOptions,
  },
  run,
}

type ChainAction = (ctx: EngineCtx, given: Given) => Promise<number>

async function run(given: Given): Promise<number> {
  const [action] = given.positionals
  const act = action === undefined ? undefined : actions[action]
  if (!act)
    throw new UsageError(`say what to do: ${Object.keys(actions).join(', ')}\nSee: bezant chain --help`)
  return connected(given, (ctx) => act(ctx, given))
}

const actions: Record<string, ChainAction> = {
  list: async (ctx, given) => {
    const rows = await Promise.all(ctx.chains.list().map((chain) => standingOf(ctx, chain)))
    const columns = [
      'blockchain',
      'head',
      'completeTo',
      'finalTo',
      'haltedAt',
      'blockHash',
      'otherHash',
    ] as const
    printRows(given, rows, columns)
    return 0
  },
  accept: async (ctx, given) => {
    const chain = chainIn(ctx, given)
    const fork = await findFork(ctx, chain, hashIn(given))
    process.stdout.write(`${(await describe(ctx, chain, fork)).join('\n')}\n`)
    if (!given.flags['yes'] && !(await confirm('This takes it back, and lets the chain go on.'))) {
      process.stdout.write('Nothing was changed.\n')
      return 1
    }
    await acceptFork(ctx, chain, fork, (number) => {
      if (process.stderr.isTTY) process.stderr.write(`\rblock ${number} is taken back`)
    })
    process.stdout.write(`${fork.blockchain} goes on above block ${fork.common.number}.\n`)
    return 0
  },
}

/** Indexing progress of a chain and, when it is halted, the final block that is gone and the one in its place. */
async function standingOf({ database }: EngineCtx, { network: { blockchain } }: Chain) {
  const { blockHash, otherHash, createDate: haltedAt } = (await findHalt(database, blockchain)) ?? {}
  return {
    blockchain,
    head: (await canonicalHead(database, blockchain))?.number,
    completeTo: await highestComplete(database, blockchain),
    finalTo: await highestFinal(database, blockchain),
    haltedAt,
    blockHash,
    otherHash,
  }
}

function chainIn(ctx: EngineCtx, { positionals: [, name] }: Given): Chain {
  const known = ctx.chains.list().map(({ network }) => network.blockchain)
  const chain = name === undefined ? undefined : ctx.chains.find(name)
  if (chain) return chain
  const given = name === undefined ? 'say which chain' : `no chain "${name}" is configured`
  throw new UsageError(`${given}: ${known.join(', ') || 'set BEZANT_NETWORKS'}\nSee: bezant chain --help`)
}

function hashIn(given: Given): string {
  const hash = textOf(given, 'at')?.toLowerCase()
  if (hash !== undefined && isHex(hash, 32)) return hash
  throw new UsageError(
    '--at must be the hash of a block: 0x and 64 hexadecimal digits\nSee: bezant chain --help',
  )
}

/** Shows the movements that would be undone, a line for each kind. */
async function describe(ctx: EngineCtx, chain: Chain, fork: Fork): Promise<string[]> {
  const { blockchain, accepted, common, head, transfers, sent, entityIds } = fork
  const tokens = new Map((await tokensOf(ctx.database, blockchain)).map((token) => [token.id, token]))
  const { decimals, symbol } = chain.network.nativeToken
  const lines = transfers.map(({ purpose, direction, tokenId, count, amountAtomic }) => {
    const token = tokens.get(tokenId)!
    const way = direction === 'in' ? 'to' : 'from'
    return `  ${count} transfers ${way} ${purpose} addresses: ${formatAmount(amountAtomic, token.decimals)} ${token.symbol}`
  })
  return [
    `${blockchain}: block ${accepted.number} ${accepted.hash} is accepted`,
    `both histories have block ${common.number} ${common.hash}`,
    `${head.number - common.number} blocks are taken back, down from ${head.number} ${head.hash}, with what they booked for ${entityIds.length} entities:`,
    ...lines,
    `  ${sent.count} transactions of managed addresses, which are sent again; fees ${formatAmount(sent.feesAtomic, decimals)} ${symbol}`,
  ]
}
