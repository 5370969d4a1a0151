import { randomUUID } from 'node:crypto'
import { type AddressBookRecipientRequest, Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { compileResponse } from '#runtime/http/validate'
import {
  freshAddress,
  makeRecipient,
  makeRecipientAddress,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { screenedAddress } from '#testing/requests/review-requests'
import { openWebhookSink, type WebhookSink } from '#testing/servers/webhook-sink'
import { recipientSchema } from './schema.ts'

const path = '/v1/addressBook/recipients'
const hasShape = compileResponse(recipientSchema)
const request = (fields: object = {}) => ({
  idempotencyKey: randomUUID(),
  chain: 'BASE',
  address: freshAddress(),
  metadata: {},
  ...fields,
})

let harness: Harness
let circle: Circle
beforeAll(async () => {
  harness = await openHarness()
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness?.close())

const post = (body: unknown) => harness.http('POST', path, { body })
const create = async (fields: object = {}) => (await post(request(fields))).body.data
const get = async (id: string) => (await harness.http('GET', `${path}/${id}`)).body.data
const list = async (query: string) => {
  const answer = await harness.http('GET', path, { query })
  expect(answer.status, answer.text).toBe(200)
  return (answer.body.data as { id: string }[]).map(({ id }) => id)
}
const untilStatus = (id: string, status: string) =>
  until(async () => (await get(id)).status === status, `${id} is ${status}`)
const eventsOf = async (resourceId: string) =>
  (
    await harness.database.all<{ type: string }>(
      sql`select type from events where resource_id = ${resourceId} order by create_date, id`,
    )
  ).map(({ type }) => type)

describe('a recipient whose address a rule denies', () => {
  it('is denied by its review, and again after a change', async () => {
    const { id } = await create({ address: screenedAddress('8888') })
    await untilStatus(id, 'denied')
    const changed = await harness.http('PATCH', `${path}/${id}`, { body: { metadata: { nickname: 'Eve' } } })
    expect(changed.body.data.status).toBe('denied')
    expect((await eventsOf(id)).filter((type) => type.startsWith('addressBook'))).toEqual([
      'addressBookRecipient.pending',
      'addressBookRecipient.denied',
    ])
  })

  it('is active where the rule only asks for a review: its payouts are screened by themselves', async () => {
    await untilStatus((await create({ address: screenedAddress('7666') })).id, 'active')
  })
})

describe('the address book through the published client', () => {
  it('creates, shows active, changes, lists and deletes a recipient', async () => {
    const address = '0x036CbD53842c5426634e7929541eC2318f3dCF70'.toLowerCase()
    const body = request({ address, metadata: { nickname: 'Ada', email: 'a+b@b.co', bns: 'ada.eth' } })
    const made = await circle.cryptoAddressBook.createAddressBookRecipient(
      body as unknown as AddressBookRecipientRequest,
    )
    expect(made.status).toBe(201)
    const recipient = made.data.data!
    expect(hasShape(recipient)).toBe(true)
    expect(recipient).toEqual({
      id: recipient.id,
      chain: 'BASE',
      address,
      metadata: body.metadata,
      status: 'pending',
      createDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updateDate: recipient.createDate,
    })
    await untilStatus(recipient.id!, 'active')
    const listed = await circle.cryptoAddressBook.listAddressBookRecipients(
      address,
      'BASE' as never,
      'a+b@b.co',
      'active' as never,
    )
    expect(listed.data.data!.map(({ id }) => id)).toEqual([recipient.id])
    const changed = await circle.cryptoAddressBook.modifyAddressBookRecipient(recipient.id!, {
      metadata: { nickname: 'Ada L.' },
    })
    expect(changed.data.data).toMatchObject({
      status: 'pending',
      metadata: { nickname: 'Ada L.', email: 'a+b@b.co', bns: 'ada.eth' },
    })
    await untilStatus(recipient.id!, 'active')
    const gone = await circle.cryptoAddressBook.deleteAddressBookRecipient(recipient.id!)
    expect([gone.status, gone.headers['content-length'], gone.data]).toEqual([200, '0', ''])
    expect(await eventsOf(recipient.id!)).toEqual([
      'recipient.created',
      'addressBookRecipient.pending',
      'addressBookRecipient.active',
      'recipient.updated',
      'addressBookRecipient.pending',
      'addressBookRecipient.active',
      'recipient.deleted',
    ])
  })

  it('answers a repeated create with the current state, which clients poll for active', async () => {
    const body = request({ metadata: { nickname: '', email: '' }, addressTag: '' })
    const first = await post(body)
    expect([first.status, first.body.data.status, first.body.data.metadata]).toEqual([201, 'pending', {}])
    await until(async () => {
      const again = await post(body)
      expect([again.status, again.body.data.id]).toEqual([201, first.body.data.id])
      return again.body.data.status === 'active'
    }, 'the repeated request shows an active recipient')
    await harness.http('DELETE', `${path}/${first.body.data.id}`)
    const afterDeletion = await post(body)
    expect([afterDeletion.status, afterDeletion.body.code]).toEqual([404, 404])
  })
})

describe('POST /v1/addressBook/recipients', () => {
  it('accepts the same address any number of times', async () => {
    const address = freshAddress()
    const made = [await create({ address }), await create({ address })]
    expect(made[0].id).not.toBe(made[1].id)
    expect((await list(`address=${address}`)).sort()).toEqual(made.map(({ id }) => id).sort())
  })

  it.each([
    ['BASE', '0x036CbD53842c5426634e7929541eC2318f3dCF71'.toLowerCase(), undefined],
    ['LINEA', '0x036cbd53842c5426634e7929541ec2318f3dcf7e', undefined],
    ['ZKS', '0x036cbd53842c5426634e7929541ec2318f3dcf7e', undefined],
    ['UNI', '0x036cbd53842c5426634e7929541ec2318f3dcf7e', undefined],
    ['APTOS', `0x${'a1'.repeat(32)}`, undefined],
    ['SUI', `0x${'a1'.repeat(32)}`, undefined],
    ['SOL', 'So11111111111111111111111111111111111111112', undefined],
    ['XLM', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ', 'invoice 7'],
    ['HBAR', '0.0.123', 'invoice 7'],
    ['XRP', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', '7'],
  ])('stores recipients on %s, started or not', async (chain, address, addressTag) => {
    const made = await create({ chain, address, addressTag })
    expect(made).toMatchObject({ chain, address, ...(addressTag && { addressTag }) })
    await untilStatus(made.id, 'active')
  })

  const text = 'x'.repeat(1025)
  it.each([
    ['a chain that left', { chain: 'FLOW' }, 2, 'chain'],
    ['another that left', { chain: 'TRX' }, 2, 'chain'],
    ['the old code of Polygon', { chain: 'MATIC' }, 2, 'chain'],
    ['a chain without payouts', { chain: 'BTC' }, 2, 'chain'],
    ['a wallet blockchain', { chain: 'BASE-SEPOLIA' }, 2, 'chain'],
    ['no chain', { chain: undefined }, 2, 'chain'],
    ['an empty chain', { chain: '' }, 2, 'chain'],
    ['no address', { address: undefined }, 2, 'address'],
    ['an empty address', { address: '' }, 5014, 'address'],
    ['null as text', { address: 'null' }, 5014, 'address'],
    ['a wrong checksum', { address: '0x036cBD53842c5426634e7929541eC2318f3dCF7e' }, 5014, 'address'],
    ['spaces', { address: ' 0x036cbd53842c5426634e7929541ec2318f3dcf7e' }, 5014, 'address'],
    ['a name', { address: 'vitalik.eth' }, 5014, 'address'],
    ['another family', { address: 'So11111111111111111111111111111111111111112' }, 5014, 'address'],
    ['a number', { address: 7 }, 2, 'address'],
    ['the zero address', { address: `0x${'0'.repeat(40)}` }, 5011, 'address'],
    ['a precompile', { address: `0x${'0'.repeat(39)}1` }, 5011, 'address'],
    ['the burn address', { address: `0x${'0'.repeat(36)}dEaD` }, 5011, 'address'],
    ['the token itself', { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }, 5011, 'address'],
    ['a tag where none is used', { addressTag: '7' }, 2, 'addressTag'],
    ['a tag of another type', { addressTag: 7 }, 2, 'addressTag'],
    ['no metadata', { metadata: undefined }, 2, 'metadata'],
    ['null metadata', { metadata: null }, 2, 'metadata'],
    ['text for metadata', { metadata: '' }, 2, 'metadata'],
    ['a long nickname', { metadata: { nickname: text } }, 2, 'metadata.nickname'],
    ['a long email', { metadata: { email: text } }, 2, 'metadata.email'],
    ['a number for bns', { metadata: { bns: 7 } }, 2, 'metadata.bns'],
    ['no key', { idempotencyKey: undefined }, 2, 'idempotencyKey'],
    ['an empty key', { idempotencyKey: '' }, 2, 'idempotencyKey'],
    ['a key that is no UUID', { idempotencyKey: 'once' }, 2, 'idempotencyKey'],
  ])('refuses %s', async (_, fields, code, location) => {
    const { status, body } = await post(request(fields))
    expect([status, body.code]).toEqual([400, code])
    expect(body.errors.map((error: { location: string }) => error.location)).toContain(location)
  })

  it('omits null, empty and unknown fields', async () => {
    const made = await create({
      addressTag: null,
      metadata: { nickname: null, email: '', bns: null, phone: '7' },
      identity: {},
    })
    expect(made).not.toHaveProperty('addressTag')
    expect(made.metadata).toEqual({})
  })

  it('refuses test addresses of Bitcoin-like chains on main networks, and the reverse', async () => {
    const live = await harness.newEntity('LIVE')
    const address = '0.0.123-esxsf'
    const sent = (tenant: { http: Harness['http'] }) =>
      tenant.http('POST', path, { body: request({ chain: 'HBAR', address }) })
    expect((await sent(harness)).body.data.address).toBe('0.0.123')
    expect((await sent(live)).body.code).toBe(5014)
  })
})

describe('GET /v1/addressBook/recipients', () => {
  it('filters by address in any letter case, chain, email and status', async () => {
    const address = freshAddress()
    const email = `${randomUUID()}@example.com`
    const base = await create({ address, metadata: { email } })
    const eth = await create({ address, chain: 'ETH', metadata: { email } })
    await untilStatus(base.id, 'active')
    await untilStatus(eth.id, 'active')
    expect(await list(`address=${address}&chain=BASE`)).toEqual([base.id])
    expect((await list(`email=${encodeURIComponent(email)}`)).sort()).toEqual([base.id, eth.id].sort())
    expect(await list(`email=${email}&status=pending`)).toEqual([])
    expect((await list(`email=${email}&status=active&chain=ETH`)).sort()).toEqual([eth.id])
    expect(await list(`address=${freshAddress()}`)).toEqual([])
    const mixed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const { id } = await create({ address: mixed })
    expect(await list(`address=${mixed}`)).toEqual([id])
  })

  it.each([
    'chain=null',
    'chain=FLOW',
    'status=null',
    'status=a&status=b',
    'status=active&status=pending',
    'address=null',
    'address=0xabc&chain=ETH',
    'email=null',
    'pageSize=null',
    'from=null',
    'pageSize=0',
  ])('refuses %s', async (query) => {
    const { status, body } = await harness.http('GET', path, { query })
    expect([status, [2, 5014].includes(body.code)], query).toEqual([400, true])
    expect(body.errors[0].location).toBe(query.split('=')[0])
  })

  it('answers under doubled slashes and without the version', async () => {
    for (const address of ['//v1/addressBook/recipients', '/addressBook/recipients'])
      expect((await harness.http('GET', address)).status).toBe(200)
  })
})

describe('PATCH and DELETE /v1/addressBook/recipients/{id}', () => {
  it('merges metadata: keeps absent fields, removes empty and null ones', async () => {
    const { id } = await create({ metadata: { nickname: 'Ada', email: 'a@b.co', bns: 'ada.eth' } })
    const patch = async (body: unknown) => (await harness.http('PATCH', `${path}/${id}`, { body })).body.data
    expect((await patch({ metadata: { email: '' } })).metadata).toEqual({ nickname: 'Ada', bns: 'ada.eth' })
    expect((await patch({ metadata: { bns: null, nickname: 'A' } })).metadata).toEqual({ nickname: 'A' })
    await untilStatus(id, 'active')
    const untouched = await patch({ address: freshAddress(), chain: 'ETH', status: 'denied' })
    expect(untouched).toEqual(await get(id))
    expect(untouched.status).toBe('active')
    for (const body of [{}, { metadata: null }]) expect(await patch(body)).toEqual(untouched)
  })

  it.each([
    ['a bare number', '212000'],
    ['a list', '[]'],
    ['text', '"x"'],
    ['a number for a nickname', '{"metadata":{"nickname":1}}'],
  ])('refuses %s as a body', async (_, body) => {
    const { id } = await create()
    const answer = await harness.http('PATCH', `${path}/${id}`, { body })
    expect([answer.status, answer.body.code]).toEqual([400, 2])
  })

  it('answers 404 for a deleted or unknown recipient and refuses a malformed id', async () => {
    const { id } = await create()
    expect((await harness.http('DELETE', `${path}/${id}`)).status).toBe(200)
    for (const unknown of [id, randomUUID()]) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? { body: { metadata: {} } } : {}
        const answer = await harness.http(method, `${path}/${unknown}`, body)
        expect([method, answer.status, answer.body.code]).toEqual([method, 404, 404])
      }
    }
    expect(await list(`pageSize=50`)).not.toContain(id)
    for (const method of ['GET', 'DELETE'])
      expect((await harness.http(method, `${path}/null`)).status).toBe(400)
  })
})

describe('the hold for new recipients', () => {
  it('keeps them inactive for the configured time, also after a change', async () => {
    const held = harness
    held.ctx.config.recipientHoldHours = 24
    const { body } = await held.http('POST', path, { body: request() })
    const { id } = body.data
    const statusOf = async () => (await held.http('GET', `${path}/${id}`)).body.data.status
    const becomes = (status: string) => until(async () => (await statusOf()) === status, status)
    await becomes('inactive')
    held.clock.moveMs(24 * 3_600_000 - 60_000)
    const { body: patched } = await held.http('PATCH', `${path}/${id}`, {
      body: { metadata: { nickname: 'Ada' } },
    })
    expect(patched.data.status).toBe('pending')
    await becomes('inactive')
    held.clock.moveMs(60_000)
    await becomes('active')
    held.ctx.config.recipientHoldHours = 0
  })
})

describe('a notification of a recipient', () => {
  let world: World
  let sink: WebhookSink
  beforeEach(async () => {
    world = worldOf(harness, await harness.newEntity())
    sink = await openWebhookSink()
    await world.call('POST', '/v1/notifications/subscriptions', { endpoint: sink.url })
    await sink.confirm()
    return () => sink.close()
  })

  const shown = () =>
    sink
      .notices('addressBookRecipients')
      .map((notice) => notice['addressBookRecipient'] as Record<string, unknown>)
  const untilShown = (count: number) =>
    until(async () => shown().length >= count, `${count} recipients were notified of`)

  it('is sent for each status, even a short one, as its GET shows it', async () => {
    const { id } = await makeRecipient(world)
    await untilShown(2)
    expect(shown().map(({ status }) => status)).toEqual(['pending', 'active'])
    expect(shown()[1]).toEqual(await world.call('GET', `/v1/addressBook/recipients/${id}`))
    await world.call('PATCH', `/v1/addressBook/recipients/${id}`, { metadata: { nickname: 'Ada L.' } })
    await untilShown(4)
    expect(shown().map(({ status }) => status)).toEqual(['pending', 'active', 'pending', 'active'])
  })

  it('is sent for the verification of a withdrawal address, in the form of a recipient', async () => {
    const { id, address } = await makeRecipientAddress(world)
    await untilShown(2)
    expect(shown().map(({ status }) => status)).toEqual(['pending', 'active'])
    expect(shown()[1]).toMatchObject({
      id,
      address,
      chain: 'BASE',
      metadata: { nickname: 'Our cold wallet' },
    })
  })
})
