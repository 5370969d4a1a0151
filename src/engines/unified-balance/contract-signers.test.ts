/** Contracts of strangers are asked about signatures: no single endpoint answers for them, and none that hangs stops other depositors. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { baseSepolia } from '#chains/networks/base-sepolia'
import type { Hex } from '#lib/hex'
import { fickleSignerBytecode } from '#testing/artifacts/fickle-signer'
import { deployOn } from '#testing/builders/any-tokens'
import {
  contractSigned,
  intentOf,
  people,
  signedIntent,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
} from '#testing/builders/unified-balances'
import { followedMining } from '#testing/nodes/followed-mining'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil } from '#testing/platform/until'

let harness: Harness
let unified: UnifiedBalances
let fickle: Hex
const nodes: LyingNode[] = []
const [alice] = people as unknown as [(typeof people)[0]]
beforeAll(async () => {
  harness = await openHarness({
    node: async ({ rpcUrl }) => {
      for (let index = 0; index < 3; index++) nodes.push(await openLyingNode(rpcUrl))
      const rpcUrls = nodes.map(({ url }) => url)
      return { rpcUrl: rpcUrls[0]!, rpcUrls, local: false, crosschain: knownCrosschainAddresses(baseSepolia) }
    },
  })
  unified = unifiedBalances(harness)
  const chain = harness.chain()
  fickle = await deployOn(chain, fickleSignerBytecode)
  await unified.payFor(chain, alice.address, fickle, 50_000_000n)
  await unified.pay(chain, alice.address, 50_000_000n)
  const { mine } = followedMining(harness, chain)
  const isFunded = async (of: string) => (await unified.balance(chain, of)) === '50'
  await mineUntil({ mine }, async () => (await isFunded(fickle)) && isFunded(alice.address), 'both have 50')
})
afterEach(() => {
  for (const node of nodes) node.lie(undefined)
})
afterAll(async () => {
  await harness?.close()
  for (const node of nodes) await node.close()
})

const ofContract = () =>
  unified.transfer([contractSigned(intentOf(specOf(harness.chain(), harness.chain(), fickle)), '0x')])
const ofKey = async () =>
  unified.transfer([
    await signedIntent(alice, intentOf(specOf(harness.chain(), harness.chain(), alice.address))),
  ])
const asksContract = (method: string, [call]: readonly { to?: string }[]) =>
  method === 'eth_call' && call?.to === fickle

it.each([0, 1, 2])('property 246: endpoint %i alone does not answer for a contract', async (liar) => {
  expect((await ofContract()).status).toBe(201)
  const refusing = `0xffffffff${'0'.repeat(56)}`
  for (const [index, node] of nodes.entries())
    if (index !== liar)
      node.lie((method, result, params) => (asksContract(method, params) ? refusing : result))
  for (let count = 0; count < 6; count++) expect([400, 503]).toContain((await ofContract()).status)
})

it('property 246: endpoints that hang about one contract stop no other depositor', async () => {
  const hung: (() => void)[] = []
  for (const node of nodes)
    node.lie((method, result, params) =>
      asksContract(method, params) ? new Promise((answer) => hung.push(() => answer(result))) : result,
    )
  const waiting = Array.from({ length: 12 }, ofContract)
  for (let count = 0; count < 5; count++) expect((await ofKey()).status).toBe(201)
  for (const { status } of await Promise.all(waiting)) expect([429, 503]).toContain(status)
  expect((await ofKey()).status).toBe(201)
  for (const end of hung) end()
})
