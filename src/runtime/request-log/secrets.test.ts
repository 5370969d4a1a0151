/**
 * Property 165: the request log holds no secret, wherever a client puts it. Every operation gets each kind of secret in every field of
 * its body, as an unknown member, in its path and query and in headers; then all text of the log is searched for it.
 */
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import type { TSchema } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { sql } from '#runtime/db/db'
import { isLogged } from '#runtime/http/log-requests'
import { bodySchema, querySchema, responseSchema } from '#runtime/http/schemas'
import { loggedRequest } from '#testing/builders/logged-requests'
import { freshEmail, logIn, makeUser, sentCode } from '#testing/builders/users'
import { type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { sizeOf } from '#testing/runner/size'
import { keeperOf, redacted } from './keeper.ts'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness({ engines: false, config: { requestLog: 'bodies' } })
  world = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

const logged = endpoints.filter(isLogged)

/** Waits until everything that was sent before is in the log. */
async function untilWritten() {
  const id = randomUUID()
  await world.tenant.http('GET', '/v1/w3s/walletSets', { headers: { 'X-Request-Id': id } })
  await loggedRequest(world, id)
}

const textOfLog = async (): Promise<string> => {
  const { text } = await harness.database.one<{ text: string }>(sql`select
    (select string_agg(r::text, ' ') from requests r) || (select string_agg(b::text, ' ') from request_bodies b) as text`)
  return text
}

const hex = randomBytes(32).toString('hex')
const base58 = '5KJvsngHeMpm884wtkJNzQGaCErckhHJBGFsvd3VyK5qMZXj3hS'
/** Each kind of secret, in the text that a client would send by mistake. */
const secrets: Record<string, string> = {
  'an entity secret': hex,
  'a private key': `0x${randomBytes(32).toString('hex')}`,
  'a private key as a number': BigInt(`0x${hex}`).toString(),
  'an encryption key': randomBytes(32).toString('base64'),
  'an API key': `TEST_API_KEY:${randomBytes(16).toString('hex')}:${randomBytes(16).toString('hex')}`,
  'a token': `eyJhbGciOiJIUzI1NiJ9.${randomBytes(24).toString('base64url')}.${randomBytes(32).toString('base64url')}`,
  'a key of a wallet': base58,
  'an e-mail address': 'ada.lovelace@example.org',
  'a name': 'Ada Lovelace',
  'a passphrase': 'legal winner thank year wave sausage worth useful legal winner thank yellow',
}

type Schema = { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] }

/** Each place gets another kind in each round. */
const rounds = sizeOf('LOGGED_SECRETS', { usual: 3, deep: 10 })
const firstRound = randomInt(10)

/** A value of the shape of a schema, with a secret in every place, and as unknown members. */
function filledWith(schema: Schema | undefined, next: () => string, depth = 0): unknown {
  const branch = schema?.anyOf?.find(({ properties, items }) => properties ?? items)
  const { properties, items } = branch ?? schema ?? {}
  if (depth > 6) return next()
  if (items) return [filledWith(items, next, depth + 1)]
  if (!properties) return next()
  const members = Object.entries(properties).map(([name, member]) => [
    name,
    filledWith(member, next, depth + 1),
  ])
  return { ...Object.fromEntries(members), unknown: next(), [next()]: next(), nested: { pin: [next()] } }
}

