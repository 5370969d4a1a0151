/** Two of three attesters sign each message: this server, and two processes with databases, root keys and records of their own. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodeFunctionData } from 'viem'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { attestationProblem, messageDigest } from '#chains/crosschain/attestation'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import {
  confirmedThreshold,
  decodeBurnBody,
  decodeMessage,
  encodeBurnBody,
  encodeMessage,
} from '#chains/crosschain/message'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { attestationKeyInUse, endAttestationKey, listAttestationKeys } from '#custody/installation/index'
import { startIndexer } from '#engines/indexer/index'
import { bytesOf, hexOf } from '#lib/hex'
import { sql } from '#runtime/db/db'
import { alarmCounts } from '#runtime/log/alarms'
import {
  manageAttesters,
  openAttester,
  restartWith,
  setAttesters,
  type TestAttester,
} from '#testing/builders/attesters'
import {
  type CrosschainMessages,
  crosschainMessages,
  domainOf,
  type Hex,
  messageTransmitter,
  type ShownMessage,
  sendCall,
  wordOf,
} from '#testing/builders/burns'
import { forwarded, quoteTransfer, transfer } from '#testing/builders/token-transfers'
import { freshAddress } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { completeMessages } from './complete.ts'
import { messageChains } from './networks.ts'

let harness: Harness
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain
let own: string
let first: TestAttester
let second: TestAttester
const servers: Server[] = []
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  own = (await attestationKeyInUse(harness.database, 'message'))!.address
  const nodes = harness.chains.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl, local: true }))
  const options = { nodes, config: { fastAllowanceAtomic: 1_000_000_000_000n } }
  ;[first, second] = [await openAttester(options), await openAttester(options)]
  await setAttesters(harness, [first, second])
})
afterEach(async () => {
  await restartWith(harness, { attesters: [first.setting, second.setting] })
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})
afterAll(async () => {
  await harness?.close()
  await first?.close()
  await second?.close()
})

const signatureBytes = 65
const proposalsOf = async (hash: string) =>
  harness.database.all<{ digest: string; signatures: number }>(sql`select p.digest,
      (select count(*)::integer from message_signatures s where s.message_id = p.message_id and signature is not null)
        as signatures
    from message_proposals p join messages m on m.id = p.message_id where m.tx_hash = ${hash}`)
const isProposed = (hash: string) =>
  until(async () => (await proposalsOf(hash)).length === 1, 'the message waits for signatures')
const requestOf = ({ eventNonce, message }: ShownMessage, { address }: TestAttester) => ({
  domain: decodeMessage(message).sourceDomain,
  nonce: eventNonce,
  message,
  attester: address,
})
const signedBy = (attester: TestAttester) =>
  attester.database.one<{ count: number }>(sql`select count(*)::integer as count from attestation_signatures`)

it.each([
  ['BASE-SEPOLIA', 'AVAX-FUJI'],
  ['AVAX-FUJI', 'BASE-SEPOLIA'],
])(
  'property 93: two of three attesters sign a burn on %s, and one of their signatures mints nothing',
  async (source, destination) => {
    const [from, into] = [harness.chain(source), harness.chain(destination)]
    const to = freshAddress() as Hex
    const hash = await messages.burn(from, into, { to })
    const message = await messages.attested(from, hash)
    const { attestation } = message
    expect(attestation).toHaveLength(2 + 2 * 2 * signatureBytes)
    const attesters = [own, first.address, second.address] as Hex[]
    expect(
      await attestationProblem({ message: message.message, attestation, attesters, threshold: 2 }),
    ).toBeUndefined()
    const half = 2 + 2 * signatureBytes
    const [low, high] = [attestation.slice(2, half), attestation.slice(half)]
    for (const forged of [low, high, low + low, high + low])
      expect((await messages.deliver(into, { ...message, attestation: `0x${forged}` })).ok).toBe(false)
    expect((await messages.deliver(into, message)).ok).toBe(true)
    expect(await messages.usdcOf(into, to)).toBe(10_000_000n)
    expect(await proposalsOf(hash)).toEqual([])
  },
)

it('property 93: a fast burn is signed by several, and delivered where it asks for that', async () => {
  const to = freshAddress() as Hex
  const options = { to, maxFee: 201_000n, threshold: confirmedThreshold, hookData: forwardHookData }
  const hash = await messages.burn(base, avalanche, options)
  const message = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(message.decodedMessage.finalityThresholdExecuted).toBe('1000')
  expect(await messages.usdcOf(avalanche, to)).toBe(9_799_000n)
  // A further attestation is signed by several, too, and the former one is shown until then.
  const slow = await messages.burn(base, avalanche, { maxFee: 1_000n, threshold: confirmedThreshold })
  const fast = await messages.attested(base, slow)
  expect((await messages.reattest(fast.eventNonce)).status).toBe(200)
  const endless = await messages.messageWhen(
    base,
    slow,
    ({ decodedMessage }) => decodedMessage.decodedMessageBody.expirationBlock === '0',
  )
  expect((await messages.deliver(avalanche, endless)).ok).toBe(true)
})

it('property 93: a fast transfer of EURC, which paid its fees beforehand, is signed by several', async () => {
  const to = freshAddress()
  const amount = 10_000_000n
  const { body } = await quoteTransfer(harness, base, avalanche, forwarded(amount, to, { fast: true }))
  const { signedQuote, feeTotalAmount } = body
  const quoted = { to, amount, signedQuote, value: BigInt(feeTotalAmount), threshold: confirmedThreshold }
  const { hash } = await transfer(base, avalanche, quoted)
  const { attestation } = await messages.messageWhen(base, hash, (shown) => shown.forwardState === 'COMPLETE')
  expect(attestation).toHaveLength(2 + 2 * 2 * signatureBytes)
  expect(await messages.eurcOf(avalanche, to)).toBe(amount)
})

it('shows the keys of all attesters', async () => {
  const { publicKeys } = (await messages.get('/v2/publicKeys')).body
  const shown = publicKeys.map(({ publicKey }: { publicKey: string }) => publicKey)
  const ownKeys = await listAttestationKeys(harness.database, 'message')
  expect(shown).toEqual([
    ...ownKeys.map(({ publicKey }) => hexOf(publicKey)),
    first.setting.publicKey,
    second.setting.publicKey,
  ])
})

it('property 93: an attester signs for the holder of its token only what it has seen itself, by its own rules', async () => {
  const seen = await messages.attested(base, await messages.burn(base, avalanche))
  const fast = await messages.attested(
    base,
    await messages.burn(base, avalanche, { maxFee: 1_000n, threshold: confirmedThreshold }),
  )
  await until(
    async () => (await first.ask(requestOf(seen, first))).status === 200,
    'the attester has seen it',
  )
  await until(async () => (await first.ask(requestOf(fast, first))).status === 200, 'and the fast one')
  const before = await signedBy(first)
  const askWith = async (message: Hex, of = seen) => {
    const { status, body } = await first.ask({ ...requestOf(of, first), message })
    return `${status} ${body.code ?? ''}`
  }
  const refused = '403 178104'
  // One bit of each byte, another one in each run.
  const bytes = bytesOf(seen.message)
  for (const [place, byte] of bytes.entries()) {
    const changed = Buffer.from(bytes)
    changed[place] = byte ^ (1 << Math.floor(Math.random() * 8))
    expect([place, await askWith(hexOf(changed))]).toEqual([place, refused])
  }
  const withBody = (message: Hex, changes: object) => {
    const envelope = decodeMessage(message)
    const body = decodeBurnBody(envelope.messageBody)
    return encodeMessage({ ...envelope, messageBody: encodeBurnBody({ ...body, ...changes }) })
  }
  const { expirationBlock } = decodeBurnBody(decodeMessage(fast.message).messageBody)
  for (const changes of [
    { feeExecuted: 0n },
    { feeExecuted: 999n },
    { feeExecuted: 1_001n },
    { expirationBlock: 0n },
    { expirationBlock: expirationBlock * 2n },
  ])
    expect(await askWith(withBody(fast.message, changes), fast)).toBe(refused)
  // A burn that does not ask for it is not attested before finality.
  const hasty = encodeMessage({ ...decodeMessage(seen.message), finalityThresholdExecuted: 1_000 })
  expect(await askWith(hasty)).toBe(refused)
  for (const text of ['0x', '0x00', `${seen.message}00`] as Hex[]) expect(await askWith(text)).toBe(refused)
  // A message that no block has, under the name of one or under its own.
  const nonce = hexOf(Buffer.alloc(32, 7))
  const invented = encodeMessage({ ...decodeMessage(seen.message), nonce })
  expect(await askWith(invented)).toBe(refused)
  const ask = (changes: object, token?: string) => first.ask({ ...requestOf(seen, first), ...changes }, token)
  const notDue = { status: 409, body: { code: 178_103 } }
  expect(await ask({ nonce, message: invented })).toMatchObject(notDue)
  expect(await ask({ domain: domainOf(avalanche) })).toMatchObject(notDue)
  expect(await ask({ domain: 4_294_967_295 })).toMatchObject({ status: 403, body: { code: 178_104 } })
  expect(await ask({ attester: own })).toMatchObject({ status: 403, body: { code: 178_104 } })
  expect(await ask({ message: 'x' })).toMatchObject({ status: 400 })
  expect(await ask({ message: hexOf(Buffer.alloc(9_000)) })).toMatchObject({ status: 400 })
  expect(await ask({ message: hexOf(Buffer.alloc(60_000)) })).toMatchObject({ status: 413 })
  expect(await ask({}, '')).toMatchObject({ status: 401 })
  expect(await ask({}, second.setting.service.token)).toMatchObject({ status: 401 })
  expect(await ask({}, harness.apiKey)).toMatchObject({ status: 401 })
  expect(await signedBy(first)).toEqual(before)
  // Asked again it gives the same signature, and records nothing more.
  const [one, other] = [await ask({}), await ask({})]
  expect([one.status, other.body]).toEqual([200, one.body])
  expect(await signedBy(first)).toEqual(before)
})

it('property 94: one attester may be away, and with two away messages wait until one is back', async () => {
  const before = alarmCounts().get('attester-away')!
  await first.stop()
  const hash = await messages.burn(base, avalanche)
  expect((await messages.deliver(avalanche, await messages.attested(base, hash))).ok).toBe(true)
  await second.stop()
  const waiting = [await messages.burn(base, avalanche), await messages.burn(avalanche, base)]
  for (const each of waiting) await isProposed(each)
  await until(() => alarmCounts().get('attester-away')! > before, 'the alarm is raised')
  expect((await messages.find(base, waiting[0]!)).body.messages[0]).toMatchObject({
    message: '0x',
    attestation: 'PENDING',
    status: 'pending_confirmations',
    decodedMessage: null,
  })
  const [proposal] = await proposalsOf(waiting[0]!)
  expect(proposal!.signatures).toBe(1)
  const { address } = await harness.database.one<{ address: string }>(sql`select s.attester as address
    from message_signatures s join message_proposals p on p.message_id = s.message_id
    where p.digest = ${proposal!.digest} and s.signature is not null`)
  expect(address).toBe(own)
  await first.start()
  const attested = await messages.attested(base, waiting[0]!)
  expect(messageDigest(attested.message)).toBe(proposal!.digest)
  expect((await messages.deliver(avalanche, attested)).ok).toBe(true)
  expect((await messages.deliver(base, await messages.attested(avalanche, waiting[1]!))).ok).toBe(true)
  await second.start()
})

/** A server in the place of the second attester. */
async function openImpostor(answer: RequestListener): Promise<TestAttester['setting']> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { ...second.setting, service: { url, token: 'impostor' } }
}

