import { randomInt, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { insertApiKey, revokeApiKey } from '#runtime/auth/store'
import type { Endpoint } from '#runtime/http/endpoint'
import { bodySchema, querySchema } from '#runtime/http/schemas'
import { type KeyScope, keyScopes } from '#runtime/scope'
import { seededRandom } from '#testing/adversary/seeded-random'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { ownedIds } from '#testing/databases/tables'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type HttpAnswer, httpAs, type Tenant } from '#testing/platform/tenant'
import { addressOf, type SampleRequest } from '#testing/requests/sample-request'
import { sampleRequests } from '#testing/requests/sample-requests'
import { drawnThird } from '#testing/runner/drawn'
import { isDeep } from '#testing/runner/size'

/*
 * No tenant reads or changes resources of another: a foreign id is answered exactly like an unknown one. The matrix is
 * made from the endpoint list, so a new operation is covered once it has sample requests.
 */
const operations = endpoints.map((endpoint) => ({ endpoint, name: `${endpoint.method} ${endpoint.path}` }))
const known = operations.filter(({ name }) => sampleRequests[name])

const random = seededRandom(randomInt(2 ** 31))
/** Number of ids that each reference is asked with: of their resources, and of internal rows. */
const askedEach = isDeep
  ? { resources: Number.POSITIVE_INFINITY, internal: Number.POSITIVE_INFINITY }
  : { resources: 4, internal: 2 }
/** Number of operations asked with a revoked key: all share one key check. */
const revokedEach = isDeep ? Number.POSITIVE_INFINITY : 10

let harness: Harness
let ours: World
let theirs: World
let theirIds: string[]
let theirResourceIds: string[]
let theirAddresses: string[]

beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'],
    config: { requestLog: 'bodies' },
  })
  ours = worldOf(harness, await harness.newEntity())
  theirs = worldOf(harness, await harness.newEntity())
  const [wallet, funded, intent, payment, transfer] = await Promise.all([
    theirs.wallet(),
    theirs.fundedWallet(),
    theirs.paymentIntent(),
    theirs.payment(),
    theirs.transfer(),
  ])
  theirIds = await ownedIds(harness.database, theirs.tenant.entityId, isDeep ? 5 : 1)
  const [account] = await theirs.call('GET', '/operator/accounts')
  const resources = [await theirs.walletSet(), wallet, funded, intent, payment, transfer, account]
  theirResourceIds = [theirs.tenant.entityId, ...resources.map(({ id }) => id)]
  theirAddresses = [wallet.address, funded.address, intent.depositAddress]
})
afterAll(() => harness?.close())

const isWithoutApiKey = ({ auth }: Endpoint<never>) => ['none', 'user', 'member', 'clientKey'].includes(auth)

it('has sample requests for every operation', () => {
  const exempt = /entitySecret$/
  // A stream does not end: its own test reads it.
  const missing = operations.filter(
    ({ name, endpoint }) => !sampleRequests[name] && !exempt.test(name) && !endpoint.streams,
  )
  expect(missing.map(({ name }) => name)).toEqual([])
})

describe.each(drawnThird(known))('$name', ({ endpoint, name }) => {
  it('answers a foreign id in its address as an unknown one, and names the parameter', async () => {
    const names = idParams(endpoint)
    if (names.length === 0) return
    const request = await sampleRequests[name]!.request(ours)
    const ask = async (id: string) =>
      send(endpoint, { ...(await asNew(request)), params: { ...request.params, ...fill(names, id) } })
    const { status, body } = await answersAlike(ask, askedIds(), randomUUID)
    expect([status, locationsOf(body)]).toEqual([404, names])
  })

  it('answers a foreign id or address in its body as an unknown one, and names the field', async () => {
    const request = await sampleRequests[name]!.request(ours)
    for (const field of referenceFields(bodySchema(endpoint) as { properties?: object } | undefined)) {
      // References chosen by the client, stored unchanged.
      if (field === 'refId' || field === 'deviceId' || (field === 'userId' && name === 'POST /v1/w3s/users'))
        continue
      const values = /address/i.test(field) ? theirAddresses : askedIds()
      // A tenant sees an address there once it is in its own address book: a third tenant asks.
      const asker = field === 'address' ? await harness.newEntity() : ours.tenant
      const ask = async (value: string) => send(endpoint, await withBody(request, field, value), asker)
      expectNamed(field, await answersAlike(ask, values, /address/i.test(field) ? freshAddress : randomUUID))
    }
  })

  it('answers a foreign id or address in its query as an unknown one, and names the field', async () => {
    const request = await sampleRequests[name]!.request(ours)
    for (const field of referenceFields(querySchema(endpoint))) {
      const values = /address/i.test(field) ? theirAddresses : askedIds()
      const ask = (value: string) =>
        send(endpoint, { ...request, query: { ...request.query, [field]: value } })
      expectNamed(field, await answersAlike(ask, values, /address/i.test(field) ? freshAddress : randomUUID))
    }
  })

  it('shows nothing of another tenant', async () => {
    if (endpoint.method !== 'GET') return
    // These show the ids and addresses that our own requests named: a third tenant asks.
    const isEcho =
      /^GET (\/operator\/(requests|movements|events)|\/v2\/notifications\/subscriptions\/permissionless)$/.test(
        name,
      )
    const asker = isEcho ? await harness.newEntity() : ours.tenant
    const { text } = await send(endpoint, await sampleRequests[name]!.request(ours), asker)
    for (const secret of [...theirIds, ...theirAddresses]) expect(text.toLowerCase()).not.toContain(secret)
  })
})

