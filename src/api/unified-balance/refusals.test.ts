import { randomUUID } from 'node:crypto'
import { toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TransferSpec } from '#chains/crosschain/transfer-spec'
import { sql } from '#runtime/db/db'
import { issuerAccount } from '#sandbox/constants'
import {
  greatest,
  intentOf,
  jsonOfIntent,
  minter,
  people,
  randomWord,
  signedIntent,
  signedSet,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
  word,
} from '#testing/builders/unified-balances'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'

/* What the service must not attest: each request is signed as it is sent, so that only the rule in question refuses it. */
let harness: Harness
let unified: UnifiedBalances
const [alice, bob, carol, dave] = people as unknown as [
  (typeof people)[0],
  (typeof people)[0],
  (typeof people)[0],
  (typeof people)[0],
]

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  unified = unifiedBalances(harness)
  await unified.fund(base(), alice.address, 1_000_000_000n, '1000')
  await unified.fund(base(), bob.address, 10_000_000n, '10')
})
afterAll(() => harness?.close())

const base = () => harness.chain('BASE-SEPOLIA')
const avax = () => harness.chain('AVAX-FUJI')
const spec = (changes: Partial<TransferSpec> = {}) => specOf(base(), avax(), alice.address, changes)
const signed = (changes: Partial<TransferSpec> = {}) => signedIntent(alice, intentOf(spec(changes)))

/** Sends it and checks that nothing was reserved or recorded. */
async function refusal(body: unknown) {
  const counts = () =>
    harness.database.one(sql`select (select count(*) from unified_transfers) as transfers,
      (select count(*) from attestation_signatures) as signatures, (select sum(available) from unified_balances) as sum`)
  const before = await counts()
  const answer = await unified.transfer(body)
  expect(await counts()).toEqual(before)
  return [answer.status, answer.body.code, answer.body.errors?.[0]?.location ?? answer.body.message]
}

