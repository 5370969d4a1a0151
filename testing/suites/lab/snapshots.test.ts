/** Snapshots of a running platform: what is restored is what was saved, and the platform goes on from there. */
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { faultActions } from '#testing/builders/faults'
import { transferActions } from '#testing/builders/transfers'
import { makeRecipient, makeWallet, makeWalletSet, type World, worldOf } from '#testing/builders/world'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { startListening } from '#testing/processes/listening'
import { openWebhookReceiver } from '#testing/servers/webhook-receiver'
import { openWebhookSink } from '#testing/servers/webhook-sink'
import { packed, readState, sentDuring } from './saved-state.ts'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness({ lab: true, blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness)
})
afterAll(() => harness.close())

const http = (method: string, path: string, body?: object) =>
  harness.http(method, `/sandbox/${path}`, body && { body })
async function lab(method: string, path: string, body?: object) {
  const { status, body: answer, text } = await http(method, path, body)
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300)
  return answer?.data
}
const save = (name: string) => lab('POST', 'snapshots', { name })
const restore = (name: string) => lab('POST', `snapshots/${name}/restore`)
const names = async () => ((await lab('GET', 'snapshots')) as { name: string }[]).map(({ name }) => name)

/** Pays, transfers, catches messages, and lets time pass. */
async function workMuch() {
  const { transfer, reaches } = transferActions(harness)
  const wallet = await world.fundedWallet()
  const sent = await Promise.all([transfer(wallet), transfer(wallet), transfer(wallet)])
  for (const id of sent) await reaches(id, 'COMPLETE')
  const message = await harness.http('POST', '/sandbox/catcher/shop', { body: { about: sent[0] } })
  expect(message.status).toBe(200)
  return sent
}

/** Breaks what `workMuch` needs: answers of nodes, of which one may be to several transfers, blocks and webhooks. */
const everythingBreaks = `
- { name: answers-lost, on: node, match: { method: eth_sendRawTransaction }, when: { every: 2 }, do: { reply: resetAfter } }
- { name: slow-node, on: node, when: { every: 5 }, do: { delay: 20ms } }
- { name: undone, on: chain, when: { after: 2, times: 1 }, do: { reorg: { depth: 1, transactions: return } } }
- { name: refused, on: webhook, when: { every: 2 }, do: { status: 503 } }
`

/** Each merge of a journal into a database that lacks some of it, or looks like an older copy, is counted here. */
const epoch = async () =>
  (await harness.database.one<{ epoch: number }>(sql`select epoch from journal_epochs`)).epoch

