/** Reads of messages that another service attests, which is a server on this machine here, as its clients see it. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  burner,
  type CrosschainMessages,
  crosschainMessages,
  type Hex,
  wordOf,
} from '#testing/builders/burns'
import { type Harness, openHarness } from '#testing/platform/harness'
import { openReceiver, type Receiver } from '#testing/servers/receiver'

let harness: Harness
let service: Receiver
let messages: CrosschainMessages
beforeAll(async () => {
  service = await openReceiver(async () => undefined, { unref: true })
  const attestationServiceUrl = new URL(service.url).origin
  harness = await openHarness({ config: { attestationServiceUrl } })
  messages = crosschainMessages(harness)
})
afterAll(async () => {
  await harness?.close()
  await service?.close()
})

/** Avalanche, which this server is not connected to, and Base, which it is. */
const [elsewhere, here] = ['1', '6']
const transactionHash: Hex = `0x${'ab'.repeat(32)}`
const nonce: Hex = `0x${'cd'.repeat(32)}`
const key: Hex = `0x04${'11'.repeat(64)}`
const hex = (value: number | bigint, bytes: number) => value.toString(16).padStart(bytes * 2, '0')

/** The bytes of an attested burn of ten coins from a domain. */
const messageFrom = (domain: number): Hex => {
  const account = wordOf(burner).slice(2)
  const header = [hex(1, 4), hex(domain, 4), hex(6, 4), nonce.slice(2), account, account]
  const body = [hex(1, 4), account, account, hex(10_000_000, 32), account, hex(0, 32), hex(0, 32), hex(0, 32)]
  return `0x${[...header, hex(0, 32), hex(2_000, 4), hex(2_000, 4), ...body].join('')}`
}

const shownMessage = {
  message: messageFrom(1),
  eventNonce: nonce,
  attestation: `0x${'22'.repeat(65)}`,
  cctpVersion: 2,
  status: 'complete',
  delayReason: null,
  decodedMessage: { sourceDomain: '99' },
  forwardState: 'PENDING',
}

const answers: Record<string, unknown> = {
  [`GET /v2/messages/1?transactionHash=${transactionHash}`]: { messages: [shownMessage] },
  'GET /v2/publicKeys': { publicKeys: [{ publicKey: key, cctpVersion: 2 }] },
  'GET /v2/burn/USDC/fees/1/6?forward=true': [
    { finalityThreshold: 1000, minimumFee: 1.3, forwardFee: { low: 1, med: 2, high: 3 } },
  ],
  [`POST /v2/reattest/${nonce}`]: { message: 'Asked.', nonce },
}

const send = (response: ServerResponse, body: unknown) =>
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
const wellBehaved = () =>
  service.behave(({ method, path }, response) => {
    const found = answers[`${method} ${path}`]
    if (found === undefined) response.writeHead(404).end()
    else send(response, found)
  })

const find = (domain = elsewhere) => messages.get(`/v2/messages/${domain}`, { transactionHash })
const withoutKey = { authorization: undefined }
const reattest = (given = nonce) => harness.http('POST', `/v2/reattest/${given}`, { headers: withoutKey })

it('messages, keys and fees of other domains come from the service, in the shapes of this interface', async () => {
  wellBehaved()
  const { status, body } = await find()
  expect([status, body.messages]).toMatchObject([
    200,
    [
      {
        message: messageFrom(1),
        attestation: shownMessage.attestation,
        status: 'complete',
        // The fields are those of the bytes, whatever the service says of them.
        decodedMessage: { sourceDomain: '1', decodedMessageBody: { amount: '10000000' } },
        forwardState: 'PENDING',
      },
    ],
  ])
  const unknown = await messages.get(`/v2/messages/${elsewhere}`, { transactionHash: nonce })
  expect([unknown.status, unknown.body.code]).toEqual([404, 404])
  const keys = await messages.get('/v2/publicKeys')
  expect(keys.body.publicKeys.length).toBeGreaterThan(1)
  expect(keys.body.publicKeys.at(-1)).toEqual({ publicKey: key, cctpVersion: 2 })
  const fees = await messages.get('/v2/burn/USDC/fees/1/6', { forward: 'true' })
  expect(fees.body).toEqual([
    { finalityThreshold: 1000, minimumFee: 1.3, forwardFee: { low: 1, med: 2, medium: 2, high: 3 } },
  ])
  expect((await reattest()).body).toEqual({ message: 'Asked.', nonce })
})

it('the service is not asked about domains that this server attests, nor about those that no network has', async () => {
  wellBehaved()
  const before = service.received.length
  expect((await find(here)).status).toBe(404)
  expect((await messages.get('/v2/fastBurn/USDC/allowance')).body.allowance).toBe(1_000_000)
  expect((await messages.get('/v2/messages/4000', { transactionHash })).body.code).toBe(178101)
  expect((await messages.get(`/v2/messages/${elsewhere}`)).status).toBe(400)
  expect(service.received.length).toBe(before)
})

const faults: Record<string, (response: ServerResponse) => unknown> = {
  'an error': (response) => response.writeHead(500).end('{}'),
  'a limit': (response) => response.writeHead(429).end('{}'),
  'a redirect': (response) => response.writeHead(302, { Location: `${service.url}/elsewhere` }).end(),
  'no JSON': (response) => response.writeHead(200).end('<html>'),
  'another shape': (response) => send(response, { messages: 'none' }),
  'a message of another domain': (response) =>
    send(response, { messages: [{ ...shownMessage, message: messageFrom(6) }] }),
  'a message that is none': (response) =>
    send(response, { messages: [{ ...shownMessage, message: '0x12' }] }),
  'an unknown state': (response) => send(response, { messages: [{ ...shownMessage, status: 'done' }] }),
  'no attestation': (response) => send(response, { messages: [{ ...shownMessage, attestation: 'PENDING' }] }),
  'too many messages': (response) => send(response, { messages: Array(101).fill(shownMessage) }),
  'a huge body': (response) => send(response, { messages: [], filler: 'x'.repeat(2_000_000) }),
  'half a body': (response) => {
    response.writeHead(200, { 'Content-Length': '1000' }).write('{"messages":')
    setImmediate(() => response.destroy())
  },
  'an early end': (response) => response.destroy(),
}

it.each(Object.keys(faults))('an answer of the service with %s is one documented refusal', async (name) => {
  service.behave((_, response) => void faults[name]!(response))
  const before = service.received.length
  const { status, body } = await find()
  expect([status, body.code]).toEqual([424, 178105])
  expect(body.message).toContain('The attestation service')
  expect(service.received.length).toBe(before + 1)
})

it('a silent service ends its requests after a while, refuses more than it may have, and delays no others', async () => {
  const silent: ServerResponse[] = []
  service.behave((_, response) => void silent.push(response))
  const waiting = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? find() : reattest()))
  // The requests beyond the limit are refused while the others wait.
  const first = await Promise.race(waiting)
  expect([first.status, first.body.code]).toEqual([424, 178105])
  expect((await find(here)).status).toBe(404)
  const all = await Promise.all(waiting)
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([424]))
  expect(silent.length).toBeLessThanOrEqual(32)
  wellBehaved()
  expect((await find()).status).toBe(200)
})
