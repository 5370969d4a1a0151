import { randomInt, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { TObject } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { type ErrorName, errorKinds } from '#lib/error-kinds'
import type { Endpoint } from '#runtime/http/endpoint'
import { errorsOf } from '#runtime/http/openapi/errors'
import { bodySchema, errorSchema, isListBody, querySchema, responseSchema } from '#runtime/http/schemas'
import { compileResponse } from '#runtime/http/validate'
import { seededRandom } from '#testing/adversary/seeded-random'
import { type World, worldOf } from '#testing/builders/world'
import { ownedIds, type WriteWatch, watchWrites } from '#testing/databases/tables'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { HttpAnswer, HttpOptions } from '#testing/platform/tenant'
import {
  brokenBodies,
  nearObject,
  spoiledOneByOne,
  type Vocabulary,
} from '#testing/requests/hostile-requests'
import { prepareModularRequests } from '#testing/requests/modular-requests'
import { addressOf, type SampleRequest } from '#testing/requests/sample-request'
import { sampleRequests } from '#testing/requests/sample-requests'
import { drawnThird } from '#testing/runner/drawn'
import { sizeOf } from '#testing/runner/size'

/*
 * For any request: no 5xx, no error that the operation does not document, no write by a refused request, and every answer
 * of the documented shape. FUZZ_RUNS, FUZZ_VALUES and FUZZ_BODIES set the number of requests for each operation,
 * FUZZ_SEED repeats a run.
 */
const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
const numRuns = sizeOf('FUZZ_RUNS', { usual: 2, deep: 200 })
const random = seededRandom(seed)
/** Number of values tried in each field, of 64. */
const hostile = { each: sizeOf('FUZZ_VALUES', { usual: 2, deep: 64 }), random }
const tooLong = 'x'.repeat(1_048_577)
const bodies = [...brokenBodies, tooLong]
const bodiesEach = sizeOf('FUZZ_BODIES', { usual: 2, deep: bodies.length })
const otherTypes = [
  'text/plain',
  'application/xml',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
]

/** Errors of paths that no longer are those of the operation. */
const pathErrors: readonly ErrorName[] = ['notFound', 'idNotUuid']

// A stream does not end: its own test asks it for what it refuses.
const operations = endpoints
  .filter(({ streams }) => !streams)
  .map((endpoint) => ({ endpoint, name: `${endpoint.method} ${endpoint.path}` }))

let harness: Harness
let world: World
let vocabulary: Vocabulary
let writes: WriteWatch

beforeAll(async () => {
  console.info(`FUZZ_SEED=${seed} FUZZ_RUNS=${numRuns}`)
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness, await harness.newEntity())
  const [set, wallet, funded, intent, payment, transfer, payee, ownAddress] = await Promise.all([
    world.walletSet(),
    world.wallet(),
    world.fundedWallet(),
    world.paymentIntent(),
    world.payment(),
    world.transfer(),
    world.payee(),
    world.ownAddress(),
    world.paidIntent(),
    world.money(),
    world.collection(),
    world.pictures(),
  ])
  // Not beside the others: both send transactions of the same outside account.
  await prepareModularRequests(world)
  const stranger = worldOf(harness, await harness.newEntity())
  await stranger.wallet()
  const ours = [set, wallet, funded, intent, payment, transfer, payee, ownAddress].map(({ id }) => id)
  const foreign = await ownedIds(harness.database, stranger.tenant.entityId)
  const chain = harness.chain()
  const addresses = [wallet.address, funded.address, intent.depositAddress, chain.outsider, chain.tokens.USDC]
  vocabulary = { texts: [...ours, ...foreign, ...addresses, world.usdcId, chain.blockchain, 'BASE', 'USD'] }
  // From here on only requests write, so that every write is caused by one.
  await harness.stopEngines()
  writes = await watchWrites(harness.connection)
})
afterAll(async () => {
  await writes?.close()
  await harness?.close()
})

