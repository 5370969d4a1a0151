import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { insertApiKey } from '#runtime/auth/store'
import { sql } from '#runtime/db/db'
import { makeWallet, type Wallet, worldOf } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type Command, helpText, type ParsedArgs, parseCommand } from './command.ts'
import { journalCommand } from './journal.ts'
import { keysCommand } from './keys.ts'
import { policyCommand } from './policy.ts'

let harness: Harness
let wallet: Wallet
let folder: string
let printed: string

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  wallet = await makeWallet(worldOf(harness))
  folder = await mkdtemp(join(tmpdir(), 'bezant-policy-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await harness?.close()
})
beforeEach(() => {
  vi.stubEnv('DATABASE_URL', urlOf(harness.connection))
  printed = ''
  const keep = (text: string | Uint8Array) => {
    printed += text
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(keep)
  vi.spyOn(process.stderr, 'write').mockImplementation(keep)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

async function run(command: Command, ...args: string[]) {
  const parsed = parseCommand('policy', command, [...args, '--json'])
  if (parsed === 'help') throw new Error('asked for help')
  printed = ''
  expect(await command.run(parsed)).toBe(0)
  return printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
}

const bezant = (...args: string[]) => run(policyCommand, ...args)

/** The text output of a command for a person. */
async function text(command: Command, ...args: string[]): Promise<string> {
  printed = ''
  expect(await command.run(parseCommand('policy', command, args) as ParsedArgs)).toBe(0)
  return printed
}

async function fileOf(content: unknown): Promise<string> {
  const path = join(folder, `${randomUUID()}.json`)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

describe('bezant policy', () => {
  it('documents rules and options in its help', () => {
    const help = helpText(policyCommand, 'A summary.')
    for (const word of ['freeze', 'history', 'perTransactionAtomic', 'setApprovalForAll', '--wallet-set ID'])
      expect(help).toContain(word)
  })

  it('sets the policy of an API key, by its id or its middle part', async () => {
    const { id, text } = await insertApiKey(harness.database, {
      entityId: (await harness.newEntity()).entityId,
      environment: 'TEST',
      nowMs: Date.now(),
    })
    const path = await fileOf({ mode: 'rules', operations: ['transfer'] })
    const [, middle] = text.split(':')
    expect(await bezant('set', '--key', middle!, '--policy', path)).toMatchObject([
      { scope: 'apiKey', subjectId: id, version: 1 },
    ])
    expect(await bezant('history', '--key', id)).toMatchObject([{ scope: 'apiKey', change: 'set' }])
    await expect(bezant('set', '--key', randomUUID(), '--policy', path)).rejects.toThrow('no API key')
    await expect(bezant('set', '--key', id, '--wallet', wallet.id, '--policy', path)).rejects.toThrow(
      '--wallet-set, --wallet and --key exclude each other',
    )
  })

  it('sets and shows policies and their history, for every subject', async () => {
    const { entityId } = harness
    const path = await fileOf({ mode: 'rules', operations: ['transfer'] })
    expect(await bezant('show', '--entity', entityId)).toMatchObject([
      { entityId, frozen: false },
      { scope: 'entity', version: 1, rules: { mode: 'permissive' }, actor: 'sandbox' },
    ])
    expect(await bezant('set', '--wallet', wallet.id, '--policy', path)).toEqual([
      { scope: 'wallet', subjectId: wallet.id, version: 1, mode: 'rules' },
    ])
    await bezant('set', '--entity', entityId, '--policy', 'permissive')
    const history = await bezant('history', '--entity', entityId)
    expect(history.map(({ scope, version }) => [scope, version])).toEqual([
      ['entity', 2],
      ['wallet', 1],
      ['entity', 1],
    ])
    expect(await bezant('history', '--wallet', wallet.id, '--limit', '1')).toHaveLength(1)
    expect(await bezant('show', '--entity', entityId)).toHaveLength(3)
    const audit = await harness.database.all(
      sql`select 1 from audit where action = 'policy.set' and actor = 'operator' and entity_id = ${entityId}`,
    )
    expect(audit).toHaveLength(2)
  })

  it('bezant policy freezes and unfreezes an entity', async () => {
    const stateOf = async () =>
      (await harness.http('GET', `/v1/w3s/wallets/${wallet.id}`)).body.data.wallet.state
    for (const subject of [
      ['--wallet', wallet.id],
      ['--entity', harness.entityId],
    ]) {
      expect(await bezant('freeze', ...subject)).toMatchObject([{ frozen: true, changed: true }])
      expect(await stateOf()).toBe('FROZEN')
      expect(await bezant('freeze', ...subject)).toMatchObject([{ changed: false }])
      expect(await bezant('unfreeze', ...subject)).toMatchObject([{ unfrozen: true, changed: true }])
      expect(await stateOf()).toBe('LIVE')
    }
  })

  it('shows who froze and unfroze which subject in the history of policies', async () => {
    const { entityId } = await harness.newEntity()
    await bezant('freeze', '--entity', entityId)
    await bezant('unfreeze', '--entity', entityId)
    await bezant('set', '--entity', entityId, '--policy', 'permissive')
    expect(await bezant('history', '--entity', entityId)).toMatchObject([
      { change: 'set', version: 2 },
      { change: 'unfrozen', scope: 'entity', subjectId: entityId, actor: 'operator' },
      { change: 'frozen', scope: 'entity', subjectId: entityId, actor: 'operator' },
      { change: 'set', version: 1, actor: 'sandbox' },
    ])
    expect(await bezant('history', '--entity', entityId, '--limit', '2')).toMatchObject([
      { change: 'set' },
      { change: 'unfrozen' },
    ])
    await bezant('freeze', '--wallet', wallet.id)
    await bezant('unfreeze', '--wallet', wallet.id)
    const ofWallet = await bezant('history', '--wallet', wallet.id)
    expect(ofWallet.slice(0, 2)).toMatchObject([
      { change: 'unfrozen', scope: 'wallet', subjectId: wallet.id },
      { change: 'frozen', scope: 'wallet', subjectId: wallet.id },
    ])
  })

  it('prints tables for people', async () => {
    const { entityId } = harness
    const history = await text(policyCommand, 'history', '--entity', entityId, '--limit', '1')
    expect(history).toMatch(
      /^CREATE DATE +SCOPE +SUBJECT ID +CHANGE +VERSION +MODE +ACTOR\n20\S+ +\w+ +\S+ +\w+ /,
    )
    const shown = await text(policyCommand, 'show', '--entity', entityId)
    expect(shown).toMatch(/^entity id {2}\S+\nfrozen {5}no\n\nentity \S+, version \d+, set by \w+ at 20/)
    expect(shown).toContain('"mode": "permissive"')
    expect(await text(policyCommand, 'freeze', '--wallet', wallet.id)).toBe(
      `wallet   ${wallet.id}\nfrozen   yes\nchanged  yes\n`,
    )
    await bezant('unfreeze', '--wallet', wallet.id)
    const entities = await text(keysCommand, 'list')
    expect(entities).toMatch(/^ID +ENVIRONMENT +NAME +CREATE DATE\n/)
    expect(entities).toContain(entityId)
    expect(await text(keysCommand, 'list', '--entity', entityId)).toMatch(
      /^ID +SCOPES +CREATE DATE +EXPIRE DATE +ALLOWED ADDRESSES +USED DATE +USED ADDRESS +REVOKED DATE\n\S+ +api .+ 20\S+ .+ -\n/,
    )
    expect(await text(journalCommand, 'list')).toBe('ID  HOST  PATH  STATE  AWAITED  SEQUENCE  UPDATE DATE\n')
  })

  it('accepts the sample of the documentation and the template of its help', async () => {
    const sample = /```json\n([\s\S]+?)```/.exec(await readFile('docs/policy.md', 'utf8'))![1]!
    const template = /\n\n( {2}\{[\s\S]+?\})\n\n/.exec(policyCommand.usage)![1]!
    for (const text of [sample, template.replaceAll('0x…', wallet.address)]) {
      const { entityId } = await harness.newEntity()
      const path = await fileOf(text)
      expect(await bezant('set', '--entity', entityId, '--policy', path)).toMatchObject([{ mode: 'rules' }])
    }
  })

  const wrong: [string, () => Promise<string[]>, RegExp][] = [
    ['no action', async () => [], /name an action: show, set/],
    ['no subject', async () => ['set', '--policy', 'permissive'], /--entity is missing: bezant keys list/],
    ['no policy', async () => ['set', '--entity', harness.entityId], /--policy is missing/],
    ['an unknown entity', async () => ['show', '--entity', randomUUID()], /no entity/],
    ['an unknown wallet', async () => ['freeze', '--wallet', randomUUID()], /no wallet/],
    ['a wallet id that is no UUID', async () => ['freeze', '--wallet', 'x'], /no wallet x/],
    [
      'a wallet of another entity',
      async () => ['freeze', '--entity', randomUUID(), '--wallet', wallet.id],
      /belongs to another entity/,
    ],
    [
      'a missing file',
      async () => ['set', '--entity', harness.entityId, '--policy', 'nothing.json'],
      /ENOENT/,
    ],
    [
      'a file that is not JSON',
      async () => ['set', '--entity', harness.entityId, '--policy', await fileOf('{')],
      /is not JSON/,
    ],
    [
      'a misspelt field',
      async () => [
        'set',
        '--entity',
        harness.entityId,
        '--policy',
        await fileOf({ mode: 'rules', tokes: [] }),
      ],
      /tokes is not a known field/,
    ],
    [
      'a misspelt blockchain',
      async () => [
        'set',
        '--entity',
        harness.entityId,
        '--policy',
        await fileOf({ mode: 'rules', tokens: ['BSAE:native'] }),
      ],
      /"BSAE:native" names no blockchain/,
    ],
    [
      'freezing a wallet set',
      async () => ['freeze', '--wallet-set', (await worldOf(harness).walletSet()).id],
      /an entity or a wallet/,
    ],
  ]
  it.each(wrong)('refuses %s and changes nothing', async (_, args, message) => {
    const count = () => harness.database.all(sql`select version_id from policies order by 1`)
    const before = await count()
    await expect(bezant(...(await args()))).rejects.toThrow(message)
    expect(await count()).toEqual(before)
  })
})

describe('bezant keys create-entity', () => {
  it('requires a policy for a LIVE entity, and not for a TEST entity', async () => {
    const create = (...args: string[]) => run(keysCommand, 'create-entity', '--name', 'Acme', ...args)
    expect(await create()).toMatchObject([{ environment: 'TEST', policy: 'permissive' }])
    await expect(create('--environment', 'LIVE')).rejects.toThrow('--policy is missing')
    expect(await create('--environment', 'LIVE', '--policy', 'permissive')).toMatchObject([
      { policy: 'permissive' },
    ])
    const [strict] = await create('--environment', 'LIVE', '--policy', await fileOf({ mode: 'rules' }))
    expect(strict).toMatchObject({ policy: 'rules' })
    expect(await bezant('show', '--entity', strict.entity)).toMatchObject([
      { frozen: false },
      { scope: 'entity', rules: { mode: 'rules' }, actor: 'operator' },
    ])
  })
})