describe('property 165: the request log holds no secret', () => {
  it('in any field of any operation', async () => {
    const kinds = Object.values(secrets)
    const asked = new Set<number>()
    for (let round = 0; round < rounds; round++) {
      let place = round + firstRound
      const next = () => kinds[place++ % kinds.length]!
      for (const endpoint of logged) {
        const body = endpoint.body && filledWith(bodySchema(endpoint) as Schema, next)
        const names = Object.keys(querySchema(endpoint)?.properties ?? {})
        const query = Object.fromEntries([...names, 'unknown', next()].map((name) => [name, next()]))
        const path = endpoint.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(next()))
        for (const search of endpoint.method === 'GET' ? [query, {}] : [{}])
          asked.add((await world.tenant.http(endpoint.method, path, { body, query: search })).status)
      }
    }
    await untilWritten()
    expect(asked).toContain(400)
    const text = await textOfLog()
    for (const secret of kinds)
      for (const written of [secret, encodeURIComponent(secret)]) expect(text).not.toContain(written)
  })

  it('in headers, in malformed bodies and in place of ids', async () => {
    for (const secret of Object.values(secrets)) {
      const names = [
        'user-agent',
        'x-request-id',
        'x-user-token',
        'cookie',
        'referer',
        'origin',
        'x-app-info',
      ]
      const more = ['accept', 'accept-encoding', 'idempotency-key', 'x-forwarded-for', `x-${hex}`]
      const headers = Object.fromEntries([...names, ...more].map((name) => [name, secret]))
      const body = { idempotencyKey: secret, name: secret }
      await world.tenant.http('POST', '/v1/w3s/developer/walletSets', { body, headers })
      await world.tenant.http('GET', `/v1/w3s/wallets/${encodeURIComponent(secret)}`, { headers })
      await world.tenant.http('POST', '/v1/w3s/developer/walletSets', { body: `{"name":"${secret}",` })
      await world.tenant.http('POST', '/v1/w3s/developer/walletSets', { body: [secret] })
      await world.tenant.http('POST', '/v1/w3s/developer/walletSets', {
        body: 'x',
        headers: { 'content-type': secret },
      })
    }
    await untilWritten()
    const text = await textOfLog()
    for (const secret of [...Object.values(secrets), hex]) expect(text).not.toContain(secret)
  })

  it('that the server makes: tokens, keys and files of users and of developers', async () => {
    const { tenant } = world
    const ciphertext = await tenant.sealSecret()
    const email = freshEmail()
    const { otp, deviceId: _, ...sent } = await sentCode(world, email)
    const { deviceId: _device, ...session } = await logIn(world)
    const user = await makeUser(world)
    const token = await world.call('POST', '/v1/w3s/users/token', { userId: user.id })
    const made = [sent, session, token]
    const keyed = { idempotencyKey: randomUUID(), entitySecretCiphertext: ciphertext, name: 'Set' }
    const { walletSet } = await world.call('POST', '/v1/w3s/developer/walletSets', keyed)
    const identity = { type: 'individual', name: 'Grace Hopper', addresses: [{ line1: 'Secret Street 1' }] }
    await tenant.http('POST', '/v1/payouts', {
      body: { idempotencyKey: randomUUID(), source: { type: 'wallet', id: '1', identities: [identity] } },
    })
    const texts = made.flatMap((each) => Object.values(each)).filter(isLong)
    expect(texts.length).toBeGreaterThan(4)
    await untilWritten()
    const text = await textOfLog()
    for (const secret of [...texts, ciphertext, tenant.apiKey, tenant.entitySecret, email])
      expect(text).not.toContain(secret)
    expect(text).not.toContain(`"${otp}"`)
    expect(text).not.toMatch(/Hopper|Secret Street/)
    // The ids of the work are there.
    for (const shown of [keyed.idempotencyKey, walletSet.id]) expect(text).toContain(shown)
  })
})

const isLong = (value: unknown): value is string => typeof value === 'string' && value.length > 15

type Named = { name: string; schema: Schema & { type?: string } }

function fieldsIn(schema: Schema, name = ''): Named[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([each, member]) => fieldsIn(member, each))
  const parts = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]
  return [{ name, schema }, ...own, ...parts.flatMap((part) => fieldsIn(part, name))]
}

describe('the allow-list', () => {
  const sides = [
    { side: 'request', schemaOf: bodySchema },
    { side: 'request', schemaOf: querySchema },
    { side: 'answer', schemaOf: responseSchema },
  ] as const
  const fields = logged.flatMap((endpoint) =>
    sides.flatMap(({ side, schemaOf }) => {
      const schema = schemaOf(endpoint) as Schema | undefined
      return schema ? fieldsIn(schema).map((field) => ({ ...field, side })) : []
    }),
  )
  const samples = [
    randomUUID(),
    '12.50',
    `0x${'ab'.repeat(20)}`,
    `0x${'ab'.repeat(32)}`,
    'COMPLETE',
    'MEDIUM',
    5,
    true,
  ]
  const keeps = ({ name, schema, side }: (typeof fields)[number]) =>
    samples.some((value) => keeperOf(schema as TSchema, side, name)(value) === value)

  it('drops every field whose name says that it is a secret, or names a person', () => {
    const words =
      /secret|cipher|passw|token$|otp|apikey|encryptionkey|recovery|e?mail|phone|birth|firstname|lastname|signature/i
    const kept = fields.filter((field) => words.test(field.name) && keeps(field))
    expect(fields.filter(({ name }) => words.test(name)).length).toBeGreaterThan(30)
    expect(kept.map(({ name }) => name)).toEqual([])
  })

  it('drops texts of which the schema says nothing, and shows ids, amounts, addresses and states', () => {
    const keptNames = new Set(fields.filter(keeps).map(({ name }) => name))
    const usual = [
      'id',
      'walletId',
      'amounts',
      'destinationAddress',
      'state',
      'txHash',
      'blockchain',
      'feeLevel',
    ]
    for (const name of usual) expect(keptNames).toContain(name)
    const open = [
      'refId',
      'name',
      'description',
      'callData',
      'memo',
      'nickname',
      'userId',
      'abiJson',
      'identities',
    ]
    for (const name of open) expect(keptNames).not.toContain(name)
    expect(keeperOf({ type: 'string' } as TSchema, 'answer')('text')).toBe(redacted)
  })
})
