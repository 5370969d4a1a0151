/**
 * "Nonce too low" for bytes that no node is known to have accepted. It may be caused by these very bytes, by foreign
 * ones, or be a lie: only blocks decide, and no transfer fails or is paid twice because of it.
 */
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { sql } from '#runtime/db/db'
import { type Fault, faults, type HostileRpc, openHostileRpc } from '#testing/adversary/index'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { drawnTests } from '#testing/runner/drawn'
import { isDeep } from '#testing/runner/size'
import { holdsAreSettled } from '../index.ts'

const send = 'eth_sendRawTransaction'

/** Refuses every send without a check. */
const tooLow: Fault = {
  name: '"nonce too low" of what it never saw',
  methods: [send],
  answer: async ({ id }) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32000, message: 'nonce too low: next nonce 7, tx nonce 5' },
  }),
}

let harness: Harness
let on: ReturnType<typeof transferActions>
let node: HostileRpc

beforeAll(async () => {
  harness = await openHarness({
    node: async ({ rpcUrl }) => {
      node = await openHostileRpc(rpcUrl)
      return { rpcUrl: node.url }
    },
  })
  on = transferActions(harness)
})
afterEach(async () => {
  node.play()
  await harness.chain().setAutomine(true)
})
afterAll(async () => {
  await harness?.close()
  await node?.close()
})

async function movedOnce(wallet: Wallet, to: string): Promise<void> {
  const { oracle, tokens } = harness.chain()
  await oracle.checkNonces(wallet.address)
  const moved = { from: wallet.address, to, token: tokens.USDC, amountAtomic: 500_000n }
  await oracle.checkMovedOnce([moved])
  await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
}

/** Returns a function that waits for this many further hits of the fault. */
function meeting(fault: Fault) {
  const count = () => node.applied.filter((met) => met.fault === fault.name).length
  const before = count()
  return (times: number) => until(async () => count() >= before + times, `${fault.name}, ${times} times`)
}

/** Orders a transfer while the node reports this nonce count; the node is honest again as soon as it is signed. */
async function signedWhileCounting(count: number, wallet: Wallet) {
  const result = `0x${count.toString(16)}`
  const counting: Fault = {
    name: `a count of ${count}`,
    methods: ['eth_getTransactionCount'],
    answer: async ({ id }) => ({ jsonrpc: '2.0', id, result }),
  }
  node.play({ fault: counting })
  const ordered = await order(wallet)
  await until(async () => (await on.attemptsOf(ordered.id)).length === 1, 'it is signed')
  node.play()
  return ordered
}

async function order(wallet: Wallet) {
  const to = freshAddress()
  return { to, id: await on.transfer(wallet, { destinationAddress: to }) }
}

const drawnIt = drawnTests(3, 6)

