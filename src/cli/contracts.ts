import type { Chain } from '#chains/chain'
import type { AccountContract } from '#chains/facets/accounts'
import { hasFacet } from '#chains/facets/optional'
import type { EngineCtx } from '#engines/ctx'
import {
  type DeploymentPlan,
  deployContracts,
  openPayer,
  payerOf,
  planDeployment,
} from '#engines/treasury/bundling/index'
import { type Command, chooseAction, numberFlag, type ParsedArgs, textFlag } from './command.ts'
import { askToConfirm } from './confirm.ts'
import { connectionOptions } from './connection.ts'
import { crosschainOptions, deployCrosschain } from './crosschain-contracts.ts'
import { follow, requireFunds, targetOf } from './paid-calls.ts'
import { counted, jsonOption, printRows } from './table.ts'
import { manageUsdcPaymaster, usdcPaymasterOptions } from './usdc-paymaster.ts'
import { selectChains, withContext } from './with-context.ts'

export const contractsCommand: Command = {
  usage: `bezant contracts list [--chain NAME] [--json]
       bezant contracts deploy --entity ID [--chain NAME] [--dry-run] [--wait SECONDS] [--yes] [--json]
       bezant contracts deploy-crosschain --entity ID --owner ADDRESS [options]
       bezant contracts usdc-paymaster --entity ID --chain NAME [options]

list shows the contracts that smart accounts need on each chain, and the hash of the code that stands
at their addresses. OF names the accounts that need a contract: all, those of developer wallets, or
modular ones. Exits with 1 if a contract is missing or has code that is not known.

deploy creates the contracts of developer wallets that are missing, on every chain of the entity's
environment or on one. The treasury of the entity pays, and a running worker signs and sends. Without
this command, the first operation of an entity on a chain creates them. Repeat it as often as you like:
what exists is not created again, and what is under way is waited for.

deploy-crosschain creates the contracts of cross-chain messages and unified balances in the same way, links
the configured chains of the environment with each other, and leaves every role to --owner. The treasury is
opened, so that the addresses are known, also by --dry-run: they follow from its own, and are the same on
every chain. It prints the calls that are left to others, such as the issuer of the token, who makes the
contracts its minters, and what belongs into BEZANT_NETWORKS. Exits with 1 while a contract is missing.

usdc-paymaster shows the contract of the treasury that pays for operations of accounts and takes USDC of
them: its price, its deposit at the EntryPoint and its USDC. With --price, --deposit, --withdraw or
--withdraw-usdc, it creates the contract where it is missing and makes these calls, in this order.`,
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
    ...crosschainOptions,
    ...usdcPaymasterOptions,
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
      chains
        .filter((chain) => hasFacet(chain, 'accounts'))
        .map(async (chain) => ({ chain, contracts: await chain.accounts.contracts() })),
    )
    const rows = listed.flatMap(({ chain, contracts }) =>
      contracts.map((contract) => ({ ...asRow(chain, contract), codeHash: shownHash(contract) })),
    )
    printRows(args, rows, ['chain', 'contract', 'of', 'address', 'state', 'codeHash'])
    return rows.every(({ state }) => state === 'known') ? 0 : 1
  },
  deploy,
  'deploy-crosschain': deployCrosschain,
  'usdc-paymaster': manageUsdcPaymaster,
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
  if (args.flags['yes'] !== true && !(await askToConfirm(question))) {
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