it('property 47: every operation declares its scope and refuses keys without it', async () => {
  const tenant = await harness.newEntity()
  const nowMs = harness.clock.nowMs()
  const { entityId } = tenant
  const keyFor = (scopes: KeyScope[]) =>
    harness.database.tx((tx) => insertApiKey(tx, { entityId, environment: 'TEST', scopes, nowMs }))
  const keys = new Map<string, string>()
  for (const scope of keyScopes) {
    const { text } = await keyFor(keyScopes.filter((other) => other !== scope))
    keys.set(scope, text)
  }
  for (const { endpoint, name } of operations) {
    expect([name, endpoint.auth]).toEqual([
      name,
      expect.stringMatching(/^(none|apiKey|clientKey|user|member|operator:(read|write))$/),
    ])
    if (isWithoutApiKey(endpoint)) continue
    const needed = endpoint.auth === 'apiKey' ? 'api' : endpoint.auth
    const ask = httpAs(harness.url, keys.get(needed)!)
    const { status, body } = await ask(endpoint.method, addressOf(endpoint.path))
    expect([name, status, Object.keys(body)]).toEqual([name, 403, ['code', 'message']])
    expect(body.message).toContain(`lacks the scope ${needed}`)
  }
})

it('property 47: a client key opens the operations for pages, and an API key those for servers', async () => {
  const { apiKey, clientKey } = ours.tenant
  for (const { endpoint, name } of operations) {
    if (['none', 'user', 'member'].includes(endpoint.auth)) continue
    const [wrong, words] =
      endpoint.auth === 'clientKey' ? [apiKey, 'needs a client key'] : [clientKey, 'needs an API key']
    const { status, body } = await httpAs(harness.url, wrong)(endpoint.method, addressOf(endpoint.path))
    expect([name, status, body.code, body.message]).toEqual([name, 401, 401, expect.stringContaining(words)])
  }
})

it('refuses a revoked key within about a second in every process', async () => {
  const tenant = await harness.newEntity()
  const keyed = known.filter(({ endpoint }) => !isWithoutApiKey(endpoint))
  const sampled = random.sample(keyed, revokedEach)
  const path = ({ endpoint }: { endpoint: Endpoint<never> }) =>
    addressOf(endpoint.path, { id: randomUUID(), blockchain: 'BASE-SEPOLIA' })
  // A missing user token has the status 401 as well, and a code of its own.
  const ask = async (operation: { endpoint: Endpoint<never> }) =>
    (await tenant.http(operation.endpoint.method, path(operation))).body?.code
  for (const operation of sampled) expect(await ask(operation)).not.toBe(401)
  await harness.database.tx((tx) => revokeApiKey(tx, tenant.apiKey.split(':')[1]!, harness.clock.nowMs()))
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  for (const operation of sampled)
    expect([operation.name, await ask(operation)]).toEqual([operation.name, 401])
})

it('keeps a LIVE key off test blockchains', async () => {
  const live = await harness.newEntity('LIVE')
  expect(live.apiKey).toMatch(/^LIVE_API_KEY:/)
  const world = worldOf(harness, live)
  const { walletSet } = await world.call('POST', '/v1/w3s/developer/walletSets', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await live.sealSecret(),
  })
  const answer = await live.http('POST', '/v1/w3s/developer/wallets', {
    body: {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await live.sealSecret(),
      walletSetId: walletSet.id,
      blockchains: ['BASE-SEPOLIA'],
    },
  })
  expect([answer.status, answer.body.code]).toEqual([400, 156006])
})

