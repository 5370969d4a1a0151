import { randomUUID } from 'node:crypto'
import { type BusinessRecipientAddressCreationRequest, Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { compileResponse } from '#runtime/http/validate'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { recipientAddressSchema } from './schema.ts'

const path = '/v1/businessAccount/wallets/addresses/recipient'
const hasShape = compileResponse(recipientAddressSchema)
const request = (fields: object = {}) => ({
  idempotencyKey: randomUUID(),
  chain: 'BASE',
  address: freshAddress(),
  description: 'Our cold wallet',
  ...fields,
})
const place = { line1: '1 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
const business = { type: 'business', businessName: 'Exemplaire SARL', addresses: [place] }

let harness: Harness
let circle: Circle
beforeAll(async () => {
  harness = await openHarness()
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness?.close())

const post = (body: unknown, from: { http: Harness['http'] } = harness) => from.http('POST', path, { body })
const create = async (fields: object = {}) => (await post(request(fields))).body.data
const listed = async (from: { http: Harness['http'] } = harness) =>
  (await from.http('GET', path)).body.data as { id: string; status: string }[]
const untilListed = (id: string, status: string, from: { http: Harness['http'] } = harness) =>
  until(async () => (await listed(from)).some((row) => row.id === id && row.status === status), status)

it('stores, verifies, lists and deletes an address through the published client', async () => {
  const body = request({ chain: 'LINEA', currency: 'USD' })
  const made = await circle.addresses.createBusinessRecipientAddress(
    body as unknown as BusinessRecipientAddressCreationRequest,
  )
  expect(made.status).toBe(200)
  const stored = made.data.data!
  expect(hasShape(stored)).toBe(true)
  const { idempotencyKey: _, ...given } = body
  expect(stored).toMatchObject({ ...given, status: 'pending_verification' })
  expect(stored).not.toHaveProperty('addressTag')
  await untilListed(stored.id!, 'active')
  const replay = await post(body)
  expect([replay.status, replay.body.data.id, replay.body.data.status]).toEqual([200, stored.id, 'active'])
  const list = await circle.addresses.listBusinessRecipientAddresses(
    undefined,
    undefined,
    undefined,
    undefined,
    5,
  )
  expect(list.data.data!.map(({ id }) => id)).toContain(stored.id)
  const gone = await circle.addresses.deleteBusinessRecipientAddress(stored.id!)
  expect([gone.status, gone.headers['content-length']]).toEqual([200, '0'])
  expect((await listed()).map(({ id }) => id)).not.toContain(stored.id)
  const events = await harness.database.all<{ type: string }>(
    sql`select type from events where resource_id = ${stored.id!} order by create_date, id`,
  )
  expect(events.map(({ type }) => type)).toEqual([
    'recipientAddress.created',
    'addressBookRecipient.pending',
    'addressBookRecipient.active',
    'recipientAddress.deleted',
  ])
})

describe('POST /v1/businessAccount/wallets/addresses/recipient', () => {
  it('stores an address once per currency and tag, and again after its deletion', async () => {
    const address = freshAddress()
    const { id } = await create({ address })
    const eur = await create({ address, currency: 'EUR' })
    expect(eur.currency).toBe('EUR')
    const checksummed = await post(request({ address, currency: '' }))
    expect([checksummed.status, checksummed.body.code]).toEqual([400, 2003])
    expect((await post(request({ address, chain: 'ETH' }))).status).toBe(200)
    expect((await harness.http('DELETE', `${path}/${id}`)).status).toBe(200)
    expect((await post(request({ address }))).status).toBe(200)
    const shared = { chain: 'XLM', address: 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ' }
    for (const [addressTag, status] of [
      ['1', 200],
      ['2', 200],
      ['1', 400],
      ['', 200],
      [null, 400],
    ])
      expect((await post(request({ ...shared, addressTag }))).status).toBe(status)
  })

  it('stores an address once for many concurrent requests', async () => {
    const address = freshAddress()
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(request({ address }))))
    const codes = answers.map(({ status, body }) => (status === 200 ? 200 : body.code)).sort()
    expect(codes).toEqual([200, ...Array(11).fill(2003)])
  })

  it('accepts every chain with its default currency', async () => {
    const btc = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'
    expect((await create({ chain: 'BTC', address: btc })).currency).toBe('BTC')
    expect((await create({ chain: 'XDC', address: `xdc${freshAddress().slice(2)}` })).currency).toBe('USD')
    expect((await create({ chain: 'SUI', address: `0x${'b2'.repeat(32)}` })).currency).toBe('USD')
  })

  it.each([
    ['a chain that left', { chain: 'FLOW' }, 2, 'chain'],
    ['an address of another chain', { chain: 'ALGO' }, 5014, 'address'],
    ['an empty address', { address: '' }, 5014, 'address'],
    ['the zero address', { address: `0x${'0'.repeat(40)}` }, 5011, 'address'],
    [
      'dollars on Bitcoin',
      { chain: 'BTC', address: 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', currency: 'USD' },
      5015,
      'currency',
    ],
    ['ether', { currency: 'ETH' }, 5015, 'currency'],
    ['a currency nobody knows', { currency: 'GBP' }, 2, 'currency'],
    ['no description', { description: undefined }, 2, 'description'],
    ['an empty description', { description: '' }, 2, 'description'],
    ['a tag where none is used', { addressTag: '7' }, 2, 'addressTag'],
    ['a third type of identity', { identity: { ...business, type: 'estate' } }, 5000, 'identity.type'],
    ['an empty type', { identity: { ...business, type: '' } }, 5000, 'identity.type'],
    ['no type', { identity: { name: 'x' } }, 2, 'identity.type'],
    [
      'no name',
      { identity: { type: 'individual', firstName: 'Ada', lastName: '' } },
      2,
      'identity.firstName',
    ],
    [
      'a business without name',
      { identity: { type: 'business', firstName: 'A', lastName: 'L' } },
      2,
      'identity.businessName',
    ],
    [
      'a country by name',
      { identity: { ...business, addresses: [{ ...place, country: 'France' }] } },
      1101,
      'identity.addresses[0].country',
    ],
    [
      'a country in small letters',
      { identity: { ...business, addresses: [{ ...place, country: 'fr' }] } },
      1101,
      'identity.addresses[0].country',
    ],
    [
      'a country that is none',
      { identity: { ...business, business: { countryOfIncorporation: 'XX' } } },
      1101,
      'identity.business.countryOfIncorporation',
    ],
    [
      'a district by name',
      { identity: { ...business, addresses: [{ ...place, country: 'US', district: 'Texas' }] } },
      1106,
      'identity.addresses[0].district',
    ],
    [
      'no city',
      { identity: { ...business, addresses: [{ ...place, city: undefined }] } },
      2,
      'identity.addresses[0].city',
    ],
    [
      'a long postal code',
      { identity: { ...business, addresses: [{ ...place, postalCode: '1'.repeat(17) }] } },
      2,
      'identity.addresses[0].postalCode',
    ],
    ['an ownership of nobody', { ownership: { type: 'zeroth_party' } }, 2, 'ownership.type'],
  ])('refuses %s', async (_, fields, code, location) => {
    const { status, body } = await post(request(fields))
    expect([status, body.code], JSON.stringify(body)).toEqual([400, code])
    expect(body.errors.map((error: { location: string }) => error.location)).toContain(location)
  })

  it.each([
    ['a French business', business],
    [
      'a person',
      {
        type: 'individual',
        firstName: 'Ada',
        lastName: 'Lovelace',
        individual: { nationality: 'FR', country: 'US', district: 'TX', dateOfBirth: '1815-12-10' },
      },
    ],
    ['a name in one', { type: 'individual', name: 'Ada Lovelace', firstName: '', lei: null }],
  ])('stores an identity without showing it: %s', async (_, identity) => {
    const stored = await create({ identity, ownership: { type: 'first_party' } })
    expect(hasShape(stored)).toBe(true)
    expect(JSON.stringify(stored)).not.toMatch(/identity|SARL|Lovelace/)
    await untilListed(stored.id, 'active')
  })
})

it('DELETE answers 404 for deleted and foreign addresses', async () => {
  const { id } = await create()
  const other = await harness.newEntity()
  expect((await other.http('DELETE', `${path}/${id}`)).status).toBe(404)
  expect((await harness.http('DELETE', `${path}/${id}`)).status).toBe(200)
  expect((await harness.http('DELETE', `${path}/${id}`)).status).toBe(404)
  expect((await harness.http('GET', `${path}/${id}`)).status).toBe(404)
})

it('an entity of France can use an address with an identity, after the hold', async () => {
  const french = await openHarness({ config: { entityCountry: 'FR', recipientHoldHours: 24 } })
  const unknown = (await post(request(), french)).body.data
  const known = (await post(request({ identity: business }), french)).body.data
  expect(known.status).toBe('pending_verification')
  await untilListed(known.id, 'verification_succeeded', french)
  const held = await french.http('DELETE', `${path}/${known.id}`)
  expect([held.status, held.body.code]).toEqual([400, 400])
  french.clock.moveMs(24 * 3_600_000)
  await untilListed(known.id, 'active', french)
  expect((await listed(french)).map(({ id }) => id)).toEqual([known.id])
  expect((await french.http('DELETE', `${path}/${unknown.id}`)).status).toBe(200)
  await french.close()
})
