/** The endpoint that is read lies under hashes on which all agree: irreversible actions wait for the other endpoints. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { alarmCounts } from '#runtime/log/alarms'
import { falseContents, faults, type HostileRpc, openHostileRpc } from '#testing/adversary/index'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress } from '#testing/builders/world'
import { followedMining } from '#testing/nodes/followed-mining'
import { shortFinalityNetwork } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'

let harness: Harness
let on: ReturnType<typeof transferActions>
const nodes: HostileRpc[] = []

beforeAll(async () => {
  harness = await openHarness({
    blockchains: [shortFinalityNetwork.blockchain],
    node: async ({ rpcUrl }) => {
      for (let index = 0; index < 3; index++) nodes.push(await openHostileRpc(rpcUrl))
      const rpcUrls = nodes.map(({ url }) => url)
      return { rpcUrl: rpcUrls[0]!, rpcUrls, local: false }
    },
  })
  on = transferActions(harness)
  for (const node of nodes.slice(1)) node.play({ fault: faults.slow(100) })
})
afterAll(async () => {
  await harness?.close()
  for (const node of nodes) await node.close()
})

it('property 21: one of three endpoints that reports a nonce as used elsewhere causes no second payment', async () => {
  const wallet = await on.fundedWallet()
  const alarmsBefore = alarmCounts().get('providers-disagree')
  nodes[0]!.play({ fault: falseContents(wallet.address)[3]! })
  const { oracle, tokens } = harness.chain()
  const recipients: string[] = []
  // The first endpoint is read, because it is the fastest; on a busy machine another may be for a moment.
  while (alarmCounts().get('providers-disagree') === alarmsBefore) {
    const to = freshAddress()
    recipients.push(to)
    const id = await on.transfer(wallet, { destinationAddress: to, amounts: ['0.25'] })
    // Blocks at an interval could outrun a busy machine, which asks three endpoints about each.
    const isComplete = async () => (await on.read(id)).state === 'COMPLETE'
    await mineUntil(followedMining(harness, harness.chain(), 4), isComplete, 'it is complete')
    expect(await on.attemptsOf(id)).toHaveLength(1)
  }
  await oracle.checkMovedOnce(
    recipients.map((to) => ({ from: wallet.address, to, token: tokens.USDC, amountAtomic: 250_000n })),
  )
  await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
})