describe('property 106: an intent is refused', () => {
  const wrong: Record<string, () => Partial<TransferSpec>> = {
    'sourceContract of a stranger': () => ({ sourceContract: word(bob.address) }),
    'destinationContract of a stranger': () => ({ destinationContract: word(bob.address) }),
    'destinationContract with a dirty upper half': () => ({
      destinationContract: spec().destinationContract.replace('0x00', '0x01') as `0x${string}`,
    }),
    'sourceToken of the other chain': () => ({ sourceToken: word(avax().tokens.USDC) }),
    'sourceToken that is another stablecoin': () => ({ sourceToken: word(base().tokens.EURC) }),
    'destinationToken of the source': () => ({ destinationToken: word(base().tokens.USDC) }),
    'destinationRecipient zero': () => ({ destinationRecipient: `0x${'0'.repeat(64)}` }),
    'destinationCaller of another family': () => ({ destinationCaller: randomWord() }),
    'sourceDepositor of another family': () => ({ sourceDepositor: randomWord() }),
    'value zero': () => ({ value: 0n }),
    'version 2': () => ({ version: 2 }),
  }
  it.each(Object.keys(wrong))('with %s', async (name) => {
    const [field] = name.split(' ')
    expect(await refusal([await signed(wrong[name]!())])).toEqual([400, 2, `[0].burnIntent.spec.${field}`])
  })

  it.each([0, 2, 5, 84532, 0xffff_ffff])(
    'with the domain %i, which this server does not have',
    async (domain) => {
      expect(await refusal([await signed({ sourceDomain: domain })])).toEqual([
        400,
        178002,
        '[0].burnIntent.spec.sourceDomain',
      ])
      expect(await refusal([await signed({ destinationDomain: domain })])).toEqual([
        400,
        178002,
        '[0].burnIntent.spec.destinationDomain',
      ])
    },
  )

  it('names the network of a domain on which there is no unified balance', async () => {
    const { body } = await unified.transfer([await signed({ destinationDomain: 5 })])
    expect(body.message).toContain(
      'destinationDomain is the domain of SOL-DEVNET, on which this version has no unified balance: this server has ',
    )
  })

  it('an intent with numbers that do not fit is refused', async () => {
    const { burnIntent, signature } = await signed()
    const with_ = (changes: object) => [
      { burnIntent: { ...burnIntent, spec: { ...burnIntent.spec, ...changes } }, signature },
    ]
    for (const value of ['-1', '1.5', '1e3', '0x10', ' 1', '01', 5, null])
      expect((await refusal(with_({ value }))).slice(0, 2)).toEqual([400, 2])
    expect((await refusal(with_({ value: String(greatest + 1n) }))).slice(0, 2)).toEqual([400, 2])
    for (const sourceDomain of [2 ** 32, -1, 6.5, '6'])
      expect((await refusal(with_({ sourceDomain }))).slice(0, 2)).toEqual([400, 2])
    for (const salt of ['0x', '0x00', `${spec().salt}00`, 7])
      expect((await refusal(with_({ salt }))).slice(0, 2)).toEqual([400, 2])
  })

  it('by an estimate, too, with a height or a fee that nobody can sign', async () => {
    const { spec: of } = (await signed()).burnIntent
    for (const field of ['maxBlockHeight', 'maxFee'] as const) {
      const above = { spec: of, [field]: String(greatest + 1n) }
      const estimate = (item: object) => unified.http('POST', '/v1/estimate', { body: [item] })
      expect((await estimate(above)).body.errors?.[0].location).toBe(`[0].${field}`)
      expect((await estimate({ intents: [above] })).body.errors?.[0].location).toBe(`[0].intents[0].${field}`)
      expect((await estimate({ ...above, [field]: String(greatest) })).status).toBe(200)
    }
    for (const version of [0, 2]) {
      const answer = await unified.http('POST', '/v1/estimate', { body: [{ spec: { ...of, version } }] })
      expect(answer.body.message).toContain(`[0].spec.version is ${version} and must be 1`)
    }
  })

  it('intents with values whose sum is above 256 bits are refused', async () => {
    const two = [spec({ value: greatest }), spec({ value: greatest })].map((each) => intentOf(each))
    expect((await refusal([await signedSet(alice, two)])).slice(0, 2)).toEqual([400, 2])
    const one = [intentOf(spec({ value: greatest - 1n }), { maxFee: greatest })]
    expect((await refusal([await signedSet(alice, one)])).slice(0, 2)).toEqual([400, 2])
  })

  it('an intent that expires before a withdrawal could end, or pays too little, is refused', async () => {
    const { body } = await unified.http('GET', '/v1/info')
    const { burnIntentExpirationHeight } = body.domains.find(({ domain }: { domain: number }) => domain === 6)
    const least = BigInt(burnIntentExpirationHeight)
    const at = async (maxBlockHeight: bigint) => [
      await signedIntent(alice, intentOf(spec(), { maxBlockHeight })),
    ]
    expect((await refusal(await at(least - 1n)))[2]).toBe('[0].burnIntent.maxBlockHeight')
    expect((await refusal(await at(0n)))[2]).toBe('[0].burnIntent.maxBlockHeight')
    expect((await unified.transfer(await at(least))).status).toBe(201)
    const poor = [await signedIntent(alice, intentOf(spec(), { maxFee: 10_049n }))]
    expect((await refusal(poor))[2]).toBe('[0].burnIntent.maxFee')
  })

  it('an intent that others signed, or that was changed after its signature, is refused', async () => {
    const theirs = intentOf(specOf(base(), avax(), bob.address))
    expect((await refusal([await signedIntent(alice, theirs)])).slice(0, 2)).toEqual([400, 178003])
    const asMine = intentOf(specOf(base(), avax(), bob.address, { sourceSigner: word(alice.address) }))
    expect((await refusal([await signedIntent(alice, asMine)])).slice(0, 2)).toEqual([400, 178003])
    const { burnIntent, signature } = await signed()
    const more = { ...burnIntent, spec: { ...burnIntent.spec, value: '2000000' } }
    expect((await refusal([{ burnIntent: more, signature }])).slice(0, 2)).toEqual([400, 178003])
    for (const bad of ['0x', `0x${'00'.repeat(65)}`, `${signature}00`, `${signature.slice(0, -2)}01`])
      expect((await refusal([{ burnIntent, signature: bad }])).slice(0, 2)).toEqual([400, 178003])
  })

  it('an intent in the name of a contract that is none is refused', async () => {
    const item = { ...(await signed()), contractSigner: true }
    expect((await refusal([item])).slice(0, 2)).toEqual([400, 178004])
    expect((await unified.transfer([{ ...item, contractSigner: false }])).status).toBe(201)
  })

  it('beside its own duplicate, beside too many, or beside another destination', async () => {
    const intent = intentOf(spec())
    expect((await refusal([await signedSet(alice, [intent, intent])])).slice(0, 2)).toEqual([400, 2])
    const item = await signedIntent(alice, intent)
    expect((await refusal([item, item])).slice(0, 2)).toEqual([400, 2])
    const many = Array.from({ length: 17 }, () => intentOf(spec({ value: 1n })))
    expect((await refusal([await signedSet(alice, many)])).slice(0, 2)).toEqual([400, 2])
    const nine = (from: number) => signedSet(alice, many.slice(from, from + 9))
    expect((await refusal([await nine(0), await nine(8)])).slice(0, 2)).toEqual([400, 2])
    const elsewhere = intentOf(specOf(base(), base(), alice.address))
    expect((await refusal([await signedSet(alice, [intentOf(spec()), elsewhere])]))[2]).toBe(
      '[0].burnIntentSet.intents[1].spec.destinationDomain',
    )
    expect((await refusal([])).slice(0, 2)).toEqual([400, 2])
    expect((await refusal([{ signature: item.signature }]))[2]).toBe('[0]')
    expect((await refusal({ ...item }))[0]).toBe(400)
  })

  it('above the balance, with the text that clients parse', async () => {
    const intent = intentOf(specOf(base(), avax(), bob.address, { value: 10_000_000n }))
    const answer = await unified.transfer([await signedIntent(bob, intent)])
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        code: 178001,
        message: `Insufficient balance for depositor ${bob.address.toLowerCase()}: available 10, required 10.0105`,
      },
    ])
  })

  it('an intent that the minter would refuse, because it is paused or has the account on its denylist, is refused', async () => {
    const asIssuer = async (data: string) => {
      await avax().rpc('anvil_impersonateAccount', [issuerAccount.address])
      await unified.send(avax(), issuerAccount.address, minter, data as `0x${string}`)
    }
    const denylist = toFunctionSelector('denylist(address)')
    const dest = word(people[5]!.address)
    await asIssuer(`${denylist}${dest.slice(2)}`)
    expect((await refusal([await signed({ destinationRecipient: dest })]))[2]).toBe(
      '[0].burnIntent.spec.destinationRecipient',
    )
    expect((await refusal([await signed({ destinationCaller: dest })]))[2]).toBe(
      '[0].burnIntent.spec.destinationCaller',
    )
    await asIssuer(toFunctionSelector('pause()'))
    expect((await refusal([await signed()])).slice(0, 2)).toEqual([503, 503])
    await asIssuer(toFunctionSelector('unpause()'))
    expect((await unified.transfer([await signed()])).status).toBe(201)
  })

  it('above the limit of the hour', async () => {
    const { config } = harness.ctx
    const before = config.unifiedHourlyMaxAtomic
    config.unifiedHourlyMaxAtomic = 1n
    const raised = countAlarm('transfer-limit')
    try {
      expect((await refusal([await signed()])).slice(0, 2)).toEqual([400, 178006])
      expect(raised()).toBe(1)
    } finally {
      config.unifiedHourlyMaxAtomic = before
    }
  })
})

