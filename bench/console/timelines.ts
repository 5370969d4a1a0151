import type { Page } from 'playwright-core'
import type { Figure } from '../figures.ts'
import type { startSandbox } from '../inbound.ts'
import { measureBusyCores } from '../machine.ts'
import type { Run } from '../run.ts'
import { alternateRounds, median } from '../statistics.ts'
import { callApi } from '../tenant.ts'
import { until } from '../until.ts'
import { openPath, untilTrue } from './browser.ts'

const blockchain = 'BASE-SEPOLIA'
const patience = { everyMs: 20, patienceMs: 60_000 }

/** The timeline of a transfer, and that of one whose block is replaced until the timeline shows as many spans and marks as it may. */
export async function measureTimelines(
  run: Run,
  page: Page,
  { tenant, keyed, wallet }: Awaited<ReturnType<typeof startSandbox>>,
): Promise<Figure[]> {
  for (const token of ['USDC', 'NATIVE'])
    await callApi(tenant, 'POST', '/sandbox/faucet', {
      address: wallet.address,
      blockchain,
      token,
      amount: '1',
    })
  const transfer = async () => {
    const { tokenBalances } = await callApi(tenant, 'GET', `/v1/w3s/wallets/${wallet.id}/balances`)
    const token = tokenBalances.find((each: { token: { symbol: string } }) => each.token.symbol === 'USDC')
    if (!token) return undefined
    const { id } = await callApi(tenant, 'POST', '/v1/w3s/developer/transactions/transfer', {
      ...(await keyed()),
      walletId: wallet.id,
      tokenId: token.token.id,
      destinationAddress: `0x${'5'.repeat(40)}`,
      amounts: ['0.01'],
      feeLevel: 'MEDIUM',
    })
    return id as string
  }
  let plain: string | undefined
  await until(async () => (plain = await transfer()) !== undefined, 'the coins have arrived', patience)
  const isComplete = (id: string) => async () =>
    (await callApi(tenant, 'GET', `/v1/w3s/transactions/${id}`)).transaction.state === 'COMPLETE'
  await until(isComplete(plain!), 'the transfer is complete', patience)
  const long = (await transfer())!
  await until(isComplete(long), 'the transfer is complete', patience)
  const wanted = run.amount(200, 100, 12)
  let spans = 0
  for (let reorgs = 0; spans < wanted; reorgs++) {
    await callApi(tenant, 'POST', `/sandbox/chains/${blockchain}/reorg`, { depth: 1, transactions: 'return' })
    if (reorgs % 10 === 9) run.report(`${spans} spans and marks after ${reorgs} reorgs`)
    spans = countOf(await callApi(tenant, 'GET', `/operator/movements/${long}/timeline`))
  }
  await until(isComplete(long), 'the transfer is complete again', patience)
  const document = (id: string) => async () => {
    const startedMs = performance.now()
    await callApi(tenant, 'GET', `/operator/movements/${id}/timeline`)
    return performance.now() - startedMs
  }
  const documents = { plain: document(plain!), long: document(long) }
  await alternateRounds(run.amount(20, 20, 1), documents)
  const busy = measureBusyCores()
  const times = await alternateRounds(run.amount(200, 100, 2), documents)
  const coresBusy = busy()
  return [
    {
      name: 'console: the timeline of a transfer, whole request, p50',
      measured: { value: median(times.plain), unit: 'ms' },
      promise: { max: 15 },
      coresBusy,
    },
    {
      name: `console: that of one with ${spans} spans and marks`,
      measured: { value: median(times.long), unit: 'ms' },
      coresBusy,
    },
    await paintFigure(run, page, { id: long, spans }),
  ]
}

const countOf = ({ lanes }: { lanes: { spans: unknown[]; marks: unknown[] }[] }) =>
  lanes.reduce((sum, { spans, marks }) => sum + spans.length + marks.length, 0)

/** Turns from the list of steps to the bars, all of which are made anew. */
async function paintFigure(
  run: Run,
  page: Page,
  { id, spans }: { id: string; spans: number },
): Promise<Figure> {
  await openPath(page, `/movements/${id}`)
  await untilTrue(page, `document.querySelectorAll('.fall .span, .fall .mark').length > 0`)
  const times: number[] = []
  const busy = measureBusyCores()
  for (let round = 0; round < run.amount(60, 30, 2); round++) {
    await page.keyboard.press('t')
    await page.waitForSelector('ol.steps li')
    times.push(
      await page.evaluate<number>(`new Promise((resolve) => {
        const [button] = [...document.querySelectorAll('main button')].filter((each) => each.textContent.trim() === 'Time')
        const startedMs = performance.now()
        button.click()
        const look = () => {
          if (!document.querySelector('.fall .span')) return requestAnimationFrame(look)
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedMs)))
        }
        look()
      })`),
    )
  }
  return {
    name: `console: ${spans} spans and marks of a timeline, until they are painted`,
    measured: { value: median(times), unit: 'ms' },
    promise: { max: 50 },
    coresBusy: busy(),
  }
}
