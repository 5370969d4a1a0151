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
import { tokensOf } from '#engines/ledger/tokens/index'
import { formatAmount } from '#lib/amounts'
import { isHex } from '#lib/hex'
import { type Command, chooseAction, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { askToConfirm } from './confirm.ts'
import { connectionOptions } from './connection.ts'
import { counted, jsonOption, printRows } from './table.ts'
import { withContext } from './with-context.ts'

export const chainCommand: Command = {
  usage: `bezant chain list [--json]
       bezant chain accept BLOCKCHAIN --at HASH [--yes]

list shows how far each chain is indexed. HEAD is the newest block booked, COMPLETE TO the newest
with its confirmations, FINAL TO the newest final one. A halted chain also shows the final block
that was lost and the block in its place.

A deep reorg, one that removes a final block, halts the chain: nothing is signed or sent on it, and
new transactions are refused (code 155901). Find out from block explorers and other providers which
branch is right, then run accept:

  - The branch of your endpoints is right: set --at to the hash of one of its blocks above the fork.
    accept shows the bookings from the other branch, asks, reverts them as in any reorg, and resumes
    the chain. Transactions in the reverted blocks are sent again with the same bytes.
  - Your endpoints are wrong: replace them, and set --at to the newest block that was indexed.
    Nothing is reverted.`,
  takesArguments: true,
  options: {
    at: { type: 'string', value: 'HASH', about: 'Hash of a block on the right branch.' },
    yes: { type: 'boolean', about: 'Do not ask for confirmation.' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

type ChainAction = (ctx: EngineCtx, args: ParsedArgs) => Promise<number>

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('chain', args, actions)
  return withContext(args, (ctx) => act(ctx, args))
}

const actions: Record<string, ChainAction> = {
  list: async (ctx, args) => {
    const rows = await Promise.all(ctx.chains.list().map((chain) => indexingStatus(ctx, chain)))
    const columns = [
      'blockchain',
      'head',
      'completeTo',
      'finalTo',
      'haltedAt',
      'blockHash',
      'otherHash',
    ] as const
    printRows(args, rows, columns)
    return 0
  },
  accept: async (ctx, args) => {
    const chain = requireChain(ctx, args)
    const fork = await findFork(ctx, chain, requireHash(args))
    process.stdout.write(`${(await describeFork(ctx, chain, fork)).join('\n')}\n`)
    if (!args.flags['yes'] && !(await askToConfirm('This reverts these blocks and resumes the chain.'))) {
      process.stdout.write('Nothing was changed.\n')
      return 1
    }
    await acceptFork(ctx, chain, fork, (number) => {
      if (process.stderr.isTTY) process.stderr.write(`\rreverted block ${number}`)
    })
    process.stdout.write(`${fork.blockchain} resumes above block ${fork.common.number}.\n`)
    return 0
  },
}

/** Indexing progress of a chain and, when it is halted, the final block that was lost and the one in its place. */
async function indexingStatus({ database }: EngineCtx, { network: { blockchain } }: Chain) {
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

function requireChain(ctx: EngineCtx, { positionals: [, name] }: ParsedArgs): Chain {
  const known = ctx.chains.list().map(({ network }) => network.blockchain)
  const chain = name === undefined ? undefined : ctx.chains.find(name)
  if (chain) return chain
  const problem = name === undefined ? 'name a chain' : `no chain "${name}" is configured`
  throw new UsageError(`${problem}: ${known.join(', ') || 'set BEZANT_NETWORKS'}\nSee: bezant chain --help`)
}

function requireHash(args: ParsedArgs): string {
  const hash = textFlag(args, 'at')?.toLowerCase()
  if (hash !== undefined && isHex(hash, 32)) return hash
  throw new UsageError(
    '--at must be the hash of a block: 0x and 64 hexadecimal digits\nSee: bezant chain --help',
  )
}

/** Describes the fork and the bookings that would be reverted, a line for each kind. */
async function describeFork(ctx: EngineCtx, chain: Chain, fork: Fork): Promise<string[]> {
  const { blockchain, accepted, common, head, transfers, sent, entityIds } = fork
  const tokens = new Map((await tokensOf(ctx.database, blockchain)).map((token) => [token.id, token]))
  const { decimals, symbol } = chain.network.nativeToken
  const lines = transfers.map(({ purpose, direction, tokenId, count, amountAtomic }) => {
    const token = tokens.get(tokenId)!
    const way = direction === 'in' ? 'to' : 'from'
    return `  ${counted(count, 'transfer')} ${way} ${purpose} addresses: ${formatAmount(amountAtomic, token.decimals)} ${token.symbol}`
  })
  return [
    `${blockchain}: accepted branch with block ${accepted.number} ${accepted.hash}`,
    `newest common block: ${common.number} ${common.hash}`,
    `to revert: ${counted(head.number - common.number, 'block')}, from ${head.number} ${head.hash} down, and ${entityIds.length === 1 ? 'the bookings of 1 entity' : `the bookings of ${entityIds.length} entities`}:`,
    ...lines,
    `  ${counted(sent.count, 'transaction')} of managed addresses, to be sent again; fees ${formatAmount(sent.feesAtomic, decimals)} ${symbol}`,
  ]
}