describe('property 107: a transfer is attested once', () => {
  it('a repeated request gets the same answer, at once or in another order', async () => {
    const items = [await signed(), await signed()]
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => unified.transfer(index % 2 ? items.toReversed() : items)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    await base().mine(3)
    expect((await unified.transfer(items)).text).toBe(answers[0]!.text)
  })

  it('an attested intent is never attested in another composition', async () => {
    const [one, two] = [intentOf(spec()), intentOf(spec())]
    expect((await unified.transfer([await signedIntent(alice, one)])).status).toBe(201)
    expect(await refusal([await signedSet(alice, [one])])).toEqual([400, 178005, expect.any(String)])
    expect((await refusal([await signedSet(alice, [two, one])]))[1]).toBe(178005)
    expect((await refusal([await signedIntent(alice, { ...one, maxFee: one.maxFee + 1n })]))[1]).toBe(178005)
  })

  it('parallel transfers never take more than the balance', async () => {
    await unified.fund(avax(), carol.address, 10_000_000n, '10')
    const each = await Promise.all(
      Array.from({ length: 20 }, () =>
        signedIntent(carol, intentOf(specOf(avax(), base(), carol.address, { value: 2_000_000n }))),
      ),
    )
    const answers = await Promise.all(each.map((item) => unified.transfer([item])))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
    expect(new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.code))).toEqual(
      new Set([178001]),
    )
    expect(await unified.balance(avax(), carol.address)).toBe('1.9196')
  })
})

