import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { balancesOf } from '#engines/ledger/index'
import { sql } from '#runtime/db/db'
import { freshAddress, until, type Wallet, type World, worldOf } from '../../../testing/builders.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { findTransaction } from './index.ts'

let harness: Harness
let world: World
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await world.fundedWallet()
})
afterAll(() => harness?.close())

async function transfer(changes: Record<string, unknown> = {}): Promise<string> {
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/transfer', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletId: wallet.id,
    tokenId: world.usdcId,
    destinationAddress: freshAddress(),
    amounts: ['0.5'],
    feeLevel: 'MEDIUM',
    ...changes,
  })
  return id
}

const read = async (id: string) => (await findTransaction(harness.database, harness.entityId, id))!

async function reaches(id: string, state: string) {
  await until(async () => (await read(id)).state === state, `transaction ${id} is ${state}`)
  return read(id)
}

const heldNow = async () =>
  (await balancesOf(harness.database, harness.entityId, wallet.blockchain, [wallet.address])).reduce(
    (sum, row) => sum + row.heldAtomic,
    0n,
  )

type Asked = { id: number; method: string; params: string[] }
type Said = 'forward' | 'drop' | object[]

/** The node's published address answers sends in its own way; everything else goes through. */
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

/** Refuses the first sending of the bytes at this place, and passes on everything else by itself. */
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

describe('what a node says to a send', () => {
  it('a certain refusal fails one transfer, and the nonce it leaves does not hold up those behind it', async () => {
    await harness.stopEngines()
    const [before, refused, after] = [await transfer(), await transfer(), await transfer()]
    const bytes = refuseOnce(1)
    harness.startEngines()
    await reaches(before, 'COMPLETE')
    expect((await reaches(refused, 'FAILED')).errorReason).toBe('GAS_LIMIT_TOO_LOW')
    await reaches(after, 'COMPLETE')
    await until(async () => (await heldNow()) === 0n, 'nothing is held')
    harness.chain().intercept(undefined)
    expect(bytes).toHaveLength(1)
    const chain = harness.chain()
    await chain.oracle.checkNonces(wallet.address)
    // The one in the middle moved nothing: it only used the nonce.
    expect(await chain.oracle.transactions(wallet.address)).toHaveLength(3)
    expect(await chain.oracle.transfers({ from: wallet.address, token: chain.tokens.USDC })).toHaveLength(2)
    const kinds = await harness.database.all<{ kind: string }>(
      sql`select kind from attempts where address = ${wallet.address} and state = 'mined' order by nonce`,
    )
    expect(kinds.map(({ kind }) => kind)).toEqual(['original', 'filler', 'original'])
  })

  it('a price below that of the block fails the transfer with its reason, and holds up nobody', async () => {
    const cheap = {
      feeLevel: undefined,
      gasLimit: '100000',
      maxFee: '0.000000001',
      priorityFee: '0.000000001',
    }
    const [refused, after] = [await transfer(cheap), await transfer()]
    expect((await reaches(refused, 'FAILED')).errorReason).toBe('TRANSACTION_UNDER_PRICE')
    await reaches(after, 'COMPLETE')
    await until(async () => (await heldNow()) === 0n, 'nothing is held')
    await harness.chain().oracle.checkNonces(wallet.address)
  })

  it('the same request again signs other bytes, with a nonce of its own', async () => {
    const again = {
      destinationAddress: freshAddress(),
      gasLimit: '100000',
      maxFee: '5',
      priorityFee: '1',
      feeLevel: undefined,
    }
    const bytes = refuseOnce(0)
    const first = await transfer(again)
    await reaches(first, 'FAILED')
    const second = await transfer(again)
    await reaches(second, 'COMPLETE')
    harness.chain().intercept(undefined)
    expect(bytes).toHaveLength(1)
    const attempts = await harness.database.all<{ kind: string; nonce: number }>(
      sql`select kind, nonce from attempts where transaction_id in (${first}, ${second}) order by create_date, id`,
    )
    const nonce = attempts[0]!.nonce
    expect(attempts.map((attempt) => [attempt.kind, attempt.nonce - nonce])).toEqual([
      ['original', 0],
      ['original', 1],
      ['filler', 0],
    ])
    expect((await read(first)).state).toBe('FAILED')
    await harness.chain().oracle.checkNonces(wallet.address)
  })

  it('no answer means maybe sent: the same bytes go again until a block holds them', async () => {
    const sent: string[] = []
    let dropped = 0
    onSend((asked) => {
      sent.push(...asked.map(({ params }) => params[0]!))
      return ++dropped <= 2 ? 'drop' : 'forward'
    })
    const id = await transfer()
    await reaches(id, 'COMPLETE')
    harness.chain().intercept(undefined)
    expect(sent.length).toBeGreaterThanOrEqual(3)
    expect(new Set(sent).size).toBe(1)
  })

  it('a refusal after an unheard send concludes nothing', async () => {
    let tries = 0
    onSend((asked) => {
      tries += 1
      if (tries === 1) return 'drop'
      if (tries > 3) return 'forward'
      return asked.map(refusal)
    })
    const id = await transfer()
    await until(async () => tries >= 3, 'it is refused twice')
    expect((await read(id)).state).not.toBe('FAILED')
    await reaches(id, 'COMPLETE')
    harness.chain().intercept(undefined)
    const attempts = await harness.database.all(sql`select 1 from attempts where transaction_id = ${id}`)
    expect(attempts).toHaveLength(1)
  })
})
