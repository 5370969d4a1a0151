/** Rotates the root key under load, while serve, worker and the rotation itself are killed: nothing that was sealed is lost. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sealedColumns } from '#identity/sealed-columns/index'
import { raw, sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet, type World, worldOf } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { approved } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type Tenant, tenantOf, untilAdmitted } from '#testing/platform/tenant'
import { mineUntil, until } from '#testing/platform/until'
import { runProgram, spawnProgram } from '#testing/processes/program'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'
import { isDeep } from '#testing/runner/size'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'

const fresh = randomBytes(32)
const oldKey = testRootKey.toString('hex')
const bothKeys = `${oldKey}\n${fresh.toString('hex')}`
const killsMax = isDeep ? 12 : 3
const transfersMax = isDeep ? 60 : 12

let harness: Harness
let receiver: WebhookReceiver
let dataDir: string
let tenant: Tenant
const running = new Map<string, Awaited<ReturnType<typeof spawnProgram>>>()

beforeAll(async () => {
  harness = await openHarness({ engines: false, rootKeys: [testRootKey, fresh] })
  receiver = await openWebhookReceiver(harness.http)
  dataDir = await mkdtemp(join(tmpdir(), 'bezant-root-key-'))
  tenant = await harness.newEntity()
})
afterAll(async () => {
  for (const { child } of running.values()) child.kill('SIGKILL')
  await receiver?.close()
  await harness?.close()
  if (dataDir) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const envWith = (rootKey: string) => ({
  DATABASE_URL: urlOf(harness.connection),
  BEZANT_ROOT_KEY: rootKey,
  BEZANT_NOTIFICATION_TARGETS: 'loopback',
  BEZANT_NETWORKS: JSON.stringify([{ blockchain: 'BASE-SEPOLIA', rpcUrl: harness.chain().rpcUrl }]),
})

/** Starts serve or worker, and returns the address that it answers at. */
async function start(command: 'serve' | 'worker', rootKey: string): Promise<string> {
  const program = await spawnProgram({
    dataDir: join(dataDir, command),
    command,
    args: ['--port', '0'],
    env: envWith(rootKey),
  })
  running.set(command, program)
  const ready = () => /^\{.*"url":"([^"]+)".*"msg":"ready"\}$/m.exec(program.stderr())
  await until(() => ready() !== null || program.child.exitCode !== null, `${command} is ready`)
  return ready()?.[1] ?? Promise.reject(new Error(program.stderr()))
}

async function kill(command: 'serve' | 'worker'): Promise<void> {
  const { child, exited } = running.get(command)!
  child.kill('SIGKILL')
  await exited
}

const rotate = (rootKey: string, failpoint?: string) =>
  runProgram({
    dataDir: join(dataDir, 'command'),
    command: 'root-key',
    args: ['rotate', '--json'],
    env: { ...envWith(rootKey), ...(failpoint && { BEZANT_FAILPOINT: failpoint }) },
  })

/** The result of `doctor` about the root key. */
async function doctorSays(rootKey: string): Promise<string> {
  const { stdout, stderr } = await runProgram({
    dataDir: join(dataDir, 'command'),
    command: 'doctor',
    args: ['--for', 'serve', '--json'],
    env: envWith(rootKey),
  })
  const line = stdout.split('\n').find((each) => each.includes('"root key"'))
  if (!line) throw new Error(stderr)
  const { state, found } = JSON.parse(line)
  return `${state}: ${found}`
}

async function left(version: number): Promise<number> {
  let count = 0
  for (const { table, column } of sealedColumns) {
    const row = await harness.database.one<{
      count: number
    }>(sql`select count(*) as count from ${raw(table)} t
      where root_key_version(t.${raw(column)}) <> ${version}`)
    count += row.count
  }
  return count
}

/** A wallet set with two wallets of a developer, over the API of this address. */
async function createWallets(url: string): Promise<string[]> {
  const { http, sealSecret } = tenantOf(url, tenant)
  const made = await http('POST', '/v1/w3s/developer/walletSets', {
    body: { idempotencyKey: randomUUID(), name: 'A set', entitySecretCiphertext: await sealSecret() },
  })
  const wallets = await http('POST', '/v1/w3s/developer/wallets', {
    body: {
      idempotencyKey: randomUUID(),
      walletSetId: made.body.data.walletSet.id,
      blockchains: ['BASE-SEPOLIA'],
      count: 2,
      entitySecretCiphertext: await sealSecret(),
    },
  })
  return wallets.body.data.wallets.map(({ id }: { id: string }) => id)
}

const signMessage = (url: string, walletId: string) => {
  const { http, sealSecret } = tenantOf(url, tenant)
  return untilAdmitted(async () =>
    http('POST', '/v1/w3s/developer/sign/message', {
      body: { walletId, message: 'still mine', entitySecretCiphertext: await sealSecret() },
    }),
  )
}