describe('property 105: a balance', () => {
  it('is taken back with the block of its deposit, and never spent twice', async () => {
    const taken = await base().snapshot()
    await unified.fund(base(), dave.address, 5_000_000n, '5')
    const spent = await unified.transfer([
      await signedIntent(dave, intentOf(specOf(base(), avax(), dave.address))),
    ])
    expect(spent.status).toBe(201)
    await base().revert(taken)
    await base().mine(6)
    await unified.shows(base(), dave.address, '0')
    const { overdrawn } = await harness.database.one<{ overdrawn: bigint }>(
      sql`select overdrawn from unified_balances where depositor = ${dave.address.toLowerCase()}`,
    )
    expect(overdrawn).toBe(1_010_050n)
    // The next deposit repays what was attested.
    await unified.fund(base(), dave.address, 5_000_000n, '3.98995')
  })

  it('an estimate completes single intents and sets', async () => {
    const { spec: json } = jsonOfIntent(intentOf(spec()))
    const plain = await unified.http('POST', '/v1/estimate', { body: [{ spec: json }] })
    expect(plain.body[0].burnIntent).toMatchObject({ maxFee: '10050', spec: { salt: json.salt } })
    const forwarded = await unified.http('POST', '/v1/estimate?enableForwarder=true', {
      body: [{ intents: [{ spec: json, maxFee: '999999999' }] }],
    })
    expect(forwarded.body).toMatchObject({
      body: [{ burnIntentSet: { intents: [{ maxFee: '999999999' }] } }],
      fees: { total: '0.23005', forwardingFee: '0.22' },
    })
    const { domains } = (await unified.http('GET', '/v1/info')).body
    expect(domains.map(({ domain, chain }: { domain: number; chain: string }) => [domain, chain])).toEqual([
      [1, 'Avalanche'],
      [6, 'Base'],
    ])
    expect((await unified.http('GET', '/v1/transfer/nope')).status).toBe(400)
    const unknown = await unified.http('GET', `/v1/transfer/${randomUUID()}`)
    expect(unknown).toMatchObject({ status: 404, body: { code: 178007 } })
    // Callers have no key, and transfers no entity.
    expect(unknown.body.message).toContain('id matches no transfer of this server')
  })
})
