/** The console of a sandbox whose only chain has no reorgs, long addresses and another unit of fees. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from '#testing/pages/browser'
import { act } from '#testing/pages/console-acts'
import { type ConsoleSandbox, openConsoleSandbox } from '#testing/pages/console-sandbox'

const blockchain = 'APTOS-TESTNET'

let sandbox: ConsoleSandbox
let made: Record<string, string>

beforeAll(async () => {
  if (!chromiumPath) return
  sandbox = await openConsoleSandbox(blockchain)
  const event = 'transaction.complete'
  const { body, text } = await sandbox.program.tenant.http('POST', '/sandbox/triggers', { body: { event } })
  expect(body.data?.made, text).toBeDefined()
  made = Object.fromEntries(body.data.made.map(({ kind, id }: { kind: string; id: string }) => [kind, id]))
  made['batch'] = await payBatch()
})
afterAll(() => sandbox?.close())
afterEach(async () => expect((await sandbox?.closePages()) ?? []).toEqual([]))

/** Pays by the one function that wallets execute, whose signature is longer than a phone is wide. */
async function payBatch(): Promise<string> {
  const { tenant, answer } = sandbox.program
  const { body, text } = await tenant.http('POST', '/v1/w3s/developer/transactions/contractExecution', {
    body: {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await tenant.sealSecret(),
      walletId: made['wallet'],
      contractAddress: '0x1',
      abiFunctionSignature:
        'aptos_account::batch_transfer_fungible_assets(metadata:object::Object<fungible_asset::Metadata>,recipients:vector<address>,amounts:vector<u64>)',
      abiParameters: [answer.chains[0]!.tokens.USDC, [`0x${'6f'.repeat(32)}`], ['250000']],
      feeLevel: 'MEDIUM',
    },
  })
  expect(body.data?.id, text).toBeDefined()
  return body.data.id
}

const inChromium = it.runIf(chromiumPath)

describe('property 236: the console offers on a chain what the chain has, and nothing else', () => {
  inChromium('in the deck, by keys, as triggers, as plans of faults and as accounts', async () => {
    const { page, open, shows } = await sandbox.open()
    await open('/lab/triggers')
    await shows('No chain of this sandbox has reorgs.')
    const buttons = page.locator('main li button')
    expect(await buttons.count()).toBe(11)
    const deck = page.locator('[role=toolbar]')
    expect(await deck.getByText('Mine').count()).toBe(1)
    expect(await deck.getByText('Reorg').count()).toBe(0)
    await page.keyboard.press('?')
    await shows('mine a block on each chain')
    expect(await page.locator('dialog').textContent()).not.toContain('⇧ R')
    await page.keyboard.press('Escape')

    await open(`/movements/${made['transaction']}`)
    await page.click('a:has-text("Break the next one")')
    await shows('Ready-made plans')
    expect(await page.locator('main button:has-text("reorgs")').count()).toBe(0)
    await page.click('main button:text-is("Apply")')
    await shows('The plan is at work.')

    await open('/wallets')
    await page.click('main button:has-text("Create wallets")')
    await page.waitForSelector('dialog select:has(option:text-is("EOA"))')
    expect(await page.locator('dialog option:text-is("SCA")').count()).toBe(0)
  })

  inChromium('pays from a wallet whose first transaction the node forgets, as that plan says', async () => {
    const shown = await sandbox.open()
    const { open, shows } = shown
    await open(`/wallets/${made['wallet']}`)
    await act(shown, 'Transfer', { Token: 'USDC', Amount: '0.25', To: `0x${'5e'.repeat(32)}` })
    await shows('COMPLETE')
    await shows('fault forgotten, hit 1')
  })

  for (const width of [1280, 390])
    inChromium(`fits addresses of 64 digits on a screen of ${width} pixels`, async () => {
      const { page, open, hindrances } = await sandbox.open({ width, height: 844 })
      const paths = [
        `/movements/${made['transaction']}`,
        `/movements/${made['batch']}`,
        `/wallets/${made['wallet']}`,
        '/movements',
      ]
      for (const path of [
        ...paths,
        '/transactions',
        '/wallets',
        '/lab/chains',
        '/lab/triggers',
        '/balances',
      ]) {
        await open(path)
        if (['/lab/triggers', `/movements/${made['batch']}`].includes(path))
          expect(await hindrances(), path).toEqual([])
        const { scrollWidth, clientWidth } = (await page.evaluate('document.documentElement')) as never
        expect(scrollWidth, `${path} is as wide as the screen`).toBe(clientWidth)
      }
    })
})
