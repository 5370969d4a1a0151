import type { Hex } from 'viem'
import { entryPoint } from '#chains/entry-point'
import { rpc } from '#testing/platform/json-rpc'
import { broadcast, devAccount, fundAll, type Node, nonceOf, signedTransfer } from '../chain.ts'
import type { Figure } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import type { Bench } from '../run.ts'
import { until } from '../until.ts'
import { execute, openSetup, operationExecuted, prepare, type Setup, sink } from './bench.ts'
import { openPublicAccount } from './public-account.ts'

/** Of the gas of the public account. */
const ratioMax = 1.15
const patience = { everyMs: 5, patienceMs: 120_000 }

export const gasBench: Bench = {
  name: 'gas',
  about: 'gas of a sponsored transfer by a smart account, beside a public account and a key',
  measure: async (run) => {
    const setup = await openSetup(run, 1)
    const { node } = setup
    const busy = measureBusyCores()
    // The first operation of each account opens slots that later ones find open.
    const ours = [await gasOfOperation(setup, 0n), await gasOfOperation(setup, 1n)].at(-1)!
    const alone = await gasOfOperation(setup)
    const publicAccount = await openPublicAccount(node)
    await fundAll(node, [{ to: publicAccount.address, usdcAtomic: 1_000_000n, nativeAtomic: 0n }])
    const theirs = [await publicAccount.transfer(sink, 1n), await publicAccount.transfer(sink, 1n)].at(-1)!
    const byKey = await gasOfKey(node)
    run.report(`ours ${ours}, with a nonce of its own ${alone}, SimpleAccount ${theirs}, a key ${byKey}`)
    const coresBusy = busy()
    const figure = (gas: number, reference: number, what: string): Figure => ({
      name: `gas of a sponsored operation that transfers USDC${gas === alone ? ', with a nonce of its own' : ''}`,
      measured: { value: gas, unit: 'gas' },
      reference: { value: reference, unit: 'gas', what },
      ratio: gas / reference,
      coresBusy,
    })
    const [publicly, keyed] = ['SimpleAccount and VerifyingPaymaster 0.7', 'the same transfer by a key']
    return [
      { ...figure(ours, theirs, publicly), promise: { ratioMax } },
      figure(alone, theirs, publicly),
      figure(ours, byKey, keyed),
    ]
  },
}

async function gasOfOperation(setup: Setup, sequence?: bigint): Promise<number> {
  const { node, url, headers } = setup
  const one = await prepare(setup, 1, sequence === undefined ? {} : { sequence })
  const before = await rpc<Hex>(node.url, 'eth_blockNumber')
  await execute(node, url, headers, one)
  const filter = { address: entryPoint, topics: [operationExecuted], fromBlock: before }
  const logs = await rpc<{ transactionHash: string }[]>(node.url, 'eth_getLogs', [filter])
  return gasOf(node, logs.at(-1)!.transactionHash)
}

async function gasOfKey(node: Node): Promise<number> {
  const payer = devAccount(9)
  await fundAll(node, [{ to: payer.address, usdcAtomic: 1_000_000n, nativeAtomic: 0n }])
  const raw = await signedTransfer(node, payer, await nonceOf(node, payer.address), sink, 1n)
  const [hash] = await broadcast(node.url, [raw])
  const mined = () => rpc(node.url, 'eth_getTransactionReceipt', [hash])
  await until(async () => (await mined()) !== null, 'the transfer is mined', patience)
  return gasOf(node, hash!)
}

const gasOf = async ({ url }: Node, hash: string) =>
  Number((await rpc<{ gasUsed: Hex }>(url, 'eth_getTransactionReceipt', [hash])).gasUsed)
