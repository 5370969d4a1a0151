import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry } from '#engines/compliance/lists/index'
import { urlOf } from '#testing/databases/database-clone'
import { type Harness, openHarness } from '#testing/platform/harness'
import { runCommand } from '#testing/processes/command'
import { sizeOf } from '#testing/runner/size'

let harness: Harness
let directory: string

beforeAll(async () => {
  harness = await openHarness({ blockchains: [], engines: false })
  directory = await mkdtemp(join(tmpdir(), 'bezant-lists-'))
})
afterAll(async () => {
  await harness?.close()
  await rm(directory, { recursive: true, force: true })
})

const bezant = (...args: string[]) =>
  runCommand({ command: 'screening', args, env: { DATABASE_URL: urlOf(harness.connection) } })

/** Runs a command that must succeed, and returns the objects that it printed. */
async function done(...args: string[]) {
  const { code, stdout, stderr } = await bezant(...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

async function refused(...args: string[]) {
  const { code, stdout, stderr } = await bezant(...args)
  expect([code, stdout]).toEqual([2, ''])
  return stderr
}

const file = async (name: string, text: string | Buffer) => {
  const path = join(directory, name)
  await writeFile(path, text)
  return path
}

async function screen(address: string, chain = 'ETH') {
  const body = { idempotencyKey: randomUUID(), address, chain }
  return (await harness.http('POST', '/v1/w3s/compliance/screening/addresses', { body })).body
}
const ruleOf = async (address: string, chain?: string) => (await screen(address, chain)).decision.ruleName

let count = 0
const anyAddress = () => `0x${(0xfade_0000n + BigInt(++count)).toString(16).padStart(40, '0')}`

const digital = (code: string, address: string) =>
  `<id><uid>7</uid><idType>Digital Currency Address - ${code}</idType><idNumber>${address}</idNumber></id>`
const entryOf = (uid: number, ids: string) =>
  `  <sdnEntry>\n    <uid>${uid}</uid>\n    <lastName>A &amp; B</lastName>\n    <idList>
      <id><uid>8</uid><idType>Passport</idType><idNumber>X1</idNumber></id>\n      ${ids}\n    </idList>\n  </sdnEntry>`
const sdnXml = (...entries: string[]) =>
  `<?xml version="1.0" standalone="yes"?>
<sdnList xmlns="https://example.org/sdn">
  <publshInformation><Publish_Date>01/02/2026</Publish_Date><Record_Count>2</Record_Count></publshInformation>
${entries.join('\n')}
</sdnList>\n`
const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const bitcoin = '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu'
const bitcoinCash = 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'

describe('a list of sanctions', () => {
  it('is imported from XML, and matches in every spelling and on every chain of the same keys', async () => {
    const listed = '0xAbCDEFabcdefABCDEFABCDEFabcdefABCDEF0001'
    const ids = [digital('ETH', listed), digital('XBT', bitcoin), digital('USDT', tron)]
    const text = sdnXml(
      entryOf(4242, ids.join('')),
      entryOf(4243, digital('ZEC', 't1Something') + digital('ETH', listed)),
    )
    const [made] = await done('import', await file('sdn.xml', text), '--list', 'ofac')
    expect(made).toMatchObject({ list: 'ofac', version: 1, entries: 3, added: 3, removed: 0 })
    expect(made).toMatchObject({ duplicates: 1, malformed: 0, unsupported: { ZEC: 1 } })
    expect(await screen(listed.toLowerCase(), 'BASE')).toMatchObject({
      result: 'DENIED',
      decision: {
        ruleName: 'Sanctions Blocklist',
        actions: ['DENY', 'REVIEW', 'FREEZE_WALLET'],
        reasons: [{ riskScore: 'BLOCKLIST', riskCategories: ['SANCTIONS'], type: 'OWNERSHIP' }],
      },
    })
    const { decision, details } = await screen(tron, 'TRX')
    expect(decision.reasons[0].signalSource).toEqual({ rowId: '4242', pointer: 'ofac/1' })
    expect(details[0].response).toMatchObject({ lists: { ofac: 1 }, matched: [{ list: 'ofac' }] })
    expect(await ruleOf(bitcoinCash, 'BCH')).toBe('Sanctions Blocklist')
    expect(await ruleOf(listed.toLowerCase(), 'ETH-SEPOLIA')).toBe('Sanctions Blocklist')
  })

  it('property 72: is replaced as a whole by the next file, and returns to any version before', async () => {
    const [kept, gone, fresh] = [anyAddress(), anyAddress(), anyAddress()]
    const table = (...rows: string[]) => ['chain,address,reference', ...rows].join('\n')
    const first = await file('one.csv', table(`ETH,${kept},1`, `ETC,${gone},2`))
    const second = await file('two.csv', table(`ETH,${kept},1`, `BASE,${fresh},3`))
    const rules = async () =>
      Promise.all([kept, gone, fresh].map(async (each) => (await ruleOf(each)) !== undefined))
    await done('import', first, '--list', 'eu')
    expect(await rules()).toEqual([true, true, false])
    expect(await done('import', second, '--list', 'eu')).toMatchObject([
      { version: 2, entries: 2, added: 1, removed: 1 },
    ])
    expect(await rules()).toEqual([true, false, true])
    expect(await done('rollback', '--list', 'eu', '--reason', 'a wrong file')).toMatchObject([
      { version: 3, contentsOf: 1, entries: 2, added: 1, removed: 1 },
    ])
    expect(await rules()).toEqual([true, true, false])
    expect(await refused('rollback', '--list', 'eu')).toContain('has no former version 0')
    await done('rollback', '--list', 'eu', '--to', '2')
    expect(await rules()).toEqual([true, false, true])
    const history = await done('history', '--list', 'eu')
    expect(history.map(({ version, change }) => [version, change])).toEqual([
      [4, 'rollback'],
      [3, 'rollback'],
      [2, 'import'],
      [1, 'import'],
    ])
    expect(history[1]).toMatchObject({ reason: 'a wrong file', actor: 'operator' })
    expect(history[3]).toMatchObject({
      source: 'one.csv',
      sourceHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  it('is compared with the addresses of customers, which the report shows', async () => {
    const address = anyAddress()
    const body = { idempotencyKey: randomUUID(), chain: 'BASE', address, metadata: {} }
    const { id } = (await harness.http('POST', '/v1/addressBook/recipients', { body })).body.data
    const added = await bezant('add', address, '--chain', 'ETH', '--list', 'block')
    expect([added.code, added.stderr]).toEqual([
      0,
      'block names 1 address of customers. See: bezant screening report\n',
    ])
    expect(await done('report')).toMatchObject([
      { entityId: harness.entityId, resource: 'recipient', id, chain: 'BASE', address, list: 'block' },
    ])
    await done('remove', address, '--chain', 'ETH', '--list', 'block')
    expect(await done('report')).toEqual([])
  })

  it('is imported from the remarks of the CSV form', async () => {
    const listed = anyAddress()
    const blank = Array(9).fill('-0- ').join(',')
    const rows = [
      `36,"A, B","individual",${blank.replace(/^[^,]*,/, '')},"DOB 1970; Digital Currency Address - XBT ${bitcoin}; alt. Digital Currency Address - ETH ${listed}."`,
      `37,"C",-0- ,${blank.replace(/^[^,]*,/, '')},-0- `,
      '\u001a',
    ]
    const path = await file('sdn.csv', rows.join('\r\n'))
    expect(await done('import', path, '--list', 'remarks', '--format', 'sdn-csv')).toMatchObject([
      { entries: 2 },
    ])
    expect((await screen(listed)).decision.reasons[0].signalSource.rowId).toBe('36')
  })

  it('property 232: names accounts of Aptos in every form that they have, also by the currency of a coin', async () => {
    const [long, coin, token] = ['a7', 'b7', 'c7'].map((byte) => `0x0${byte.repeat(32).slice(1)}`)
    const upper = (address: string) => address.toUpperCase().replace('0X', '0x')
    const table = [
      'chain,address',
      `APTOS,${upper(long!)}`,
      `APTOS-TESTNET,${long}`,
      `APTOS,0x${'1'.padStart(64, '0')}`,
    ]
    const path = await file('aptos.csv', table.join('\n'))
    expect(await done('import', path, '--list', 'aptos')).toMatchObject([{ entries: 2, duplicates: 1 }])
    const ids = [digital('APT', upper(coin!)), digital('USDC', token!)]
    await done('import', await file('coins.xml', sdnXml(entryOf(7, ids.join('')))), '--list', 'coins')
    for (const address of [long!, upper(long!), coin!, token!, '0x1', `0x${'1'.padStart(64, '0')}`])
      for (const chain of ['APTOS', 'APTOS-TESTNET'])
        expect([address, await ruleOf(address, chain)]).toEqual([address, 'Sanctions Blocklist'])
    // Sui writes its addresses alike: the recipient on either is the one that the list means.
    const body = { idempotencyKey: randomUUID(), metadata: {}, address: token }
    const recipients: { id: string }[] = []
    for (const chain of ['APTOS', 'SUI']) {
      const made = { ...body, idempotencyKey: randomUUID(), chain }
      recipients.push((await harness.http('POST', '/v1/addressBook/recipients', { body: made })).body.data)
    }
    expect((await done('report')).map(({ id }) => id).sort()).toEqual(recipients.map(({ id }) => id).sort())
    const trimmed = await file('trimmed.csv', `chain,address\nAPTOS,${long!.replace('0x0', '0x')}`)
    expect(await refused('import', trimmed, '--list', 'aptos')).toContain('is no address of APTOS')
  })

  it('matches among many entries, in the database alone', async () => {
    const total = sizeOf('SCREENING_ENTRIES', { usual: 5_000, deep: 1_000_000 })
    const addressAt = (index: number) => `0xe${index.toString(16).padStart(39, '0')}`
    const rows = Array.from({ length: total }, (_, index) => `ETH,${addressAt(index)}`)
    const path = await file('many.csv', ['chain,address', ...rows].join('\n'))
    expect(await done('import', path, '--list', 'many')).toMatchObject([{ entries: total, added: total }])
    expect(await ruleOf(addressAt(total - 1))).toBe('Sanctions Blocklist')
    expect(await ruleOf(addressAt(total))).toBeUndefined()
    expect(await done('import', path, '--list', 'many')).toMatchObject([{ version: 2, added: 0, removed: 0 }])
  })
})

describe('a file that is wrong', () => {
  const good = `ETH,${anyAddress()}`
  it.each([
    ['bad.csv', `chain,address\n${good}\nETH,nowhere`, 'line 3: "nowhere" is no address of ETH'],
    ['chain.csv', `chain,address\n${good}\nDOGE,x`, 'line 3: "DOGE" names no chain of screening'],
    ['header.csv', `name,address\n${good}`, 'line 1: must name the columns chain and address'],
    ['quote.csv', `chain,address\n"${good}`, 'is not CSV'],
    ['empty.csv', 'chain,address\n', 'names no address as csv does'],
    ['bytes.csv', Buffer.from([0x63, 0xff, 0xfe]), 'is not UTF-8'],
    ['html.xml', '<html></html>', 'line 1: the document is <html>, not <sdnList>'],
    ['half.xml', sdnXml(entryOf(1, digital('ETH', anyAddress()))).slice(0, -12), 'is not XML'],
    ['entity.xml', sdnXml('&bomb;'), 'is not XML'],
    ['typo.xml', sdnXml(entryOf(1, digital('ETH', '0x12'))), 'line 9: "0x12" is no address of ETH'],
  ])('%s changes nothing, and its line and reason are named', async (name, text, reason) => {
    expect(await refused('import', await file(name, text), '--list', 'wrong')).toContain(reason)
    expect((await done('lists')).map(({ list }) => list)).not.toContain('wrong')
  })

  it('is imported without its malformed addresses when that is asked for', async () => {
    const path = await file('typos.csv', `chain,address\nETH,${anyAddress()}\nETH,nowhere`)
    expect(await done('import', path, '--list', 'lenient', '--skip-malformed')).toMatchObject([
      { entries: 1, malformed: 1 },
    ])
  })
})

describe("the operator's own lists", () => {
  it('deny and approve single addresses, and never both', async () => {
    const [blocked, allowed] = [anyAddress(), `0x${'ac'.repeat(14)}999999998999`]
    expect(await ruleOf(allowed, 'ETH-SEPOLIA')).toBe('Severe Sanctions Risk (Owner)')
    await done('add', blocked, '--chain', 'ETH', '--list', 'block', '--reason', 'fraud')
    await done('add', allowed, '--chain', 'ETH', '--list', 'allow')
    expect(await screen(blocked)).toMatchObject({
      result: 'DENIED',
      decision: { ruleName: 'Your blocklist' },
    })
    expect(await screen(allowed, 'ETH-SEPOLIA')).toMatchObject({
      result: 'APPROVED',
      decision: {
        ruleName: 'Your allowlist',
        actions: ['APPROVE'],
        reasons: [{ riskCategories: ['TRUSTED'] }],
      },
    })
    const own = (list: string, address: string) => ['--list', list, '--chain', 'ETH', address]
    expect(await refused('add', ...own('allow', blocked))).toContain(`${blocked} is on the list block`)
    expect(await refused('add', ...own('block', blocked))).toContain('is on the list block already')
    await done('remove', ...own('block', blocked))
    expect(await ruleOf(blocked)).toBeUndefined()
    expect(await refused('remove', ...own('block', blocked))).toContain('is not on the list block')
  })

  it('do not approve what a list of sanctions names', async () => {
    const address = anyAddress()
    await done('add', address, '--chain', 'ETH', '--list', 'allow')
    await done('add', address, '--chain', 'ETH', '--list', 'ofac')
    const { decision } = await screen(address)
    expect(decision).toMatchObject({ ruleName: 'Sanctions Blocklist', reasons: [{}, {}] })
  })

  it('name the option that is missing or wrong', async () => {
    expect(await refused('import')).toContain('needs a file')
    expect(await refused('add', 'nowhere', '--chain', 'ETH', '--list', 'block')).toContain(
      'is no address of ETH',
    )
    expect(await refused('add', anyAddress(), '--list', 'block')).toContain('--chain must be one of')
    expect(await refused('rollback', '--list', 'nothing')).toContain('there is no list nothing')
    expect(await refused('add', anyAddress(), '--chain', 'ETH', '--list', 'My list')).toContain(
      'small letters',
    )
    expect(await refused('forget')).toContain('rollback')
  })
})

it('changes of one list at once each become a version', async () => {
  const scope = { database: harness.database, clock: harness.clock, actor: 'operator' }
  const entries = Array.from({ length: 6 }, () => parseScreenedAddress('ETH', anyAddress())!)
  await Promise.all(entries.map((entry) => addEntry(scope, { list: 'raced', entry })))
  const lists = await done('lists')
  expect(lists.find(({ list }) => list === 'raced')).toMatchObject({ version: 6, entries: 6 })
})
