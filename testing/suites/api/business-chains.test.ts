/** Chain codes of the business account: the lists of every operation, and those on which it receives and pays nothing. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { makeActiveAddress, makeActiveRecipient, type World, worldOf } from '#testing/builders/world'
import { openLocalAptos } from '#testing/nodes/local-aptos'
import { type Harness, openHarness } from '#testing/platform/harness'

/**
 * Copied from the reference, Monad with the chains of November 2025 and others with those of 2026, beside PLASMA and XLAYER of our own
 * (decision 159): the code under test makes its lists otherwise.
 */
const general =
  'ALGO APTOS ARB ARC AVAX BASE BTC CELO CODEX CRONOS EDGE ETH HBAR HYPEREVM INJECTIVE INK LINEA MONAD MORPH NEAR NOBLE OP PAH PHAROS PLASMA PLUME POLY SEI SOL SONIC SUI UNI WORLDCHAIN XDC XLAYER XLM XRP ZKS ZKSYNC'
const addressBook =
  'ALGO APTOS ARB ARC AVAX BASE CELO CODEX CRONOS EDGE ETH HBAR HYPEREVM INJECTIVE INK LINEA MONAD MORPH NEAR NOBLE OP PAH PHAROS PLASMA PLUME POLY SEI SOL SONIC SUI UNI WORLDCHAIN XDC XLAYER XLM XRP ZKS'

// biome-ignore lint/suspicious/noExplicitAny: a document of any depth
type Document = any

describe('property 233: the lists of chains', () => {
  const document = async (): Promise<Document> => JSON.parse(await readFile('openapi.json', 'utf8'))

  it('are one of two in each operation of the business account, and say what the reference says', async () => {
    const { paths, components } = await document()
    const { Chain, AddressBookChain } = components.schemas
    expect([Chain.enum.join(' '), AddressBookChain.enum.join(' ')]).toEqual([general, addressBook])
    const found = new Map<string, Set<string>>()
    for (const [path, operations] of Object.entries<Document>(paths))
      for (const [method, operation] of Object.entries<Document>(operations))
        if (path.startsWith('/v1/') && !path.startsWith('/v1/w3s/'))
          collect(components, operation, `${method.toUpperCase()} ${path}`, found)
    const ofBook = [...found].filter(([, lists]) => lists.has('AddressBookChain')).map(([name]) => name)
    expect(ofBook.sort()).toEqual(
      ['GET /', 'GET /{id}', 'PATCH /{id}', 'POST /'].map((each) => {
        const [method, rest] = each.split(' /') as [string, string]
        return `${method} /v1/addressBook/recipients${rest && `/${rest}`}`
      }),
    )
    for (const [name, lists] of found) expect([name, lists.size]).toEqual([name, 1])
    expect([...found.keys()]).toEqual(
      expect.arrayContaining([
        'POST /v1/businessAccount/wallets/addresses/deposit',
        'POST /v1/businessAccount/wallets/addresses/recipient',
        'POST /v1/businessAccount/transfers',
        'POST /v1/paymentIntents',
        'POST /v1/paymentIntents/{id}/refund',
        'POST /v1/payouts',
        'GET /v1/payouts',
        'GET /v1/paymentIntents/metadata/supportedCurrencies',
        'GET /v1/stablecoins',
      ]),
    )
  })

  /** Notes the lists of chains that an operation uses, by the names of their components; a list of its own by its values. */
  function collect(components: Document, part: Document, name: string, found: Map<string, Set<string>>) {
    const seen = new Set<Document>()
    const note = (list: string) => found.set(name, (found.get(name) ?? new Set()).add(list))
    const look = (value: Document): void => {
      if (typeof value !== 'object' || value === null || seen.has(value)) return
      seen.add(value)
      const [, kind, component] = /^#\/components\/(\w+)\/(\w+)$/.exec(value.$ref ?? '') ?? []
      if (component && /Chain$/.test(component)) note(component)
      else if (component) look(components[kind!][component])
      else if (Array.isArray(value.enum) && value.enum.includes('BASE')) note(value.enum.join(' '))
      else for (const each of Object.values(value)) look(each)
    }
    look(part)
  }
})

