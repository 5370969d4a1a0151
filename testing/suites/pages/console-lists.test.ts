/** Lists of the console while a hundred rows a second arrive: a reader who points at a row or turns pages keeps what is on show. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { sandboxChain } from '#testing/builders/sandbox-chains'
import { freshAddress } from '#testing/builders/world'
import { chromiumPath } from '#testing/pages/browser'
import { type ConsoleSandbox, openConsoleSandbox } from '#testing/pages/console-sandbox'
import { rpc, rpcBatch } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'
import type { Program } from '#testing/processes/program'
import { drawn } from '#testing/runner/drawn'

const blockchain = 'BASE-SEPOLIA'
const pageSize = 50
const perSecond = 100

let sandbox: ConsoleSandbox
let program: Program
let walletSetId: string
let wallet: { id: string; address: string }

const call = async (method: string, path: string, body?: object) => {
  const { status, body: answer, text } = await program.tenant.http(method, path, { body })
  expect(status, `${method} ${path} ${text}`).toBeLessThan(300)
  return answer.data
}
const signed = async () => ({
  idempotencyKey: randomUUID(),
  entitySecretCiphertext: await program.tenant.sealSecret(),
})
const makeWallets = async (count: number) =>
  (
    await call('POST', '/v1/w3s/developer/wallets', {
      ...(await signed()),
      walletSetId,
      blockchains: [blockchain],
      count,
    })
  ).wallets

/** A request, an event and a notification each. */
const makeRecipients = (count: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      call('POST', '/v1/addressBook/recipients', {
        idempotencyKey: randomUUID(),
        chain: 'BASE',
        address: freshAddress(),
        metadata: {},
      }),
    ),
  )

/** Payments that reach the wallet: one block has those of a second. */
async function makePayments(count: number) {
  const { rpcUrl, outsider: from, tokens } = sandboxChain(program, blockchain)
  const data = encodeFunctionData({
    abi: stablecoinAbi,
    functionName: 'transfer',
    args: [wallet.address as `0x${string}`, 1n],
  })
  const nonce = Number(await rpc(rpcUrl, 'eth_getTransactionCount', [from, 'pending']))
  await rpcBatch(
    rpcUrl,
    Array.from({ length: count }, (_, index) => ({
      method: 'eth_sendTransaction',
      params: [{ from, to: tokens.USDC, data, gas: '0x186a0', nonce: `0x${(nonce + index).toString(16)}` }],
    })),
  )
}

beforeAll(async () => {
  if (!chromiumPath) return
  sandbox = await openConsoleSandbox(blockchain)
  program = sandbox.program
  walletSetId = (await call('POST', '/v1/w3s/developer/walletSets', { ...(await signed()), name: 'Many' }))
    .walletSet.id
  ;[wallet] = await makeWallets(1)
  const { outsider } = sandboxChain(program, blockchain)
  for (const token of ['USDC', 'NATIVE'])
    await call('POST', '/sandbox/faucet', { address: outsider, blockchain, token, amount: '10' })
  await call('POST', '/sandbox/catcher/lists/subscriptions', { line: 'v1' })
  await call('POST', `/sandbox/chains/${blockchain}/interval`, { seconds: 1 })
})
afterAll(() => sandbox?.close())

type List = {
  path: string
  api: string
  member?: string
  make: (count: number) => Promise<unknown>
  atOnce: number
}

const lists: List[] = [
  { path: '/requests', api: '/operator/requests', make: makeRecipients, atOnce: 5 },
  { path: '/events', api: '/operator/events', make: makeRecipients, atOnce: 5 },
  { path: '/notifications', api: '/operator/notifications', make: makeRecipients, atOnce: 5 },
  { path: '/wallets', api: '/v1/w3s/wallets', member: 'wallets', make: makeWallets, atOnce: 20 },
  { path: '/movements', api: '/operator/movements', make: makePayments, atOnce: 20 },
]

/** Makes rows while `work` runs, as many a second as is asked for and the machine makes. */
async function whilePouring(
  { make, atOnce }: List,
  work: (made: () => number) => Promise<void>,
): Promise<void> {
  let turns = 0
  let isOver = false
  const pour = async () => {
    for (const startedMs = performance.now(); !isOver; turns += 1) {
      await make(atOnce)
      await sleep(Math.max(0, startedMs + ((turns + 1) * atOnce * 1_000) / perSecond - performance.now()))
    }
  }
  await Promise.all([
    pour(),
    work(() => turns * atOnce).finally(() => {
      isOver = true
    }),
  ])
}

/** The ids of the list as the API gives them, from page to page, the newest first. */
async function idsByApi({ api, member }: List, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let path: string | undefined = `${api}?pageSize=${pageSize}`; path && ids.length < count; ) {
    const { body, headers } = await program.tenant.http('GET', path)
    const rows: { id: string }[] = member ? body.data[member] : body.data
    ids.push(...rows.map(({ id }) => id))
    const next: string | undefined = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    path = next?.slice(new URL(next).origin.length)
  }
  return ids
}

describe.runIf(chromiumPath)('a list keeps its pages while a hundred rows a second arrive:', () => {
  it.each(drawn(lists, 2))('$path', async (list) => {
    const turned = 3 * pageSize
    while ((await idsByApi(list, turned)).length < turned) await list.make(list.atOnce)
    const { page, open, shows, when } = await sandbox.open()
    await open(list.path)
    await shows('Live')
    const shownIds = () =>
      page.locator('tr[data-id]').evaluateAll((rows) => rows.map((row) => row.dataset.id!))
    const isNewest = async () =>
      (await shownIds()).join() === (await idsByApi(list, pageSize)).slice(0, pageSize).join()
    await until(isNewest, 'the page shows the newest rows')

    await page.locator('tr[data-id] >> nth=4').hover()
    const before = await shownIds()
    const pointedAt = () =>
      page.evaluate<string>(`(() => {
        const [row] = [...document.querySelectorAll('tr[data-id]:hover')]
        return row.dataset.id + ' ' + row.getBoundingClientRect().top
      })()`)
    const held = await pointedAt()
    expect(held).toContain(before[4])
    const pill = page.locator('button.pill')
    let shown: string[] = []
    await whilePouring(list, async (made) => {
      await pill.waitFor()
      await until(async () => {
        expect([await shownIds(), await pointedAt()]).toEqual([before, held])
        return made() > perSecond && !(await idsByApi(list, pageSize)).includes(before[0]!)
      }, 'a page of new rows waits')
      expect(await pill.textContent()).toMatch(/^\d+\+? new rows?$/)
      for (const count of [2, 3]) {
        await page.keyboard.press(']')
        await until(async () => (await shownIds()).length >= count * pageSize, `page ${count} is on show`)
      }
      shown = await shownIds()
    })
    const all = await idsByApi(list, 100 * pageSize)
    const first = all.indexOf(before[0]!)
    expect(shown).toEqual(all.slice(first, first + turned))

    await pill.click()
    await page.mouse.move(0, 0)
    await until(isNewest, 'the newest rows are on show')
    await when(`document.querySelector('button.pill') === null`)
    expect(await sandbox.closePages()).toEqual([])
  })
})