describe('a restore', () => {
  it('property 166: brings back every table, balance, nonce and head, sends nothing, and the platform goes on', async () => {
    const receiver = await openWebhookReceiver(harness.http)
    const subscription = { endpoint: receiver.url, notificationTypes: ['transactions.*'] }
    await world.call('POST', '/v2/notifications/subscriptions', subscription)
    await workMuch()
    await harness.stopEngines()
    await save('before')
    const [before, epochBefore] = [await readState(harness), await epoch()]
    const { offsetMs } = await lab('GET', 'clock')
    harness.startEngines()
    const faults = faultActions(harness)
    await faults.apply(everythingBreaks)
    const broken = async () => new Set((await faults.met()).map(({ rule }: { rule: string }) => rule))
    // The one reorg is over before the money comes, which it would take back between two requests.
    const isMet = async () => ['answers-lost', 'undone'].every(Set.prototype.has, await broken())
    for (let round = 0; round < 5 && !(await isMet()); round++) await workMuch()
    await world.money()
    await world.payout()
    expect(await broken()).toEqual(new Set(['answers-lost', 'slow-node', 'undone', 'refused']))
    await faults.clear()
    const { transfer, reaches } = transferActions(harness)
    await lab('POST', 'chains/BASE-SEPOLIA/reorg', { depth: 3 })
    await lab('POST', 'clock/advance', { by: 'P3D' })
    await lab('PUT', 'catcher/shop/behaviour', { status: 503 })
    await harness.http('POST', '/sandbox/catcher/later', { body: { late: true } })
    await lab('POST', 'chains/ETH-SEPOLIA/mine', { blocks: 3 })
    await harness.stopEngines()
    expect(await readState(harness)).not.toEqual(before)
    const sent = await sentDuring(harness, async () => {
      await restore('before')
      expect(await readState(harness)).toEqual(before)
      expect((await lab('GET', 'clock')).offsetMs).toBe(offsetMs)
    })
    expect(sent).toEqual([])
    // The engines find the state as they left it: nothing is missing, nothing is sent again.
    const alarms = (['journal-unmerged', 'journal-conflict', 'deep-reorg'] as const).map(countAlarm)
    const heads = await Promise.all(harness.chains.map((chain) => chain.height()))
    const wallet = await world.fundedWallet()
    const again = await sentDuring(harness, async () => {
      harness.startEngines()
      const id = await transfer(wallet)
      await reaches(id, 'COMPLETE')
    })
    expect(again).toHaveLength(1)
    expect(await harness.chain().height()).toBe(heads[0]! + 1)
    expect(alarms.map((count) => count())).toEqual([0, 0, 0])
    expect(await epoch()).toBe(epochBefore)
    const reorg = await lab('POST', 'chains/BASE-SEPOLIA/reorg', { depth: 5 })
    expect(reorg.orphaned).toHaveLength(5)
    const other = await makeWallet(world)
    const after = await transfer(wallet, { destinationAddress: other.address })
    await reaches(after, 'COMPLETE')
    expect(await harness.chain().oracle.balanceOf(other.address, harness.chain().tokens.USDC)).toBe(500_000n)
    await harness.chain().oracle.checkNonces(wallet.address)
    await receiver.close()
  })

  it('leaves the node of a chain running that is as it was, and starts that of another anew', async () => {
    for (const { blockchain } of harness.chains) await lab('POST', `chains/${blockchain}/mine`, { blocks: 6 })
    await harness.stopEngines()
    await save('two-chains')
    const saved = await readState(harness)
    const nodes = () => harness.chains.map((chain) => chain.pid())
    const [base, eth] = nodes()
    await lab('POST', 'chains/BASE-SEPOLIA/mine', { blocks: 1 })
    await restore('two-chains')
    expect(await readState(harness)).toEqual(saved)
    const [baseAfter, ethAfter] = nodes()
    expect(ethAfter).toBe(eth)
    expect(baseAfter).not.toBe(base)
    harness.startEngines()
    for (const chain of ['BASE-SEPOLIA', 'ETH-SEPOLIA'])
      expect((await lab('POST', `chains/${chain}/reorg`, { depth: 5 })).orphaned).toHaveLength(5)
    await harness.stopEngines()
    // The state that the restore replaced has both chains.
    await restore('@auto-1')
    await restore('two-chains')
    expect(await readState(harness)).toEqual(saved)
    await lab('DELETE', 'snapshots/two-chains')
    harness.startEngines()
  })

  it('can be undone, and the oldest of what restores replaced is dropped', async () => {
    await harness.stopEngines()
    const present = await readState(harness)
    await restore('before')
    expect(await readState(harness)).not.toEqual(present)
    await restore('@auto-1')
    expect(await readState(harness)).toEqual(present)
    await restore('before')
    expect(await names()).toEqual(['before', '@auto-3', '@auto-2', '@auto-1'])
    harness.startEngines()
    await until(async () => (await lab('GET', 'chains')).length === 2, 'the chains answer')
  })
})

const shelf = () => join(harness.ctx.config.dataDir, 'ephemeral-snapshots')
/** The directory of the snapshot of this name. */
async function directoryOf(name: string): Promise<string> {
  for (const id of await readdir(shelf())) {
    const text = await readFile(join(shelf(), id, 'manifest.json'), 'utf8').catch(() => '{}')
    if (JSON.parse(text).name === name) return join(shelf(), id)
  }
  throw new Error(`no directory of ${name}`)
}
/** Changes a file of a snapshot while `work` runs. */
async function whileChanged(path: string, change: (text: string) => string, work: () => Promise<void>) {
  const before = readFileSync(path, 'utf8')
  writeFileSync(path, change(before))
  await work().finally(() => writeFileSync(path, before))
}

