/**
 * The tour of a stranger through the console of a sandbox, in the browser alone: from the first start to a transfer that a fault holds
 * up, that is accelerated, undone by a reorg and mined again; a webhook that its endpoint refuses and that is sent again; and back to
 * the state before. The API and the chain are asked only whether it is true.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshAddress } from '#testing/builders/world'
import { chromiumPath } from '#testing/pages/browser'
import { act, dialogClosed, makeFundedWallet } from '#testing/pages/console-acts'
import { type ConsoleSandbox, openConsoleSandbox } from '#testing/pages/console-sandbox'
import { until } from '#testing/platform/until'
import type { Program } from '#testing/processes/program'

let sandbox: ConsoleSandbox
let program: Program

beforeAll(async () => {
  if (!chromiumPath) return
  sandbox = await openConsoleSandbox('BASE-SEPOLIA')
  program = sandbox.program
})
afterAll(() => sandbox?.close())

const call = async (path: string) => (await program.tenant.http('GET', path)).body.data

/** The chain stands still at the next block with a transaction of the address, and the block after that is replaced. */
const planFor = (address: string) => `apiVersion: bezant/v1
seed: 7
rules:
- name: held
  on: chain
  match: { blockchain: BASE-SEPOLIA, address: "${address}" }
  when: { times: 1 }
  do: { pause: true }
- name: undone
  on: chain
  match: { blockchain: BASE-SEPOLIA, address: "${address}" }
  when: { after: 1, times: 1 }
  do: { reorg: { depth: 1, transactions: return } }
`

it.runIf(chromiumPath)(
  'leads a stranger through everything that can happen to a transfer, and back',
  async () => {
    const shown = await sandbox.open()
    const { page, open, shows, when } = shown
    const state = (text: string) => page.waitForSelector(`.head .status:has-text("${text}")`)
    await open('/')
    await shows('Overview')
    await makeFundedWallet(shown, 'payroll')
    const walletPath = new URL(page.url()).pathname.replace('/console', '')
    const { wallet } = await call(`/v1/w3s${walletPath}`)

    await page.click('nav a:text-is("Catcher")')
    await act(shown, 'Subscribe an inbox')
    await shows('receives notifications')
    await page.click('button:text-is("Refuse with 503")')
    await shows('It refuses with 503.')
    await page.keyboard.press('S')
    await shows('Saved as saved-1')

    await page.click('nav a:text-is("Faults")')
    await page.fill('main textarea', planFor(wallet.address))
    await page.click('button:text-is("Apply")')
    await shows('The plan is at work.')
    await page.goto(`${program.answer.url}/console${walletPath}`)
    await act(shown, 'Fund', { Token: 'USDC', Amount: '1' })
    await dialogClosed(shown)
    await until(async () => (await call('/sandbox/chains'))[0].isPaused, 'the fault has stopped the chain')

    const to = freshAddress()
    await act(shown, 'Transfer', { Token: 'USDC', Amount: '12.5', To: to })
    await page.waitForURL('**/console/movements/*')
    const movementUrl = page.url()
    const id = movementUrl.split('/').at(-1)!
    await state('SENT')
    await page.click('nav a:text-is("Local chains")')
    await act(shown, 'Base fee', { Gwei: '500' })
    await shows('The base fee of BASE-SEPOLIA is 500 gwei.')
    await act(shown, 'Mine')
    await shows('1 block mined on BASE-SEPOLIA.')
    await page.goto(movementUrl)
    await state('STUCK')
    await act(shown, 'Accelerate')
    await shows('Attempt 2')
    await page.click('nav a:text-is("Local chains")')
    await act(shown, 'Base fee', { Gwei: '1' })
    await shows('The base fee of BASE-SEPOLIA is 1 gwei.')
    await page.click('main button:has-text("Resume")')
    await shows('BASE-SEPOLIA mines again.')
    await page.goto(movementUrl)
    // It may have been complete in the block that the reorg takes back: the page tells the end once a second block holds it.
    const blockLanes = async () =>
      (await call(`/operator/movements/${id}/timeline`)).lanes.filter(
        ({ kind }: { kind: string }) => kind === 'block',
      )
    await until(async () => (await blockLanes()).length === 2, 'a reorg has undone it, and it is mined again')
    await state('COMPLETE')
    await page.keyboard.press('t')
    await page.waitForSelector('ol.steps li')
    await shows('undone')

    const receiptOf = async () => {
      const { transaction } = await call(`/v1/w3s/transactions/${id}`)
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_getTransactionReceipt',
        params: [transaction.txHash],
      })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(program.answer.chains[0]!.rpcUrl, { method: 'POST', headers, body })
      return ((await answer.json()) as { result: unknown }).result
    }
    // The page, its document and the node name the same block as the one that holds the transfer, and another as lost.
    const receipt = (await receiptOf()) as { status: string; blockHash: string }
    const blocks = await blockLanes()
    const stateOf = ({ note, spans }: { note: string; spans: { state: string }[] }) => [
      note,
      spans.at(-1)?.state,
    ]
    expect(receipt.status).toBe('0x1')
    expect(blocks.map(stateOf)).toEqual([
      [expect.not.stringContaining(receipt.blockHash), 'orphaned'],
      [receipt.blockHash, 'held'],
    ])
    for (const { spans } of blocks) for (const { text } of spans) await shows(text)

    await page.click('nav a:text-is("Notifications")')
    await page.locator('a[data-row]').last().click()
    await page.waitForURL('**/console/notifications/*')
    await shows('503')
    await page.click('nav a:text-is("Catcher")')
    await page.click('button:text-is("Answer 200")')
    await shows('It answers 200.')
    await page.goBack()
    await page.waitForURL('**/console/notifications/*')
    await act(shown, 'Resend')
    await shows('The notification is sent again.')
    await shows('by resend')
    await when(
      `[...document.querySelectorAll('ol.attempts .status')].some((each) => each.textContent.includes('200'))`,
    )

    await page.keyboard.press('Z')
    await shows('saved-1 is restored')
    expect((await program.tenant.http('GET', `/v1/w3s/transactions/${id}`)).status).toBe(404)
    await page.goto(`${program.answer.url}/console${walletPath}`)
    await shows('1,000')
    await page.click('nav a:text-is("Movements")')
    await when(`!document.body.innerText.includes('12.5')`)
    expect(await sandbox.closePages()).toEqual([])
  },
)