describe.each(drawnThird(operations))('$name', ({ endpoint, name }) => {
  const isDocumented = documentedErrors(endpoint)
  const success = responseSchema(endpoint)
  const matchesSuccess = success && compileResponse(success)
  const matchesError = compileResponse(errorSchema)

  const judge = (answer: HttpAnswer, sent: unknown) => {
    const told = `${JSON.stringify(sent)?.slice(0, 1_000)}\n→ ${answer.status} ${answer.text.slice(0, 1_000)}`
    const isTrouble = answer.status === endpoint.troubleStatus
    if (!isTrouble) expect(answer.status, told).toBeLessThan(500)
    expect(answer.headers.get('x-request-id'), told).toBeTruthy()
    if (answer.status >= 400 && !isTrouble) {
      if (!matchesError(answer.body)) expect.fail(`${JSON.stringify(matchesError.errors)}\n${told}`)
      const { code } = answer.body as { code: number }
      if (!isDocumented(answer.status, code)) expect.fail(`an undocumented error\n${told}`)
    } else if (
      answer.text !== '' &&
      matchesSuccess &&
      !matchesSuccess(endpoint.media ? answer.text : answer.body)
    ) {
      expect.fail(`${JSON.stringify(matchesSuccess.errors)}\n${told}`)
    }
  }
  const tryOne = async (path: string, options: HttpOptions) => {
    const before = await writes.mark()
    const answer = await world.tenant.http(endpoint.method, path, options)
    judge(answer, { path, ...options })
    if (answer.status < 400 || sampleRequests[name]?.recordedRefusal?.test(answer.text)) return
    expect(await writes.since(before), `written by ${JSON.stringify(options).slice(0, 500)}`).toEqual({})
  }

  it('answers its sample request as documented', async () => {
    const request = await sampleRequests[name]?.request(world)
    if (!request) return
    const answer = await world.tenant.http(endpoint.method, addressOf(endpoint.path, request.params), {
      ...(request.query && { query: request.query }),
      ...headersOf(request),
      ...(request.body && { body: request.listed ? [request.body] : request.body }),
    })
    judge(answer, request)
    if (answer.status !== endpoint.troubleStatus) expect(answer.status, answer.text).toBeLessThan(300)
  })

  it('handles generated requests', async () => {
    const example = await sampleRequests[name]?.request(world)
    const run = async (request: Generated) => {
      const { path, options } = await finished(endpoint, request, world)
      await tryOne(path, { ...options, ...headersOf(example) })
    }
    await fc.assert(fc.asyncProperty(generated(endpoint, example, vocabulary), run), {
      seed,
      numRuns,
      interruptAfterTimeLimit: 30_000 + numRuns * 50,
      ...(process.env['FUZZ_SEED'] ? {} : { endOnFailure: false }),
    })
  })

  it('handles hostile values in every field', async () => {
    const example = await sampleRequests[name]?.request(world)
    const parts = { params: endpoint.params, query: querySchema(endpoint), body: bodyFields(endpoint) }
    const requests: Generated[] = []
    for (const [part, schema] of Object.entries(parts) as [keyof typeof parts, TObject | undefined][]) {
      if (!schema) continue
      const like = { params: {}, query: {}, body: {}, ...example }
      for (const { path, object } of spoiledOneByOne(like[part], Object.keys(schema.properties), hostile))
        requests.push({
          ...like,
          [part]: object,
          fresh: !/^(idempotencyKey|entitySecretCiphertext)$/.test(path),
        })
    }
    const work = async () => {
      for (let next = requests.pop(); next; next = requests.pop()) {
        const { path, options } = await finished(endpoint, next, world)
        const answer = await world.tenant.http(endpoint.method, path, { ...options, ...headersOf(example) })
        judge(answer, { path, ...options })
      }
    }
    await Promise.all(Array.from({ length: 8 }, work))
  })

  it('handles bodies that are not JSON objects', async () => {
    if (!bodySchema(endpoint)) return
    const example = await sampleRequests[name]?.request(world)
    const path = addressOf(endpoint.path, example?.params)
    for (const body of random.sample(bodies, bodiesEach)) await tryOne(path, { body, ...headersOf(example) })
    for (const type of random.sample(otherTypes, bodiesEach))
      await tryOne(path, { body: '{}', headers: { ...example?.headers, 'content-type': type } })
  })
})

const headersOf = (example: SampleRequest | undefined) => example?.headers && { headers: example.headers }

type Generated = {
  params: Record<string, unknown>
  query: Record<string, unknown>
  body: Record<string, unknown>
  fresh: boolean
}

type AnySchema = Parameters<typeof nearObject>[0]

function generated(
  endpoint: Endpoint<never>,
  example: SampleRequest | undefined,
  words: Vocabulary,
): fc.Arbitrary<Generated> {
  const part = (schema: unknown, like: Record<string, unknown> | undefined) =>
    schema ? nearObject(schema as AnySchema, like, words) : fc.constant({})
  return fc.record({
    params: part(endpoint.params, example?.params),
    query: part(querySchema(endpoint), example && (example.query ?? {})),
    body: part(bodyFields(endpoint), example?.body),
    // Mostly with a valid ciphertext and key, since all other requests are refused early.
    fresh: fc.integer({ min: 0, max: 9 }).map((roll) => roll > 0),
  })
}

/** Builds a request from the generated values; text in the address is encoded, everything else is sent unchanged. */
async function finished(
  endpoint: Endpoint<never>,
  { params, query, body, fresh }: Generated,
  { tenant }: World,
) {
  const names = Object.keys(endpoint.params?.properties ?? {})
  const texts = Object.fromEntries(names.map((name) => [name, textOf(params[name]).slice(0, 2_000) || 'x']))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const item of Array.isArray(value) ? value.slice(0, 20) : [value])
      search.append(name, textOf(item).slice(0, 2_000))
  const full: SampleRequest['body'] = { ...body }
  const properties = bodyFields(endpoint)?.properties ?? {}
  if (fresh && 'idempotencyKey' in properties) full['idempotencyKey'] = randomUUID()
  if (fresh && 'entitySecretCiphertext' in properties)
    full['entitySecretCiphertext'] = await tenant.sealSecret()
  const isList = endpoint.body && isListBody(endpoint.body)
  const options: HttpOptions = {
    query: search,
    ...(endpoint.body && { body: isList ? [full] : full }),
  }
  return { path: addressOf(endpoint.path, wellFormed(texts)), options }
}

/** The fields of a body, or of the items of one that is a list. */
function bodyFields(endpoint: Endpoint<never>): TObject | undefined {
  const body = bodySchema(endpoint)
  return body && isListBody(body) ? (body.items as TObject) : body
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** `encodeURIComponent` throws on half a surrogate pair, so no client can send one in an address. */
const wellFormed = (texts: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, text.replaceAll(/\p{Surrogate}/gu, '?')]),
  )

function documentedErrors(endpoint: Endpoint<never>) {
  const kinds = new Set(
    [...pathErrors, ...errorsOf(endpoint)].map(
      (kind) => `${errorKinds[kind].status} ${errorKinds[kind].code}`,
    ),
  )
  return (status: number, code: number) => kinds.has(`${status} ${code}`)
}