describe('a reset', () => {
  it('returns to a first start, where the known public key still works, and can be undone', async () => {
    const { hash } = await harness.chain().rpc<{ hash: string }>('eth_getBlockByNumber', ['0x0', false])
    const reset = await lab('POST', 'reset')
    expect(reset.chains[0]).toEqual({ blockchain: 'BASE-SEPOLIA', number: 0, hash })
    expect((await harness.http('GET', '/v1/w3s/wallets')).body.data.wallets).toEqual([])
    expect(await harness.chain().height()).toBe(0)
    const wallet = await makeWallet(worldOf(harness))
    for (const token of ['USDC', 'NATIVE'])
      await lab('POST', 'faucet', {
        address: wallet.address,
        blockchain: wallet.blockchain,
        token,
        amount: '5',
      })
    const balances = () => harness.http('GET', `/v1/w3s/wallets/${wallet.id}/balances`)
    await until(async () => (await balances()).body.data.tokenBalances.length === 2, 'the coins are shown')
    const { transfer, reaches } = transferActions(harness)
    await reaches(await transfer(wallet), 'COMPLETE')
    await restore('@auto-1')
    expect((await harness.http('GET', '/v1/w3s/wallets')).body.data.wallets).not.toEqual([])
  })
})

describe('the event stream', () => {
  /** Reads a stream; `messages` are its events in the order of arrival. */
  async function follow(lastEventId?: string) {
    const leave = new AbortController()
    const response = await fetch(`${harness.url}/operator/events/stream?type=walletSet.*`, {
      headers: {
        Authorization: `Bearer ${harness.apiKey}`,
        ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
      },
      signal: leave.signal,
    })
    expect(response.status).toBe(200)
    const messages: { id: string; event: string; data: { snapshot?: string; resourceId?: string } }[] = []
    const read = async () => {
      let text = ''
      for await (const chunk of response.body!) {
        text += Buffer.from(chunk).toString()
        const parts = text.split('\n\n')
        text = parts.pop()!
        for (const part of parts.filter((each) => !each.startsWith(':'))) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1] ?? ''
          messages.push({ id: field('id'), event: field('event'), data: JSON.parse(field('data')) })
        }
      }
    }
    const ended = read().catch(() => undefined)
    const close = () => {
      leave.abort()
      return ended
    }
    return { messages, close }
  }

  it('tells of a restore, and then what happens in the restored state, also to a client that comes back', async () => {
    const made = async (name: string): Promise<string> => (await makeWalletSet(world, name)).walletSet.id
    const stream = await follow()
    const kept = await made('Kept')
    // An event that the trail has not linked yet is told after the restore.
    await until(() => stream.messages.length === 1, 'it is told')
    await save('told')
    const undone = [await made('Undone'), await made('Undone too')]
    await until(() => stream.messages.length === 3, 'both are told')
    await restore('told')
    const later = await made('Later')
    await until(() => stream.messages.length === 5, 'the restore and what follows are told')
    expect(stream.messages.map(({ event, data }) => [event, data.snapshot ?? data.resourceId])).toEqual([
      ['walletSet.created', kept],
      ['walletSet.created', undone[0]],
      ['walletSet.created', undone[1]],
      ['lab.restored', 'told'],
      ['walletSet.created', later],
    ])
    await stream.close()
    const again = await follow(stream.messages[3]!.id)
    await until(() => again.messages.length === 1, 'the client that comes back is told')
    expect(again.messages[0]!.data.resourceId).toBe(later)
    await restore('@auto-1')
    await until(() => again.messages.length === 2, 'it is told of the undone restore')
    expect(again.messages[1]).toMatchObject({ event: 'lab.restored', data: { snapshot: '@auto-1' } })
    const newest = await made('After all')
    await until(() => again.messages.length === 3, 'it goes on')
    expect(again.messages[2]!.data.resourceId).toBe(newest)
    await again.close()
  })
})

describe('while a restore runs', () => {
  it('property 168: requests wait and are answered, and another snapshot is refused', async () => {
    const restoring = restore('before')
    const second = await http('POST', 'snapshots/before/restore')
    const save = await http('POST', 'snapshots', { name: 'meanwhile' })
    const asked = Array.from({ length: 20 }, () => harness.http('GET', '/v1/w3s/wallets'))
    await restoring
    expect([second.status, save.status]).toEqual([409, 409])
    expect(second.body.message).toBe('A snapshot is being restored: try again when that is done.')
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200))
  })

  it('a request that only waits ends at once, and one to the node of a chain is answered after it', async () => {
    const waiting = harness.http('GET', '/sandbox/catcher/shop/messages?topic=none&wait=PT30S')
    const [, heads] = await Promise.all([restore('before'), harness.chain().height()])
    expect((await waiting).body.data).toEqual([])
    expect(heads).toBeGreaterThan(0)
  })
})

