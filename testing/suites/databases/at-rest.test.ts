/**
 * What whoever copies the database and the files gets without the root key: every column of every table is searched for bytes
 * from which the key of a managed address follows.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keccak_256 } from '@noble/hashes/sha3'
import { isPrivate, pointFromScalar } from 'tiny-secp256k1'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { walletPrivateKey } from '#custody/sealing/contexts'
import { unseal } from '#custody/sealing/sealing'
import { openAsOwner, raw, sql } from '#runtime/db/db'
import { type World, worldOf } from '#testing/builders/world'
import { approve, pin } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'

let harness: Harness
let world: World
let searched: Buffer[]

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  await Promise.all([world.fundedWallet(), world.paymentIntent()])
  await world.transfer()
  const user = await makePinUser(world)
  await approve(
    world,
    user,
    await askUser(world, user, 'sign/message', { walletId: user.wallet.id, message: 'x' }),
  )
  await harness.stopEngines()
  searched = [...(await columnsOf()), ...(await filesOf(harness.ctx.config.dataDir))]
})
afterAll(() => harness?.close())

/** The values of all columns, each once: bytes as they are, and what texts encode. */
async function columnsOf(): Promise<Buffer[]> {
  const owner = openAsOwner(harness.connection)
  try {
    const tables = await owner.all<{ name: string }>(
      sql`select tablename as name from pg_tables where schemaname = 'public'`,
    )
    const found = new Map<string, Buffer>()
    for (const { name } of tables) {
      const rows = await owner.all<Record<string, unknown>>(sql`select * from ${raw(`"${name}"`)} limit 500`)
      for (const value of rows.flatMap((row) => Object.values(row)))
        for (const bytes of readingsOf(value))
          if (bytes.length >= 32) found.set(bytes.toString('latin1'), bytes)
    }
    return [...found.values()]
  } finally {
    await owner.close()
  }
}

function readingsOf(value: unknown): Buffer[] {
  if (Buffer.isBuffer(value)) return [value]
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const encoded = text.match(/[0-9a-f]{64,}/gi) ?? []
  const base64 = text.match(/[\w+/-]{43,}=*/g) ?? []
  return [
    ...encoded.map((hex) => Buffer.from(hex.slice(0, hex.length & ~1), 'hex')),
    ...base64.map((each) => Buffer.from(each, 'base64')),
  ]
}

async function filesOf(folder: string): Promise<Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))))
}

/** The addresses of `wanted` whose private key is any 32 bytes in a row of the values. */
function heldIn(values: readonly Buffer[], wanted: ReadonlySet<string>): string[] {
  const seen = new Set<string>()
  const held: string[] = []
  for (const value of values)
    for (let at = 0; at + 32 <= value.length; at++) {
      const key = value.subarray(at, at + 32)
      const name = key.toString('latin1')
      if (seen.has(name) || !isPrivate(key)) continue
      seen.add(name)
      const address = addressOf(key)
      if (wanted.has(address)) held.push(address)
    }
  return held
}

function addressOf(key: Buffer): string {
  const publicKey = pointFromScalar(key, false)!.subarray(1)
  return `0x${Buffer.from(keccak_256(publicKey)).subarray(12).toString('hex')}`
}

const keys = () =>
  harness.database.all<{ entityId: string; id: string; class: string; address: string; sealed: Buffer }>(
    sql`select entity_id, id, class, address, sealed_private_key as sealed from keys`,
  )

it('property 39: the database and the files hold no private key of a managed address', async () => {
  const rows = await keys()
  expect(new Set(rows.map((row) => row.class))).toEqual(new Set(['wallet', 'platform', 'user']))
  const wanted = new Set(rows.map(({ address }) => address))
  expect(heldIn(searched, wanted)).toEqual([])
  // The search finds a key where one is: opened with the entity secret, and put among other bytes.
  const { entityId, id, address, sealed } = rows.find((row) => row.class === 'wallet')!
  const { vault } = harness.ctx.custody
  const walletKey = vault.walletKeyOf(entityId, Buffer.from(world.tenant.entitySecret, 'hex'))
  const key = unseal(walletKey, walletPrivateKey(entityId, id), sealed)
  expect(heldIn([Buffer.concat([Buffer.alloc(7, 1), key, Buffer.alloc(9, 2)])], wanted)).toEqual([address])
})

it('property 39: a sealed key moved to another row or tenant opens nothing there', async () => {
  const owner = openAsOwner(harness.connection)
  const user = await makePinUser(world)
  const other = await makePinUser(worldOf(harness, await harness.newEntity()))
  const message = { walletId: user.wallet.id, message: 'x' }
  const id = await askUser(world, user, 'sign/message', message)
  try {
    const sealedOf = ({ address }: { address: string }) =>
      owner.one<{ sealed: Buffer }>(
        sql`select sealed_private_key as sealed from keys where address = ${address}`,
      )
    const own = (await sealedOf(user.wallet)).sealed
    for (const { address } of [other.wallet, await world.wallet()]) {
      const { sealed } = await sealedOf({ address })
      await owner.run(
        sql`update keys set sealed_private_key = ${sealed} where address = ${user.wallet.address}`,
      )
      expect((await approve(world, user, id, [['P', pin]])).status).toBe(500)
    }
    await owner.run(sql`update keys set sealed_private_key = ${own} where address = ${user.wallet.address}`)
    expect((await approve(world, user, id, [['P', pin]])).status).toBe(200)
  } finally {
    await owner.close()
  }
})
