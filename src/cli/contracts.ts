import { setTimeout as sleep } from 'node:timers/promises'
import type { AccountContract } from '#chains/accounts'
import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import {
  type DeploymentPlan,
  deployContracts,
  deploymentProgress,
  openPayer,
  payerOf,
  planDeployment,
  shortOf,
} from '#engines/treasury/index'
import { formatAmount } from '#lib/amounts'
import { findEntity } from '#runtime/auth/store'
import { type Command, chooseAction, numberFlag, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { confirm } from './confirm.ts'
import { connectionOptions } from './connection.ts'
import { counted, jsonOption, printRows } from './table.ts'
import { selectChains, withContext } from './with-context.ts'

export const contractsCommand: Command = {
  usage: `bezant contracts list [--chain NAME] [--json]
       bezant contracts deploy --entity ID [--chain NAME] [--dry-run] [--wait SECONDS] [--yes] [--json]

list shows the contracts that smart accounts need on each chain, and the hash of the code that stands
at their addresses. OF names the accounts that need a contract: all, those of developer wallets, or
modular ones. Exits with 1 if a contract is missing or has code that is not known.

deploy creates the contracts of developer wallets that are missing, on every chain of the entity's
environment or on one. The treasury of the entity pays, and a running worker signs and sends. Without
this command, the first operation of an entity on a chain creates them. Repeat it as often as you like:
what exists is not created again, and what is under way is waited for.`,
  takesArguments: true,
  options: {
    entity: { type: 'string', value: 'ID', about: 'The entity whose treasury pays.' },
    chain: { type: 'string', value: 'NAME', about: 'Only this chain, such as BASE-SEPOLIA.' },
    'dry-run': { type: 'boolean', about: 'Show what would be created, and create nothing.' },
    wait: {
      type: 'string',
      value: 'SECONDS',
      about: 'How long to wait for the transactions; they go on afterwards.',
      default: '600',
    },
    yes: { type: 'boolean', about: 'Do not ask for confirmation.' },
    ...jsonOption,
    ...connectionOptions,
  },
  run: (args) => {
    const act = chooseAction('contracts', args, actions)
    return withContext(args, (ctx) => act(ctx, args))
  },
}

type ContractsAction = (ctx: EngineCtx, args: ParsedArgs) => Promise<number>

const actions: Record<string, ContractsAction> = {
  list: async (ctx, args) => {
    const chains = selectChains(ctx, textFlag(args, 'chain'))
    const listed = await Promise.all(
      chains.map(async (chain) => ({ chain, contracts: await chain.accounts.contracts() })),
    )
    const rows = listed.flatMap(({ chain, contracts }) =>
      contracts.map((contract) => ({ ...asRow(chain, contract), codeHash: shownHash(contract) })),
    )
    printRows(args, rows, ['chain', 'contract', 'of', 'address', 'state', 'codeHash'])
    return rows.every(({ state }) => state === 'known') ? 0 : 1
  },
  deploy,
}

const asRow = ({ network }: Chain, { name, of, address, problem }: AccountContract) => ({
  chain: network.blockchain,
  contract: name,
  of,
  address,
  state: problem ?? 'known',
})

const shownHash = ({ problem, codeHash }: AccountContract) => (problem === 'missing' ? null : codeHash)

async function deploy(ctx: EngineCtx, args: ParsedArgs): Promise<number> {
  const waitMs = (numberFlag(args, 'wait', 86_400) ?? 600) * 1_000
  const { entityId, chains } = await targetOf(ctx, args)
  const plans = await Promise.all(chains.map(planDeployment))
  const work = plans.filter(({ missing }) => missing.length > 0)
  const isDone = work.length === 0 || args.flags['dry-run'] === true
  if (isDone || args.flags['json'] !== true) await printPlans(ctx, args, entityId, plans)
  const obstacles = plans.flatMap(({ obstacle }) => obstacle ?? [])
  if (obstacles.length > 0) throw new Error(obstacles.join('\nbezant: '))
  if (isDone) return 0
  const count = work.reduce((sum, { missing }) => sum + missing.length, 0)
  const question = `This creates ${counted(count, 'contract')} on ${work.map(({ chain }) => chain.network.blockchain).join(', ')}, paid by the treasury of ${entityId}.`
  if (args.flags['yes'] !== true && !(await confirm(question))) {
    process.stderr.write('Nothing was created.\n')
    return 1
  }
  const payable = await Promise.all(
    work.map(async (plan) => ({ plan, payer: await openPayer(ctx, entityId, plan.chain) })),
  )
  await requireFunds(ctx, payable)
  const failures = await Promise.all(
    payable.map(async ({ plan, payer }) => {
      const ids = await deployContracts(ctx, plan, payer, 'operator')
      return follow(ctx, plan.chain, payer, ids, waitMs)
    }),
  )
  const now = await Promise.all(chains.map(planDeployment))
  await printPlans(ctx, args, entityId, now)
  process.stderr.write(
    failures
      .flat()
      .map((line) => `${line}\n`)
      .join(''),
  )
  return now.every(({ missing }) => missing.length === 0) ? 0 : 1
}

/** The entity that pays, and the chains that its keys reach. */
async function targetOf(ctx: EngineCtx, args: ParsedArgs) {
  const named = textFlag(args, 'entity')
  if (named === undefined) throw new UsageError('--entity is missing\nSee: bezant contracts --help')
  const entity = await findEntity(ctx.db, named)
  if (!entity) throw new UsageError(`no entity ${named}: see bezant keys list`)
  const { id: entityId, environment } = entity
  const chains = selectChains(ctx, textFlag(args, 'chain')).filter(
    ({ network }) => network.environment === environment,
  )
  if (chains.length > 0) return { entityId, chains }
  throw new UsageError(`the entity is of ${environment}, and no chosen chain is: see bezant keys list`)
}

async function printPlans(
  ctx: EngineCtx,
  args: ParsedArgs,
  entityId: string,
  plans: readonly DeploymentPlan[],
): Promise<void> {
  const rows = await Promise.all(
    plans.map(async ({ chain, contracts }) => {
      const payer = (await payerOf(ctx, entityId, chain)) ?? null
      return contracts.map((contract) => ({ ...asRow(chain, contract), payer }))
    }),
  )
  printRows(args, rows.flat(), ['chain', 'contract', 'address', 'state', 'payer'])
}

type Payable = { plan: DeploymentPlan; payer: Awaited<ReturnType<typeof openPayer>> }

async function requireFunds(ctx: EngineCtx, payable: readonly Payable[]): Promise<void> {
  const short = await Promise.all(
    payable.map(async ({ plan, payer }) => {
      const { blockchain, nativeToken } = plan.chain.network
      const lacking = await shortOf(ctx, plan, payer)
      const amount = `${formatAmount(lacking, nativeToken.decimals)} ${nativeToken.symbol}`
      return lacking > 0n ? [`${amount} to ${payer.address} on ${blockchain}`] : []
    }),
  )
  if (short.flat().length === 0) return
  throw new Error(`the treasury cannot pay: send at least ${short.flat().join(', ')}, and repeat the command`)
}

const pollMs = 500

/** Shows how far the transactions have come until all have ended. Returns why some did not create their contract. */
async function follow(
  ctx: EngineCtx,
  { network: { blockchain } }: Chain,
  payer: Payable['payer'],
  ids: readonly string[],
  waitMs: number,
): Promise<string[]> {
  const shown = new Map<string, string>()
  const endMs = performance.now() + waitMs
  for (;;) {
    const calls = await deploymentProgress(ctx, payer, ids)
    for (const { id, state, txHash } of calls) {
      if (shown.get(id) === state) continue
      shown.set(id, state)
      process.stderr.write(`${blockchain}: ${state} ${txHash ?? `transaction ${id}`}\n`)
    }
    if (calls.every(({ settled }) => settled))
      return calls.flatMap(({ id, errorDetails }) =>
        errorDetails ? `${blockchain}: transaction ${id}: ${errorDetails}` : [],
      )
    if (performance.now() >= endMs)
      return [
        `${blockchain}: still under way after ${waitMs / 1_000} seconds: check that a worker runs, and repeat the command`,
      ]
    await sleep(pollMs)
  }
}