describe('refused is', () => {
  const refused = async (answer: ReturnType<typeof http>) => {
    const { status, body } = await answer
    return [status, body.message]
  }
  it.each([['@mine'], ['with space'], ['Capital'], ['x'.repeat(41)], ['']])('the name %j', async (name) => {
    expect((await http('POST', 'snapshots', { name })).status).toBe(400)
  })

  it('an unknown name, with a near one', async () => {
    for (const [method, path] of [
      ['POST', 'snapshots/befor/restore'],
      ['DELETE', 'snapshots/befor'],
      ['GET', 'snapshots/befor/export'],
    ] as const)
      expect(await refused(http(method, path))).toEqual([
        404,
        expect.stringContaining('did you mean before?'),
      ])
  })

  it('a name that is taken', async () => {
    expect(await refused(http('POST', 'snapshots', { name: 'before' }))).toEqual([
      409,
      expect.stringContaining('bezant sandbox snapshot delete before'),
    ])
  })

  it('a snapshot of another version, or of other chains, with the remedy', async () => {
    const path = join(await directoryOf('before'), 'manifest.json')
    const changed = (changes: object) => (text: string) => JSON.stringify({ ...JSON.parse(text), ...changes })
    await whileChanged(path, changed({ version: '9.9.9' }), async () => {
      expect(await refused(http('POST', 'snapshots/before/restore'))).toEqual([
        409,
        expect.stringContaining('of another version (9.9.9'),
      ])
    })
    await whileChanged(
      path,
      changed({ chains: [{ blockchain: 'ARB-SEPOLIA', number: 1, hash: '0x1' }] }),
      async () => {
        expect(await refused(http('POST', 'snapshots/before/restore'))).toEqual([
          409,
          expect.stringContaining('start it with --chains ARB-SEPOLIA'),
        ])
      },
    )
  })

  it('one snapshot too many, in number and in bytes', async () => {
    const template = JSON.parse(readFileSync(join(await directoryOf('before'), 'manifest.json'), 'utf8'))
    const made = Array.from({ length: 20 }, (_, index) => `${'f'.repeat(14)}${10 + index}`)
    const put = async (id: string, bytes: number) => {
      await mkdir(join(shelf(), id))
      const manifest = { ...template, id, name: `made-${id}`, bytes }
      await writeFile(join(shelf(), id, 'manifest.json'), JSON.stringify(manifest))
    }
    const remove = (id: string) => rm(join(shelf(), id), { recursive: true })
    await put(made[0]!, 6 * 1024 ** 3)
    expect(await refused(http('POST', 'snapshots', { name: 'large' }))).toEqual([
      429,
      expect.stringContaining('5120 MB is the most'),
    ])
    await remove(made[0]!)
    for (const id of made) await put(id, 1)
    expect(await refused(http('POST', 'snapshots', { name: 'twentieth' }))).toEqual([
      429,
      expect.stringContaining('bezant sandbox snapshot delete NAME'),
    ])
    for (const id of made) await remove(id)
  })

  it('a restore while another program uses the database', async () => {
    const { connection } = harness
    const settings = 'url' in connection ? { connectionString: connection.url } : connection
    const other = new pg.Client({ ...settings, application_name: 'bezant elsewhere:7' })
    other.on('error', () => undefined)
    await other.connect()
    expect(await refused(http('POST', 'snapshots/before/restore'))).toEqual([
      409,
      expect.stringContaining('bezant elsewhere:7'),
    ])
    await other.end()
  })

  it('property 169: a snapshot of which something is damaged: the former state is put back', async () => {
    await harness.stopEngines()
    const present = await readState(harness)
    const damages: [string, (text: string) => string][] = [
      ['chains/BASE-SEPOLIA/genesis.json', (text) => text.slice(0, 100)],
      ['chains/BASE-SEPOLIA/journal-0.jsonl', (text) => text.slice(0, text.indexOf('\n') + 1)],
      ['parts/catcher.jsonl', (text) => `${text}{`],
      ['root.key', (text) => `${'0'.repeat(60)}${text.slice(60)}`],
    ]
    for (const [name, damage] of damages) {
      await whileChanged(join(await directoryOf('before'), name), damage, async () => {
        expect([name, ...(await refused(http('POST', 'snapshots/before/restore')))]).toEqual([
          name,
          409,
          expect.stringContaining('The snapshot before is damaged'),
        ])
      })
      expect(await readState(harness), name).toEqual(present)
    }
  })
})