it('property 284: a rotation under load, with kills of every process, loses nothing that was sealed', async () => {
  const world: World = worldOf(harness)
  const on = transferActions(harness)
  const complete = (id: string) =>
    mineUntil(harness.chain(), async () => (await on.read(id)).state === 'COMPLETE', `${id} is COMPLETE`)
  await start('worker', oldKey)
  let url = await start('serve', oldKey)
  expect(await doctorSays(oldKey)).toBe('ok: version 1 seals')
  const refused = await rotate(bothKeys)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/these processes lack version 2/)])
  for (const command of ['serve', 'worker'] as const) await kill(command)
  await start('worker', bothKeys)
  url = await start('serve', bothKeys)
  expect(await doctorSays(bothKeys)).toMatch(
    /^ok: version 1 seals; a newer one is given: restart every process/,
  )

  const wallet: Wallet = await on.fundedWallet()
  const developer = await createWallets(url)
  const before = (await signMessage(url, developer[0]!)).body.data.signature
  const user = await makePinUser(world)
  const subscribed = await harness.http('POST', '/v2/notifications/subscriptions', {
    body: { endpoint: receiver.url },
  })
  expect(subscribed.status, subscribed.text).toBe(200)
  const to: string[] = []
  const ids: string[] = []
  let ended = false
  const load = async () => {
    while (!ended || ids.length < transfersMax) {
      const address = freshAddress()
      ids.push(await on.transfer(wallet, { destinationAddress: address }))
      to.push(address)
      await sleep(randomInt(50, 300))
      if (ids.length >= 5 * transfersMax) return
    }
  }
  let signed = 0
  const asking = async () => {
    while (!ended) {
      // A server that was killed does not answer: the next one is asked.
      const answer = await signMessage(url, developer[0]!).catch(() => undefined)
      if (answer) {
        expect([answer.status, answer.body.data?.signature], answer.text).toEqual([200, before])
        signed++
      }
      await sleep(randomInt(50, 300))
    }
  }
  const kills = async () => {
    for (let count = 0; count < killsMax && !ended; count++) {
      await sleep(randomInt(500, 4_000))
      const command = randomInt(2) === 0 ? 'serve' : 'worker'
      await kill(command)
      const answered = await start(command, bothKeys)
      if (command === 'serve') url = answered
      console.info(`killed ${command} with ${ids.length} transfers accepted and ${await left(2)} values left`)
    }
  }
  const rotating = async () => {
    const points = [
      'after-root-key-activation:1',
      `after-root-key-batch:${randomInt(1, 8)}`,
      'after-root-key-close:1',
    ]
    for (const point of points) {
      const { code, stderr } = await rotate(bothKeys, `${point}:kill`)
      expect([point, code], stderr).toEqual([point, null])
    }
    const done = await rotate(bothKeys)
    expect(done.code, done.stderr).toBe(0)
    return JSON.parse(done.stdout)
  }
  const [rotated] = await Promise.all([
    rotating().finally(() => void (ended = true)),
    load(),
    asking(),
    kills(),
  ])
  expect(rotated).toMatchObject({ version: 2, retired: '1' })
  expect(signed).toBeGreaterThan(0)
  expect(await left(2)).toBe(0)
  expect(await doctorSays(bothKeys)).toBe('ok: version 2 seals; remove version 1, which is retired')
  expect(await doctorSays(oldKey)).toMatch(/^FAULT: .*, which is retired: set BEZANT_ROOT_KEY/)

  const alone = await rotate(oldKey)
  expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining('which is retired')])
  for (const command of ['serve', 'worker'] as const) {
    await kill(command)
    await expect(start(command, oldKey)).rejects.toThrow('which is retired')
    const answered = await start(command, fresh.toString('hex'))
    if (command === 'serve') url = answered
  }
  for (const id of ids) await complete(id)
  await harness
    .chain()
    .oracle.checkMovedOnce(
      to.map((address) => ({ to: address, token: harness.chain().tokens.USDC, amountAtomic: 500_000n })),
    )
  expect((await signMessage(url, developer[0]!)).body.data.signature).toBe(before)
  expect(await createWallets(url)).toHaveLength(2)
  const challenge = await askUser(world, user, 'sign/message', { walletId: user.wallet.id, message: 'x' })
  await approved(world, user, challenge)
  const from = receiver.webhooks().length
  await complete(await on.transfer(wallet))
  await until(
    () => receiver.webhooks().length > from,
    'a webhook arrives, whose signatures the receiver checks',
  )
  const verified = await runProgram({
    dataDir: join(dataDir, 'command'),
    command: 'audit',
    args: ['verify'],
    env: envWith(fresh.toString('hex')),
  })
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('nothing was altered')])
})