const json = (status: number, body: unknown): RequestListener => {
  return (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Answers with the signature that the first attester gives: good, and of another key. */
const withSignatureOfFirst: RequestListener = async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const asked = { ...JSON.parse(Buffer.concat(chunks).toString()), attester: first.address }
  const { status, text } = await first.ask(asked).catch(() => ({ status: 500, text: '' }))
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}

it.each<[string, 'attester-untrue' | 'attester-away' | 'attestation-refused', RequestListener]>([
  ['the signature of another attester', 'attester-untrue', withSignatureOfFirst],
  ['a signature of nothing', 'attester-untrue', json(200, { data: { signature: `0x${'11'.repeat(64)}1b` } })],
  ['no signature', 'attester-untrue', json(200, { data: { signature: 7 } })],
  ['something else than JSON', 'attester-untrue', (_, response) => void response.end('<html>')],
  ['a refusal', 'attestation-refused', json(403, { code: 178_104, message: 'I do not know it.' })],
  ['an error', 'attester-away', json(500, { code: -1, message: 'Broken.' })],
  [
    'an endless answer',
    'attester-away',
    (_, response) => {
      response.writeHead(500)
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', pour)
      }
      pour()
    },
  ],
  ['a broken connection', 'attester-away', (request) => void request.socket.destroy()],
])(
  'property 94: an attester that answers with %s is reported, and harms no message',
  async (_, alarm, answer) => {
    const before = alarmCounts().get(alarm)!
    await restartWith(harness, { attesters: [await openImpostor(answer), first.setting] })
    const hash = await messages.burn(base, avalanche)
    const attested = await messages.attested(base, hash)
    expect((await messages.deliver(avalanche, attested)).ok).toBe(true)
    await first.stop()
    const waiting = await messages.burn(base, avalanche)
    await isProposed(waiting)
    await until(() => alarmCounts().get(alarm)! > before, 'the alarm is raised')
    expect((await proposalsOf(waiting))[0]!.signatures).toBe(1)
    await first.start()
    await messages.attested(base, waiting)
  },
)