describe('an export', () => {
  const put = (name: string, body: Uint8Array) =>
    harness.http('POST', `/sandbox/snapshots/${name}/import`, { body })
  const exported = async () => {
    const answer = await fetch(`${harness.url}/sandbox/snapshots/before/export`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip'])
    return Buffer.from(await answer.arrayBuffer())
  }

  it('is imported as the same state', async () => {
    await harness.stopEngines()
    await restore('before')
    const before = await readState(harness)
    const file = await exported()
    const { status, text } = await put('copy', file)
    expect(status, text).toBe(201)
    await restore('copy')
    expect(await readState(harness)).toEqual(before)
    harness.startEngines()
    const { transfer, reaches } = transferActions(harness)
    await reaches(await transfer(await world.fundedWallet()), 'COMPLETE')
    await lab('DELETE', 'snapshots/copy')
    expect(await names()).not.toContain('copy')
  })

  it('property 169: is refused when it is damaged anywhere, and nothing is left of it', async () => {
    const file = await exported()
    const flipped = Buffer.from(file)
    flipped[Math.floor(file.length / 2)]! ^= 1
    const before = await names()
    const directories = await readdir(shelf())
    for (const bytes of [
      file.subarray(0, file.length - 30),
      file.subarray(0, 100),
      flipped,
      Buffer.from('no'),
    ])
      expect((await put('damaged', bytes)).body.message).toContain('The file is no whole snapshot')
    expect(await names()).toEqual(before)
    expect(await readdir(shelf())).toEqual(directories)
  })

  it('property 169: is refused when another program has written it, and nothing is left of it', async () => {
    const [head] = gunzipSync(await exported())
      .toString()
      .split('\n', 1)
    const { snapshot } = JSON.parse(head!)
    const own = (changes: object) => ({ snapshot: { ...snapshot, ...changes } })
    const key = { path: 'root.key', bytes: 0 }
    const [before, directories] = [await names(), await readdir(shelf())]
    for (const lines of [
      [null],
      [42],
      [{ snapshot: null }],
      [own({ chains: null })],
      [own({ chains: [null] })],
      [own({ savedDate: 5 })],
      [own({}), null],
      [own({}), { path: 'root.key' }],
      [own({}), { path: 'root.key', bytes: -1 }],
      [own({}), { path: 'root.key', bytes: 'some' }],
      [own({}), key, key],
      [own({}), { path: '../../root.key', bytes: 0 }],
      [own({}), key],
    ])
      expect((await put('written', packed(lines))).body, JSON.stringify(lines)).toMatchObject({
        message: expect.stringContaining('The file is no whole snapshot'),
      })
    expect([await names(), await readdir(shelf())]).toEqual([before, directories])
  })
})

describe('a listener', () => {
  it('holds up no snapshot, and is told of what happens after a restore of a state without it', async () => {
    harness.startEngines()
    await save('without-listener')
    const sink = await openWebhookSink()
    const listening = await startListening(harness.url, '--forward-to', sink.url, '--line', 'v1')
    const told = async (id: string) =>
      until(() => sink.received.some(({ body }) => body.includes(id)), 'the listener was told')
    try {
      await save('with-listener')
      await told((await makeRecipient(world)).id)
      await restore('without-listener')
      const isBack = async () => (await lab('GET', 'listeners'))[0]?.isConnected === true
      await until(isBack, 'the listener has subscribed again')
      await told((await makeRecipient(world)).id)
    } finally {
      await listening.end()
      await sink.close()
      await lab('DELETE', 'listeners/cli')
      for (const name of await names()) await lab('DELETE', `snapshots/${name}`)
    }
  })
})
