import { toCircleSmartAccount } from '@circle-fin/modular-wallets-core'
import { createClient, encodeFunctionData, type Hex, http, numberToHex, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { entryPoint } from '#chains/entry-point'
import { rpc } from '#testing/platform/json-rpc'
import { viemChain } from '#testing/platform/viem-chain'
import { fundAll, type Node } from '../chain.ts'
import type { Figure } from '../figures.ts'
import { startSandbox } from '../inbound.ts'
import { measureBusyCores } from '../machine.ts'
import type { Bench, Run } from '../run.ts'
import { alternateRounds, median, ratioOf } from '../statistics.ts'
import { until } from '../until.ts'
import { altoVersion, startAlto } from './alto.ts'

/** keccak256 of UserOperationEvent. */
export const operationExecuted = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
const patience = { everyMs: 5, patienceMs: 120_000 }
export const sink: Hex = `0x${'5'.repeat(40)}`
/** Requests under way at once: as many as one entity may have. */
const atOnce = 20
const accountsCount = 20

export const operationsBench: Bench = {
  name: 'operations',
  about: 'user operations until blocks hold them, beside the Alto bundler',
  measure: async (run) => {
    const setup = await openSetup(run, accountsCount)
    const alto = await startAlto(run, setup.node, entryPoint)
    const each = run.amount(10, 2, 1)
    const rate = async (url: string, headers: Record<string, string>) => {
      // Our paymaster pays in no bundle of others.
      const operations = await prepare(setup, each, { isSponsored: url === setup.url })
      const { seconds } = await execute(setup.node, url, headers, operations)
      return operations.length / seconds
    }
    await rate(setup.url, setup.headers)
    await rate(alto, {})
    const busy = measureBusyCores()
    const { ours, theirs } = await alternateRounds(
      run.amount(5, 1, 1),
      { ours: () => rate(setup.url, setup.headers), theirs: () => rate(alto, {}) },
      (_, values) => run.report(`ours ${values.ours.toFixed(0)}/s, Alto ${values.theirs.toFixed(0)}/s`),
    )
    return [
      {
        name: `user operations of ${accountsCount} accounts, ${each * accountsCount} at a time`,
        measured: { value: median(ours), unit: 'operations/s' },
        reference: { value: median(theirs), unit: 'operations/s', what: `of Alto ${altoVersion}` },
        ratio: ratioOf(ours, theirs),
        promise: { ratioMin: 1 },
        coresBusy: busy(),
      },
    ] satisfies Figure[]
  },
}

export type Setup = {
  node: Node
  url: string
  headers: Record<string, string>
  accounts: Account[]
  keys: { next: bigint }
}
type Operation = Record<string, unknown>
type Account = Awaited<ReturnType<typeof toCircleSmartAccount>>

/** A sandbox with deployed and funded smart accounts. */
export async function openSetup(run: Run, count: number): Promise<Setup> {
  const { node, tenant, clientKey } = await startSandbox(run)
  const headers = { authorization: `Bearer ${clientKey}` }
  const url = `${tenant.url}/v1/rpc/w3s/buidl/baseSepolia`
  const chain = { ...viemChain, id: node.chainId }
  const client = createClient({ chain, transport: http(url, { fetchOptions: { headers } }) })
  const accounts: Account[] = await Promise.all(
    Array.from({ length: count }, () =>
      toCircleSmartAccount({
        client: client as never,
        owner: privateKeyToAccount(generatePrivateKey()) as never,
      }),
    ),
  )
  const funding = { usdcAtomic: 1_000_000_000n, nativeAtomic: 10n ** 18n }
  await fundAll(
    node,
    accounts.map(({ address: to }) => ({ to, ...funding })),
  )
  const setup = { node, url, headers, accounts, keys: { next: 1n } }
  run.report('deploying the accounts')
  await execute(node, url, headers, await prepare(setup, 1, { deploys: true }))
  return setup
}

type Preparation = { deploys?: boolean; isSponsored?: boolean; sequence?: bigint }

const abi = parseAbi(['function transfer(address to, uint256 amount)'])

/**
 * Operations of every account, `each` of one, signed; one that is not sponsored is paid by its account. Each has a nonce of its own, so that none
 * waits for another, or the `sequence`th of the first key.
 */
export async function prepare(
  { node, url, headers, accounts, keys }: Setup,
  each: number,
  { deploys = false, isSponsored = true, sequence }: Preparation = {},
): Promise<Operation[]> {
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [sink, 1n] })
  const work = accounts.flatMap((account) => Array.from({ length: each }, () => account))
  const prepared: Operation[] = []
  await inParallel(work, async (account) => {
    const creation = deploys ? await account.getFactoryArgs() : {}
    const callData = await account.encodeCalls([{ to: node.usdc, value: 0n, data }])
    const unpriced = {
      sender: account.address,
      nonce: sequence ?? keys.next++ << 64n,
      ...creation,
      callData,
      maxFeePerGas: 3_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    }
    const signature = await account.getStubSignature()
    const stub = inHex({ ...unpriced, signature })
    const paymaster = (await call(url, headers, 'pm_getPaymasterStubData', [stub, entryPoint])) as object
    const asked = [{ ...stub, ...paymaster }, entryPoint]
    const estimate = (await call(url, headers, 'eth_estimateUserOperationGas', asked)) as Record<string, Hex>
    const unsponsored = {
      ...unpriced,
      callGasLimit: 100_000n,
      verificationGasLimit: deploys ? 500_000n : 100_000n,
      preVerificationGas: BigInt(estimate['preVerificationGas']!),
    }
    const operation = isSponsored
      ? { ...unsponsored, ...(await sponsor(url, headers, inHex({ ...unsponsored, signature }))) }
      : unsponsored
    const signed = await account.signUserOperation(operation as never)
    prepared.push(inHex({ ...operation, signature: signed }))
  })
  return prepared
}

async function sponsor(url: string, headers: Record<string, string>, operation: Operation) {
  const paid = (await call(url, headers, 'pm_getPaymasterData', [operation, entryPoint])) as Record<
    string,
    Hex
  >
  return {
    ...paid,
    paymasterVerificationGasLimit: BigInt(paid['paymasterVerificationGasLimit']!),
    paymasterPostOpGasLimit: BigInt(paid['paymasterPostOpGasLimit']!),
  }
}

const inHex = (operation: object): Operation =>
  Object.fromEntries(
    Object.entries(operation).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? numberToHex(value) : value,
    ]),
  )

/** Sends all operations, and waits until blocks hold them. */
export async function execute(
  node: Node,
  url: string,
  headers: Record<string, string>,
  operations: readonly Operation[],
) {
  const from = await rpc<Hex>(node.url, 'eth_blockNumber')
  const startedMs = performance.now()
  const hashes = new Set<string>()
  await inParallel(operations, async (operation) => {
    hashes.add((await call(url, headers, 'eth_sendUserOperation', [operation, entryPoint])) as string)
  })
  const filter = { address: entryPoint, topics: [operationExecuted], fromBlock: from }
  await until(
    async () => {
      const logs = await rpc<{ topics: string[] }[]>(node.url, 'eth_getLogs', [filter])
      return logs.filter(({ topics }) => hashes.has(topics[1]!)).length === operations.length
    },
    'blocks hold all operations',
    patience,
  )
  return { seconds: (performance.now() - startedMs) / 1_000 }
}

async function call(
  url: string,
  headers: Record<string, string>,
  method: string,
  params: readonly unknown[],
) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  const one = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}