function send(
  endpoint: Endpoint<never>,
  request: SampleRequest,
  tenant: Tenant = ours.tenant,
): Promise<HttpAnswer> {
  const { params, query, headers, body } = request
  return tenant.http(endpoint.method, addressOf(endpoint.path, params), {
    ...(headers && { headers }),
    ...(query && { query }),
    ...(body && { body }),
  })
}

/** Ids of their resources, and of their internal rows, such as events and attempts. */
const askedIds = () => [
  ...random.sample(theirResourceIds, askedEach.resources),
  ...random.sample(
    theirIds.filter((id) => !theirResourceIds.includes(id)),
    askedEach.internal,
  ),
]

/** Requests each foreign value, several at once, and an unknown one: the answers must not differ. Returns one of them. */
async function answersAlike(
  ask: (value: string) => Promise<HttpAnswer>,
  foreign: readonly string[],
  makeUnknown: () => string,
): Promise<HttpAnswer> {
  const unknown = makeUnknown()
  const answered = await ask(unknown)
  const expected = normalised(answered, unknown)
  // A block between two answers changes an estimate: then both are requested again.
  const expectAlike = async (value: string, like = expected, triesLeft = 5): Promise<void> => {
    const answer = normalised(await ask(value), value)
    if (isDeepStrictEqual(answer, like)) return
    if (triesLeft === 0) expect(answer, value).toEqual(like)
    await expectAlike(value, normalised(await ask(unknown), unknown), triesLeft - 1)
  }
  const waiting = [...foreign]
  const work = async () => {
    for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) await expectAlike(value)
  }
  await Promise.all(Array.from({ length: 6 }, work))
  return answered
}

const locationsOf = (body: HttpAnswer['body']) =>
  body.errors?.map(({ location }: { location: string }) => location.replace(/\[\d+\]$/, ''))

/** Checks that a 404 names the field. A filter may match nothing, and an optional field may fit no other. */
function expectNamed(field: string, { status, body }: HttpAnswer): void {
  if (status === 404) expect(locationsOf(body)).toEqual([field])
}

/** The request with a fresh key and ciphertext: two requests must differ only in the compared value. */
async function asNew(request: SampleRequest): Promise<SampleRequest> {
  if (!request.body) return request
  const body = structuredClone(request.body)
  if ('idempotencyKey' in body) body['idempotencyKey'] = randomUUID()
  if ('entitySecretCiphertext' in body) body['entitySecretCiphertext'] = await ours.tenant.sealSecret()
  return { ...request, body }
}

async function withBody(request: SampleRequest, field: string, value: string): Promise<SampleRequest> {
  const { body = {}, ...rest } = await asNew({ body: {}, ...request })
  return { ...rest, body: { ...body, [field]: Array.isArray(body[field]) ? [value] : value } }
}

/** The answer without the requested id and all newly generated values. */
function normalised({ status, text }: HttpAnswer, asked: string) {
  const body = text
    .replaceAll(asked, '<asked>')
    .replaceAll(asked.toUpperCase(), '<asked>')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<date>')
    .replaceAll(/0x[0-9a-f]{40}/gi, '<address>')
    .replaceAll(/"challenge":"[\w-]{43}"/g, '<challenge>')
  return { status, body }
}

/** Path parameters that name nothing of a tenant: the number of a chain, and a token of the cross-chain token service. */
const publicIds = new Set(['sourceDomainId', 'tokenId'])
const idParams = ({ params }: Endpoint<never>): string[] =>
  Object.keys(params?.properties ?? {}).filter((name) => /id$/i.test(name) && !publicIds.has(name))
const fill = (names: string[], value: string) => Object.fromEntries(names.map((name) => [name, value]))

/** Fields that can name something: ids and addresses, whatever their schema. */
function referenceFields(schema: { properties?: object } | undefined): string[] {
  // Recipients are public on the chain, where an address with a balance costs less gas than a new one.
  const own = new Set(['idempotencyKey', 'pageAfter', 'pageBefore', 'destinationAddress'])
  return Object.keys(schema?.properties ?? {}).filter(
    (name) => /(id|ids|address|addresses)$/i.test(name) && !own.has(name),
  )
}
