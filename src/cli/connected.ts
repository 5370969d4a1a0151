import { openContext } from '#context'
import type { EngineCtx } from '#engines/ctx'
import { createLog } from '#runtime/log/log'
import { readRootKey } from '#runtime/root-key'
import { type Given, UsageError } from './command.ts'
import { configOf, connectionOf, nodesOf } from './join.ts'

/** Runs a command's work with the database and the nodes that its flags and the environment name. */
export async function connected<Result>(
  given: Given,
  work: (ctx: EngineCtx) => Promise<Result>,
): Promise<Result> {
  const config = configOf(given, { logLevel: 'error' })
  const connection = await connectionOf(config)
  const nodes = await nodesOf(config)
  const rootKey = await readRootKey(config)
  const log = createLog(config.logLevel)
  const { ctx, close } = await openContext({ config, log, connection, rootKey, nodes })
  try {
    return await work(ctx)
  } finally {
    await close()
  }
}

/** The chain of this name, or all without one. */
export function chosenChains(ctx: EngineCtx, name: string | undefined) {
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