it('property 94: a silent attester delays no message that the others sign', async () => {
  const asked = new Set<string>()
  const silent: RequestListener = async (request) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    asked.add(JSON.parse(Buffer.concat(chunks).toString()).nonce)
  }
  await restartWith(harness, { attesters: [await openImpostor(silent), first.setting] })
  const hashes: Hex[] = []
  for (let count = 0; count < 12; count++) hashes.push(await messages.burn(base, avalanche))
  for (const hash of hashes)
    expect((await messages.deliver(avalanche, await messages.attested(base, hash))).ok).toBe(true)
  expect(asked.size).toBeGreaterThan(0)
})

it('property 94: a burn that leaves the chain while it waits for signatures is never attested', async () => {
  await first.stop()
  await second.stop()
  const burnIt = await messages.prepareBurn(base, avalanche)
  const snapshot = await base.snapshot()
  const hash = await burnIt()
  await isProposed(hash)
  const [proposal] = await proposalsOf(hash)
  const raw = await base.rpc<Hex>('eth_getRawTransactionByHash', [hash])
  await base.revert(snapshot)
  await base.mine(2)
  await until(async () => (await messages.find(base, hash)).status === 404, 'the burn is gone')
  expect(await proposalsOf(hash)).toEqual([])
  await first.start()
  await second.start()
  // Later messages are attested, so that this one would have been.
  const data = encodeFunctionData({
    abi: messageTransmitterV2Abi,
    functionName: 'sendMessage',
    args: [domainOf(avalanche), wordOf(base.outsider), wordOf('0x0'), confirmedThreshold, '0x11'],
  })
  await messages.attested(base, (await sendCall(base, messageTransmitter, data, base.outsider)).hash)
  expect((await messages.find(base, hash)).status).toBe(404)
  // Mined again, it is proposed again, and attested once.
  expect(await base.rpc('eth_sendRawTransaction', [raw])).toBe(hash)
  const message = await messages.attested(base, hash)
  expect(messageDigest(message.message)).toBe(proposal!.digest)
  expect((await messages.deliver(avalanche, message)).ok).toBe(true)
})

