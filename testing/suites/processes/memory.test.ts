/** A process that derived, sealed and signed keeps no keys in memory: its memory is read from outside. */
import { randomUUID } from 'node:crypto'
import { entropyToMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { walletPrivateKey, walletSetEntropy } from '#custody/sealing/contexts'
import { deriveBytes, type SealContext, unseal } from '#custody/sealing/sealing'
import { seedOf } from '#custody/signing/seed'
import { sql } from '#runtime/db/db'
import { freshAddress, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { addBytes, addText, foundInMemory, memoryUnreadable } from '#testing/processes/process-memory'
import { programFile } from '#testing/processes/programs'
import { startWorker, type Worker } from '#testing/processes/worker'
import { sizeOf } from '#testing/runner/size'

const transfersTotal = sizeOf('MEMORY_TRANSFERS', { usual: 4, deep: 100 })

let harness: Harness
let worker: Worker
let tenant: Tenant

beforeAll(async () => {
  if (memoryUnreadable) return
  harness = await openHarness({ engines: false })
  worker = await startWorker(['--expose-gc', await programFile('worker')])
  const { blockchain, rpcUrl } = harness.chain()
  const roles = ['api', 'indexer', 'transactions'] as const
  await worker.open({ connection: harness.connection, rpcUrl, blockchain, roles })
  tenant = tenantOf((await worker.start())!, await harness.newEntity())
})
afterAll(async () => {
  worker?.signal('SIGKILL')
  await harness?.close()
})

if (memoryUnreadable) console.warn(`property 40 is not tested: ${memoryUnreadable}`)

const promise = 'neither phrase, seed, private key nor entity secret is in memory after use'

it.skipIf(memoryUnreadable)(`property 40: ${promise}`, async () => {
  await deriveAndSign()
  // Read at once: what was not wiped is garbage, which a collection may overwrite by chance while transfers are mined.
  const secret = new Map<string, Buffer>()
  addBytes(secret, 'entity secret', Buffer.from(tenant.entitySecret, 'hex'))
  expect(await heldOf(secret)).toEqual([])
  await untilComplete()
  const { wiped, collected } = await secretsOf(tenant)
  expect(wiped.size).toBeGreaterThan(30)
  // The sealing key is held as long as the process runs: finding it shows that the search works.
  const kept = new Map([['root sealing key', harness.ctx.custody.vault.root.newest().sealing.export()]])
  expect(await heldOf(new Map([...wiped, ...kept]))).toEqual([...kept.keys()])
  await worker.collect()
  expect(await heldOf(new Map([...wiped, ...collected, ...kept]))).toEqual([...kept.keys()])
})

/** Names of the values in the memory of the process, which is stopped while it is read. */
async function heldOf(values: ReadonlyMap<string, Buffer>): Promise<string[]> {
  worker.signal('SIGSTOP')
  await until(async () => worker.state() === 'frozen', 'the process stands still')
  try {
    return foundInMemory(worker.pid, values)
  } finally {
    worker.signal('SIGCONT')
  }
}

/** Every use of a key that an API and a worker have: sets, wallets, messages and transfers. */
async function deriveAndSign(): Promise<void> {
  const world = worldOf(harness, tenant)
  const wallet = await world.fundedWallet()
  for (let index = 0; index < transfersTotal; index++) {
    await world.call('POST', '/v1/w3s/developer/sign/message', {
      entitySecretCiphertext: await tenant.sealSecret(),
      walletId: wallet.id,
      message: `message ${index}`,
    })
    await world.call('POST', '/v1/w3s/developer/transactions/transfer', {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await tenant.sealSecret(),
      walletId: wallet.id,
      tokenId: world.usdcId,
      destinationAddress: freshAddress(),
      amounts: ['0.5'],
      feeLevel: 'MEDIUM',
    })
  }
}

async function untilComplete(): Promise<void> {
  await until(async () => {
    const { open } = await harness.database.one<{ open: number }>(
      sql`select count(*) as open from transactions where transaction_type = 'OUTBOUND' and state <> 'COMPLETE'`,
    )
    return open === 0
  }, 'every transfer is complete')
}

/**
 * All secrets that open the wallets of the tenant, in every encoding that code or a library could leave: those wiped at
 * once, and the key of the wallet keys, which OpenSSL clears when its key object is collected.
 */
async function secretsOf({ entityId, entitySecret }: Tenant) {
  const secret = Buffer.from(entitySecret, 'hex')
  const walletKey = harness.ctx.custody.vault.walletKeyOf(entityId, secret)
  const [wiped, collected] = [new Map<string, Buffer>(), new Map<string, Buffer>()]
  addBytes(wiped, 'entity secret', secret)
  addBytes(collected, 'key of the wallet keys', walletKey.inner.export())
  const open = (name: string, context: SealContext, sealed: Buffer) => {
    const plain = unseal(walletKey, context, sealed)
    addBytes(wiped, name, plain)
    addBytes(wiped, `key that opens the ${name}`, deriveBytes(walletKey.inner, context))
    return plain
  }
  const sets = await harness.database.all<Sealed>(
    sql`select id, sealed_entropy as sealed from wallet_sets where entity_id = ${entityId}`,
  )
  for (const { id, sealed } of sets) {
    const entropy = open('entropy', walletSetEntropy(entityId, id), sealed)
    addText(wiped, 'phrase', entropyToMnemonic(entropy, wordlist))
    addBytes(wiped, 'seed', await seedOf(entropy))
  }
  const keys = await harness.database.all<Sealed>(
    sql`select id, sealed_private_key as sealed from keys where entity_id = ${entityId} and class = 'wallet'`,
  )
  for (const { id, sealed } of keys) open(`private key ${id}`, walletPrivateKey(entityId, id), sealed)
  return { wiped, collected }
}

type Sealed = { id: string; sealed: Buffer }
