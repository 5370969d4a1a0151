import { afterAll, beforeAll, expect, it } from 'vitest'
import { arcTestnet } from '#chains/networks/arc-testnet'
import { baseSepolia } from '#chains/networks/base-sepolia'
import type { Network } from '#chains/networks/index'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { inspectEndpoint } from './check-endpoint.ts'
import { createRpc, NodeUnreachable, type Rpc } from './rpc.ts'

const payee = `0x${'4d'.repeat(20)}`
let arc: TestChain
let base: TestChain
let stop: () => Promise<void>
beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['ARC-TESTNET', 'BASE-SEPOLIA'] })
  stop = () => started.stop()
  arc = started.chains[0]!
  base = started.chains[1]!
})
afterAll(() => stop?.())

/** A node that takes calls as they are, whatever they suppose. */
const supposingNothing = (rpc: Rpc): Rpc => ({
  ...rpc,
  batch: (calls, limits) =>
    rpc.batch(
      calls.map((call) => ({ ...call, params: call.params.slice(0, 2) })),
      limits,
    ),
})

it('a node is used whose contract has the balances of its native coin, whether it supposes balances or not', async () => {
  const rpc = createRpc(arc.rpcUrl)
  expect(await inspectEndpoint(rpc, arcTestnet)).toBeUndefined()
  await arc.mine(1)
  const plain = supposingNothing(rpc)
  await expect(inspectEndpoint(plain, arcTestnet)).rejects.toThrow(NodeUnreachable)
  await expect(inspectEndpoint(plain, arcTestnet)).rejects.toThrow(/no account with USDC in its newest block/)
  await arc.send(payee, 10n ** 18n)
  expect(await inspectEndpoint(plain, arcTestnet)).toBeUndefined()
})

it('a node is refused whose contract is another coin than the native one', async () => {
  const [usdc] = baseSepolia.tokens
  const wrong = {
    ...baseSepolia,
    nativeToken: { ...arcTestnet.nativeToken, contract: { ...usdc!, id: arcTestnet.nativeToken.id } },
  } as Network
  await base.send(payee, 10n ** 18n)
  const refused = { blockchain: 'BASE-SEPOLIA', token: 'USDC', address: usdc!.address }
  for (const rpc of [createRpc(base.rpcUrl), supposingNothing(createRpc(base.rpcUrl))])
    expect(await inspectEndpoint(rpc, wrong)).toMatchObject({
      ...refused,
      reason: expect.stringMatching(/has other balances than the native coin: leave usdcIsNative out/),
    })
})