it('property 94: a burn that left the chain just before its last signature is not completed', async () => {
  await restartWith(harness, { attesters: [{ publicKey: first.setting.publicKey }] })
  const burnIt = await messages.prepareBurn(base, avalanche)
  const snapshot = await base.snapshot()
  const hash = await burnIt()
  await isProposed(hash)
  const open = await harness.database.one<{ id: string; blockHash: string; nonce: Hex; message: Hex }>(
    sql`select m.id, m.block_hash, m.nonce, p.attested_message as message
      from message_proposals p join messages m on m.id = p.message_id where m.tx_hash = ${hash}`,
  )
  let signature: Hex | undefined
  await until(async () => {
    const { body } = await first.ask(requestOf({ eventNonce: open.nonce, message: open.message }, first))
    signature = body.data?.signature
    return signature !== undefined
  }, 'the attester signs')
  await harness.stopEngines()
  await harness.database.run(sql`insert into message_signatures (message_id, attester, signature, ask_date, tries)
    values (${open.id}, ${first.address}, ${signature}, now(), 1)`)
  await base.revert(snapshot)
  await base.mine(2)
  // The indexer has undone the block, and the messages have not followed yet.
  const indexer = startIndexer(harness.ctx)
  await until(
    async () =>
      (await harness.database.maybe(
        sql`select from blocks where hash = ${open.blockHash} and not canonical`,
      )) !== undefined,
    'the block is orphaned',
  )
  const chain = messageChains(harness.ctx).find(({ blockchain }) => blockchain === base.blockchain)!
  expect(await completeMessages(harness.ctx, chain)).toBe(false)
  expect((await messages.find(base, hash)).body.messages[0]).toMatchObject({ attestation: 'PENDING' })
  await indexer.stop()
  harness.startEngines()
  await until(async () => (await messages.find(base, hash)).status === 404, 'the burn is gone')
})