describe('"nonce too low" for bytes that no node accepted yet', () => {
  drawnIt(
    'property 15: decides nothing when false: the same bytes are sent until a node accepts them',
    async () => {
      const wallet = await on.fundedWallet()
      const before = node.rawTransactions.length
      const said = meeting(tooLow)
      node.play({ fault: tooLow })
      const { id, to } = await order(wallet)
      await said(isDeep ? 3 : 2)
      // No node is known to have accepted it: it is not shown as sent.
      expect((await on.read(id)).state).toBe('QUEUED')
      node.play()
      await on.reaches(id, 'COMPLETE')
      expect(new Set(node.rawTransactions.slice(before)).size).toBe(1)
      expect(await on.attemptsOf(id)).toHaveLength(1)
      await movedOnce(wallet, to)
    },
  )

  drawnIt(
    'property 15: leaves the transfer waiting for its block when a node accepted the bytes without an answer',
    async () => {
      const wallet = await on.fundedWallet()
      await harness.chain().setAutomine(false)
      const said = meeting(tooLow)
      node.play({ fault: faults.resetAfter, methods: [send], times: 1 }, { fault: tooLow })
      const { id, to } = await order(wallet)
      await said(2)
      expect((await on.read(id)).state).toBe('QUEUED')
      expect(await on.attemptsOf(id)).toHaveLength(1)
      await harness.chain().mine()
      await on.reaches(id, 'COMPLETE')
      await movedOnce(wallet, to)
    },
  )

  drawnIt(
    'property 15: leads to another nonce only when the external transaction that used it is known and final',
    async () => {
      const wallet = await on.fundedWallet()
      const chain = harness.chain()
      await harness.stopEngines()
      const { id, to } = await order(wallet)
      // Another holder of the key sends before the first send of the worker.
      let used = false
      chain.intercept(async ({ body }) => {
        if (used || !body.includes(send)) return 'forward'
        used = true
        await chain.setAutomine(false)
        await chain.rpc('anvil_impersonateAccount', [wallet.address])
        await chain.rpc('eth_sendTransaction', [{ from: wallet.address, to: wallet.address, value: '0x1' }])
        await chain.mine()
        return 'forward'
      })
      harness.startEngines()
      await until(async () => {
        const [first] = await on.attemptsOf(id)
        return first?.state === 'displaced'
      }, 'its nonce is known to be gone')
      chain.intercept(undefined)
      await chain.setAutomine(true)
      await on.reaches(id, 'COMPLETE')
      expect((await on.attemptsOf(id)).map(({ state, nonce }) => [state, nonce])).toEqual([
        ['displaced', 0],
        ['mined', 1],
      ])
      await movedOnce(wallet, to)
    },
  )

  drawnIt('property 15: decides nothing by a nonce count that no block confirms', async () => {
    const wallet = await on.fundedWallet()
    const ahead: Fault = {
      name: 'a count that is ahead',
      methods: ['eth_getTransactionCount'],
      answer: async (_, ask) => {
        const answer = await ask()
        return { ...answer, result: `0x${(Number(answer.result) + 1).toString(16)}` }
      },
    }
    const [said, counted] = [meeting(tooLow), meeting(ahead)]
    node.play({ fault: tooLow })
    const { id, to } = await order(wallet)
    await said(1)
    node.play({ fault: tooLow }, { fault: ahead })
    await counted(isDeep ? 3 : 2)
    expect((await on.read(id)).state).toBe('QUEUED')
    expect(await on.attemptsOf(id)).toHaveLength(1)
    node.play()
    await on.reaches(id, 'COMPLETE')
    expect(await on.attemptsOf(id)).toHaveLength(1)
    await movedOnce(wallet, to)
  })

  drawnIt(
    'property 17: leads to another nonce when the block that used it was final before signing',
    async () => {
      const wallet = await on.fundedWallet()
      const chain = harness.chain()
      await chain.rpc('anvil_impersonateAccount', [wallet.address])
      await chain.rpc('eth_sendTransaction', [{ from: wallet.address, to: wallet.address, value: '0x1' }])
      await chain.mine()
      const seen = sql`select 1 from observed_transactions where address = ${wallet.address}`
      await until(async () => (await harness.database.all(seen)).length === 1, 'the block is known')
      await until(() => holdsAreSettled(harness.database, wallet.blockchain), 'everything final is concluded')
      const { id, to } = await signedWhileCounting(0, wallet)
      await on.reaches(id, 'COMPLETE')
      expect((await on.attemptsOf(id)).map(({ state, nonce }) => [state, nonce])).toEqual([
        ['displaced', 0],
        ['mined', 1],
      ])
      await movedOnce(wallet, to)
    },
  )

  drawnIt(
    'property 17: no-ops fill the nonces that a node ahead of its chain skipped, without another transfer',
    async () => {
      const wallet = await on.fundedWallet()
      const { id, to } = await signedWhileCounting(2, wallet)
      await on.reaches(id, 'COMPLETE')
      const attempts = await harness.database.all<{ kind: string; nonce: number }>(
        sql`select kind, nonce from attempts where address = ${wallet.address} and state = 'mined' order by nonce`,
      )
      expect(attempts.map(({ kind, nonce }) => [kind, nonce])).toEqual([
        ['noop', 0],
        ['noop', 1],
        ['original', 2],
      ])
      await movedOnce(wallet, to)
    },
  )
})