const evm = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const long = `0x${'a1'.repeat(32)}`
const usd = { amount: '1', currency: 'USD' }

describe('property 234: a chain without the business account', () => {
  let harness: Harness
  let world: World
  let aptos: Awaited<ReturnType<typeof openLocalAptos>>
  beforeAll(async () => {
    aptos = await openLocalAptos()
    harness = await openHarness({ furtherNodes: [aptos.connected] })
    world = worldOf(harness)
    await world.money()
  })
  afterAll(async () => {
    await harness?.close()
    await aptos?.node.close()
  })

  const post = (path: string, body: object) =>
    harness.http('POST', path, { body: { idempotencyKey: randomUUID(), ...body } })

  /** What is refused is refused by its field, with a chain that serves instead, and leaves nothing behind. */
  async function expectRefused(path: string, body: object, location: string, reason: RegExp, code = 2005) {
    const { status, body: answer, text } = await post(path, body)
    expect([status, answer.code, answer.errors?.[0]?.location], text).toEqual([400, code, location])
    const { message } = answer.errors[0]
    expect(message).toMatch(reason)
    expect(message).toMatch(/: use BASE$/)
  }

  const none = /names APTOS-TESTNET, on which the business account receives and pays nothing/

  it.each([
    ['APTOS', none, 2005],
    ['ARC', /ARC names ARC-TESTNET, to which this server is not connected/, 156017],
    ['SUI', /a chain that this version does not support/, 2005],
    ['SOL', /SOL names SOL-DEVNET, to which this server is not connected/, 156017],
    ['LINEA', /LINEA names LINEA-SEPOLIA, to which this server is not connected/, 156017],
    ['UNI', /UNI names UNI-SEPOLIA, to which this server is not connected/, 156017],
    ['ZKS', /ZKS names ZKS-SEPOLIA, to which this server is not connected/, 156017],
  ])('gives no deposit address and no payment intent on %s', async (chain, reason, code) => {
    const deposit = '/v1/businessAccount/wallets/addresses/deposit'
    await expectRefused(deposit, { chain, currency: 'USD' }, 'chain', reason, code)
    const intent = {
      type: 'continuous',
      currency: 'USD',
      settlementCurrency: 'USD',
      paymentMethods: [{ type: 'blockchain', chain }],
    }
    await expectRefused('/v1/paymentIntents', intent, 'paymentMethods[0].chain', reason, code)
    const transient = { ...intent, type: 'transient', currency: undefined, amount: usd }
    await expectRefused('/v1/paymentIntents', transient, 'paymentMethods[0].chain', reason, code)
  })

  it.each([
    ['APTOS', [evm, '0x10', long.slice(0, -1), `${long}0`, long.slice(2), ` ${long}`], 5014],
    ['APTOS', ['0x1', '0xA', `0x${'a'.padStart(64, '0')}`, `0x${'0'.repeat(64)}`], undefined],
    ['APTOS', [aptosTestnet.tokens[0]!.address.toUpperCase().replace('0X', '0x')], undefined],
    ['ARC', [`0x36${'0'.repeat(38)}`, `0x${'0'.repeat(40)}`], undefined],
    ['SUI', [evm, '0x2', long.slice(0, -1)], 5014],
    ['SUI', [`0x${'2'.padStart(64, '0')}`], undefined],
    ['ZKS', [long, `${evm}0`], 5014],
    ['LINEA', [long, '0x1'], 5014],
    ['UNI', [long, `0x${'0'.repeat(40)}`], undefined],
  ])('takes no address of %s that is none or that nobody owns: %j', async (chain, addresses, code) => {
    for (const address of addresses)
      for (const [path, body] of [
        ['/v1/addressBook/recipients', { metadata: {} }],
        ['/v1/businessAccount/wallets/addresses/recipient', { description: 'Ours' }],
      ] as const) {
        const { status, body: answer, text } = await post(path, { chain, address, ...body })
        expect([status, answer.errors?.[0]?.location], `${address} ${text}`).toEqual([400, 'address'])
        if (code !== undefined) expect(answer.code).toBe(code)
      }
  })

  it('keeps recipients of Aptos in one form, finds them by any, and pays none', async () => {
    const address = `0x${'0b'.repeat(32)}`
    const upper = address.toUpperCase().replace('0X', '0x')
    const recipient = await makeActiveRecipient(world, { chain: 'APTOS', address: upper })
    const own = await makeActiveAddress(world, { chain: 'APTOS', address: upper })
    expect([recipient, own]).toMatchObject([{ address }, { address }])
    for (const query of [{ chain: 'APTOS', address: upper }, { address }, { chain: 'APTOS' }]) {
      const { body } = await harness.http('GET', '/v1/addressBook/recipients', { query })
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual([recipient.id])
    }
    const tagged = { chain: 'APTOS', address, addressTag: '7', metadata: {} }
    expect((await post('/v1/addressBook/recipients', tagged)).body.errors[0].location).toBe('addressTag')
    const payout = { destination: { type: 'address_book', id: recipient.id }, amount: usd }
    await expectRefused('/v1/payouts', payout, 'destination.id', none)
    const onChain = { ...payout, destination: { ...payout.destination, chain: 'APTOS' } }
    await expectRefused('/v1/payouts', onChain, 'destination.id', none)
    const transfer = { destination: { type: 'verified_blockchain', addressId: own.id }, amount: usd }
    await expectRefused('/v1/businessAccount/transfers', transfer, 'destination.addressId', none)
    const { id } = await world.paidIntent()
    const refund = {
      destination: { chain: 'APTOS', address },
      amount: { currency: 'USD' },
      toAmount: usd,
    }
    await expectRefused(`/v1/paymentIntents/${id}/refund`, refund, 'destination.chain', none)
    for (const path of ['/v1/payouts?chain=APTOS', '/v1/payouts', '/v1/businessAccount/transfers'])
      expect((await harness.http('GET', path)).body).toEqual({ data: [] })
  })

  it('is not named where a chain with contracts is asked for', async () => {
    const imported = { name: 'A contract', address: evm, idempotencyKey: randomUUID() }
    for (const [asked, reason] of [
      [aptosTestnet.blockchain, 'runs no contracts'],
      ['SOL-DEVNET', 'runs no contracts'],
      ['NEAR-TESTNET', 'names a chain that this version does not support'],
    ]) {
      const body = { ...imported, blockchain: asked }
      const { body: answer, text } = await harness.http('POST', '/v1/w3s/contracts/import', { body })
      expect(answer.errors?.[0].message, text).toBe(`blockchain ${reason}: use BASE-SEPOLIA`)
    }
  })

  it('names no such chain among those of its currencies, and leaves nothing on it', async () => {
    const shown = await world.call('GET', '/v1/paymentIntents/metadata/supportedCurrencies')
    expect(shown).toEqual(['USD', 'EUR'].map((currency) => ({ currency, blockchains: ['BASE'] })))
    const { blockchain } = aptosTestnet
    const counted = await harness.database.one<{ left: number }>(sql`select (
      (select count(*) from treasuries where blockchain = ${blockchain})
      + (select count(*) from managed_addresses where blockchain = ${blockchain})
      + (select count(*) from transactions where blockchain = ${blockchain}))::integer as left`)
    expect(counted.left).toBe(0)
    await checkLedger(harness.database)
  })
})

it('property 234: a wire is refused where no chain of the sandbox has the business account', async () => {
  const aptos = await openLocalAptos()
  const harness = await openHarness({ blockchains: [], furtherNodes: [aptos.connected], engines: false })
  try {
    const wire = {
      trackingRef: 'CIR2Y3BBTP',
      amount: { amount: '10', currency: 'USD' },
      beneficiaryBank: { accountNumber: '11111111111' },
    }
    const { status, body } = await harness.http('POST', '/v1/mocks/payments/wire', { body: wire })
    expect([status, body.code]).toEqual([400, 156017])
    expect(body.message).toContain('--chains')
    expect((await harness.http('GET', '/v1/businessAccount/deposits')).body.data).toEqual([])
    expect((await harness.http('GET', '/v1/paymentIntents/metadata/supportedCurrencies')).body.data).toEqual(
      [],
    )
  } finally {
    await harness.close()
    await aptos.node.close()
  }
})
