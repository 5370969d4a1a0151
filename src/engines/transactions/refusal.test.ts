import { afterAll, beforeAll, describe, expect } from 'vitest'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { drawnTests } from '#testing/runner/drawn'

let harness: Harness
let on: ReturnType<typeof transferActions>
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  on = transferActions(harness)
  wallet = await on.fundedWallet()
})
afterAll(() => harness?.close())

type Asked = { id: number; method: string; params: string[] }
type Said = 'forward' | 'drop' | object[]

/** Answers sends at the node's published address with `answer`; all other calls are forwarded. */
function onSend(answer: (sends: Asked[]) => Said | Promise<Said>): void {
  harness.chain().intercept(async ({ body }) => {
    const parsed = JSON.parse(body.toString())
    const asked: Asked[] = Array.isArray(parsed) ? parsed : [parsed]
    if (!asked.some(({ method }) => method === 'eth_sendRawTransaction')) return 'forward'
    const given = await answer(asked)
    return typeof given === 'string' ? given : { body: JSON.stringify(given) }
  })
}

const refusal = ({ id }: Asked) => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32000, message: 'exceeds block gas limit' },
})

const busy = ({ id }: Asked) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'busy' } })

/** Refuses the first send of the bytes at this place, and forwards all others one by one. */
function refuseOnce(place: number): string[] {
  const passing = new Set<string>()
  const refused: string[] = []
  let seen = 0
  const passOn = async (one: Asked) => {
    const raw = one.params[0]!
    if (refused.length === 0 && seen++ === place) {
      refused.push(raw)
      return refusal(one)
    }
    passing.add(raw)
    const result = await harness.chain().rpc('eth_sendRawTransaction', [raw])
    return { jsonrpc: '2.0', id: one.id, result }
  }
  onSend(async (asked) => {
    if (asked.every(({ params }) => passing.delete(params[0]!))) return 'forward'
    const answers: object[] = []
    for (const one of asked) answers.push(await passOn(one))
    return answers
  })
  return refused
}

const drawnIt = drawnTests(3, 6)

describe('the answer of a node to a send', () => {
  drawnIt('a definite refusal fails one transfer, and its nonce does not block later ones', async () => {
    await harness.stopEngines()
    const [before, refused, after] = [
      await on.transfer(wallet),
      await on.transfer(wallet),
      await on.transfer(wallet),
    ]
    const bytes = refuseOnce(1)
    harness.startEngines()
    await on.reaches(before, 'COMPLETE')
    expect((await on.reaches(refused, 'FAILED')).errorReason).toBe('GAS_LIMIT_TOO_LOW')
    await on.reaches(after, 'COMPLETE')
    await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
    harness.chain().intercept(undefined)
    expect(bytes).toHaveLength(1)
    const chain = harness.chain()
    await chain.oracle.checkNonces(wallet.address)
    // The middle one moved nothing: it only used the nonce.
    expect(await chain.oracle.transactions(wallet.address)).toHaveLength(3)
    expect(await chain.oracle.transfers({ from: wallet.address, token: chain.tokens.USDC })).toHaveLength(2)
    const kinds = await harness.database.all<{ kind: string }>(
      sql`select kind from attempts where address = ${wallet.address} and state = 'mined' order by nonce`,
    )
    expect(kinds.map(({ kind }) => kind)).toEqual(['original', 'noop', 'original'])
  })

  drawnIt('a price below the base fee fails the transfer with its reason, and delays no other', async () => {
    const cheap = {
      feeLevel: undefined,
      gasLimit: '100000',
      maxFee: '0.000000001',
      priorityFee: '0.000000001',
    }
    const [refused, after] = [await on.transfer(wallet, cheap), await on.transfer(wallet)]
    expect((await on.reaches(refused, 'FAILED')).errorReason).toBe('TRANSACTION_UNDER_PRICE')
    await on.reaches(after, 'COMPLETE')
    await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
    await harness.chain().oracle.checkNonces(wallet.address)
  })

  drawnIt('a new transfer with the same contents is signed with a nonce of its own', async () => {
    const again = {
      destinationAddress: freshAddress(),
      gasLimit: '100000',
      maxFee: '5',
      priorityFee: '1',
      feeLevel: undefined,
    }
    const bytes = refuseOnce(0)
    const first = await on.transfer(wallet, again)
    await on.reaches(first, 'FAILED')
    const second = await on.transfer(wallet, again)
    await on.reaches(second, 'COMPLETE')
    harness.chain().intercept(undefined)
    expect(bytes).toHaveLength(1)
    const attempts = await harness.database.all<{ kind: string; nonce: number }>(
      sql`select kind, nonce from attempts where transaction_id in (${first}, ${second}) order by create_date, id`,
    )
    const nonce = attempts[0]!.nonce
    expect(attempts.map((attempt) => [attempt.kind, attempt.nonce - nonce])).toEqual([
      ['original', 0],
      ['original', 1],
      ['noop', 0],
    ])
    expect((await on.read(first)).state).toBe('FAILED')
    await harness.chain().oracle.checkNonces(wallet.address)
  })

  drawnIt('no answer means maybe sent: the same bytes are sent until a block includes them', async () => {
    const sent: string[] = []
    let dropped = 0
    onSend((asked) => {
      sent.push(...asked.map(({ params }) => params[0]!))
      return ++dropped <= 2 ? 'drop' : 'forward'
    })
    const id = await on.transfer(wallet)
    await on.reaches(id, 'COMPLETE')
    harness.chain().intercept(undefined)
    expect(sent.length).toBeGreaterThanOrEqual(3)
    expect(new Set(sent).size).toBe(1)
  })

  drawnIt(
    'bytes that may have been sent and are refused repeatedly are cancelled, and fail once a block includes that',
    async () => {
      const original = new Set<string>()
      let sends = 0
      onSend((asked) => {
        for (const { params } of asked) if (original.size === 0) original.add(params[0]!)
        if (!asked.some(({ params }) => original.has(params[0]!))) return 'forward'
        return ++sends === 1
          ? 'drop'
          : asked.map((one) => (original.has(one.params[0]!) ? refusal(one) : busy(one)))
      })
      const id = await on.transfer(wallet)
      await until(async () => sends > 1, 'it is refused')
      const behind = await on.transfer(wallet)
      const failed = await on.reaches(id, 'FAILED')
      expect(failed.errorReason).toBe('GAS_LIMIT_TOO_LOW')
      await on.reaches(behind, 'COMPLETE')
      harness.chain().intercept(undefined)
      expect((await on.attemptsOf(id)).map(({ kind, state }) => [kind, state])).toEqual([
        ['original', 'replaced'],
        ['cancel', 'mined'],
      ])
      await harness.chain().oracle.checkNonces(wallet.address)
      await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
    },
  )

  drawnIt('a refusal after a send without an answer decides nothing', async () => {
    let tries = 0
    onSend((asked) => {
      tries += 1
      if (tries === 1) return 'drop'
      if (tries > 3) return 'forward'
      return asked.map(refusal)
    })
    const id = await on.transfer(wallet)
    await until(async () => tries >= 3, 'it is refused twice')
    expect((await on.read(id)).state).not.toBe('FAILED')
    await on.reaches(id, 'COMPLETE')
    harness.chain().intercept(undefined)
    const attempts = await harness.database.all(sql`select 1 from attempts where transaction_id = ${id}`)
    expect(attempts).toHaveLength(1)
  })
})
