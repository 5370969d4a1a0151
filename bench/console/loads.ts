import type { Browser } from 'playwright-core'
import type { Figure } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import type { Run } from '../run.ts'
import { median } from '../statistics.ts'

/** Loads of the first page into a browser that has nothing of it: until something is painted, and until it takes input. */
export async function measureLoads(run: Run, browser: Browser, url: string): Promise<Figure[]> {
  const paints: number[] = []
  const inputs: number[] = []
  const busy = measureBusyCores()
  for (let round = 0; round < run.amount(15, 7, 1); round++) {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${url}/console`)
    await page.waitForSelector('input[type=password]')
    inputs.push(await page.evaluate<number>('performance.now()'))
    paints.push(
      await page.evaluate<number>(
        `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
          .observe({ type: 'paint', buffered: true }))`,
      ),
    )
    await context.close()
  }
  const coresBusy = busy()
  const timed = (name: string, times: number[], max: number): Figure => ({
    name: `console: ${name}, cold, from loopback`,
    measured: { value: median(times), unit: 'ms' },
    promise: { max },
    coresBusy,
  })
  return [timed('first paint', paints, 300), timed('first page takes input', inputs, 1_000)]
}
