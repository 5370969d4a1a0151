import { openContext } from '#context'
import type { EngineCtx } from '#engines/ctx'
import { createLog } from '#runtime/log/log'
import { readRootKeys } from '#runtime/root-key'
import { type ParsedArgs, UsageError } from './command.ts'
import { configOf, connectionOf, nodesOf } from './connection.ts'

/** Runs `work` with the database and the nodes that the options and the environment name. */
export async function withContext<Result>(
  args: ParsedArgs,
  work: (ctx: EngineCtx) => Promise<Result>,
): Promise<Result> {
  const config = configOf(args, { logLevel: 'error' })
  const connection = await connectionOf(config)
  const nodes = await nodesOf(config, connection)
  const rootKey = await readRootKeys(config)
  const log = createLog(config.logLevel)
  const { ctx, close } = await openContext({ config, log, connection, rootKey, nodes })
  try {
    return await work(ctx)
  } finally {
    await close()
  }
}

/** Returns the chain of this name, or all chains without one. */
export function selectChains(ctx: EngineCtx, name: string | undefined) {
  const chains = ctx.chains.list()
  if (chains.length === 0)
    throw new UsageError(
      'no chain is configured: set BEZANT_NETWORKS, or set --data-dir to the directory of a running sandbox',
    )
  const chosen = name === undefined ? chains : chains.filter(({ network }) => network.blockchain === name)
  if (chosen.length > 0) return chosen
  throw new UsageError(
    `--chain must be one of ${chains.map(({ network }) => network.blockchain).join(', ')}, not "${name}"`,
  )
}