it('property 94: what an attester signed before it was removed attests nothing', async () => {
  await second.stop()
  const earlier = await messages.burn(base, avalanche)
  const undelivered = await messages.attested(base, earlier)
  expect((await messages.reattest(undelivered.eventNonce)).body.message).toContain('has no end')
  await restartWith(harness, { attestationThreshold: 3 })
  const hash = await messages.burn(base, avalanche)
  await until(
    async () => (await proposalsOf(hash))[0]?.signatures === 2,
    'this server and the first attester have signed',
  )
  await restartWith(harness, { attesters: [second.setting], attestationThreshold: 2 })
  for (const chain of harness.chains) await manageAttesters(chain, 'disableAttester', first.address)
  // A later message waits, too, so that this one has been considered.
  await isProposed(await messages.burn(base, avalanche))
  const chain = messageChains(harness.ctx).find(({ blockchain }) => blockchain === base.blockchain)!
  expect(await completeMessages(harness.ctx, chain)).toBe(false)
  expect((await messages.find(base, hash)).body.messages[0]).toMatchObject({ attestation: 'PENDING' })
  await second.start()
  expect((await messages.deliver(avalanche, await messages.attested(base, hash))).ok).toBe(true)
  // One that was complete is attested again on request, and only once.
  expect((await messages.deliver(avalanche, undelivered)).ok).toBe(false)
  const { eventNonce } = undelivered
  expect((await messages.reattest(eventNonce)).body.message).toContain('attested again')
  const renewed = await messages.messageWhen(
    base,
    earlier,
    ({ attestation }) => attestation !== undelivered.attestation,
  )
  expect((await messages.reattest(eventNonce)).body.message).toContain('has no end')
  expect((await messages.deliver(avalanche, renewed)).ok).toBe(true)
  for (const chain of harness.chains) await manageAttesters(chain, 'enableAttester', first.address)
})

it('property 94: the key of an attester is replaced while messages flow', async () => {
  const burned: Hex[] = []
  let flows = true
  const flow = (async () => {
    while (flows) burned.push(await messages.burn(base, avalanche))
  })()
  const some = async () => {
    const count = burned.length + 2
    await until(() => burned.length >= count, 'messages flow')
  }
  // Without the second attester, each message needs the key that is replaced.
  await second.stop()
  await some()
  const next = await first.newKey()
  for (const chain of harness.chains) await manageAttesters(chain, 'enableAttester', next.address)
  await some()
  const { address: _, ...setting } = next
  await restartWith(harness, { attesters: [setting, second.setting, { publicKey: first.setting.publicKey }] })
  await some()
  const keys = await listAttestationKeys(first.database, 'message')
  const former = keys.find(({ address }) => address === first.address)!
  await endAttestationKey({ ...first.ctx, db: first.database }, former.id)
  await some()
  flows = false
  await flow
  const attested: ShownMessage[] = []
  for (const hash of burned) attested.push(await messages.attested(base, hash))
  for (const message of attested) expect((await messages.deliver(avalanche, message)).ok).toBe(true)
  for (const chain of harness.chains) await manageAttesters(chain, 'disableAttester', first.address)
  const last = await messages.attested(base, await messages.burn(base, avalanche))
  expect((await messages.deliver(avalanche, last)).ok).toBe(true)
  const shown = JSON.stringify((await messages.get('/v2/publicKeys')).body)
  for (const key of [first.setting.publicKey, setting.publicKey]) expect(shown).toContain(key)
  await second.start()
  Object.assign(first, { address: next.address, setting })
})
