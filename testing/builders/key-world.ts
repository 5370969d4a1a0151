import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import {
  type Custody,
  createPlatformKey,
  openEntitySecret,
  signForIntents,
  signWithPlatformKey,
  spendCiphertext,
} from '#custody/index'
import { rotateWebhookKeys } from '#custody/installation/index'
import { rotateRootKey } from '#custody/root-key/index'
import { createWalletSet, createWallets } from '#custody/wallets/index'
import { sealedColumns } from '#identity/sealed-columns/index'
import { openWithPin, setPin, storeKeyChange } from '#identity/user-keys/index'
import { type Database, sql } from '#runtime/db/db'
import { grantFor, type TestCustody } from '#testing/platform/custody'
import { newPageUser, submissionOf } from './user-submissions.ts'

const pin = '258014'
const chains = [{ blockchain: 'BASE-SEPOLIA', family: 'evm' as const, onChain: true }]
const clock = { nowMs: Date.now }

/** Rotates the root key of a database, as the command does. */
export const rotateIn = (database: Database, custody: Custody) =>
  rotateRootKey({
    custody,
    database,
    clock,
    columns: sealedColumns,
    entityIds: async () =>
      (await database.all<{ id: string }>(sql`select id from entities`)).map(({ id }) => id),
    report: () => undefined,
  })

/** An installation with a key of each kind, and the work that needs them, in the process of any custody. */
export async function makeKeyWorld(test: TestCustody) {
  const entity = await test.newEntity()
  const secret = await openEntitySecret(entity.ctx(), await entity.encrypt())
  const wallets = await entity.act(async (ctx) => {
    await spendCiphertext(ctx, secret)
    const set = await createWalletSet(ctx, secret, {})
    return createWallets(ctx, secret, { walletSetId: set.id, chains, count: 3 })
  })
  const user = await newPageUser(entity)
  const submit = (purpose: 'setPin' | 'open', kind: string) => submissionOf(user, purpose, [[kind, pin]])
  const change = await setPin(entity.ctx(), submit('setPin', 'N'))
  await entity.act((ctx) => storeKeyChange(ctx, change))
  const scope = { custody: test.custody, db: test.database, clock }
  const platform = await createPlatformKey(scope, { entityId: entity.id, family: 'evm' })
  await rotateWebhookKeys(scope)
  const [intentId, intent] = [randomUUID(), Buffer.from(randomUUID())]
  await entity.act((ctx) => grantFor(ctx, secret, wallets[0]!, { intentId, intent }))
  const payload = { blockchain: 'BASE-SEPOLIA', nonce: 0, maxFeeAtomic: 2n, priorityFeeAtomic: 1n }
  const request = { entityId: entity.id, intentId, intent, payload: Buffer.alloc(32, 5), ...payload }
  const granted = await signForIntents(test.custody, test.database, [request], Date.now())
  const platformPayload = { entityId: entity.id, keyId: platform.keyId, payload: Buffer.alloc(32, 6) }
  const signed = await signWithPlatformKey(test.custody, test.database, platformPayload)
  const webhook = { id: 'w', timestampSeconds: 1, body: '{}' }
  const link = test.custody.notary.tokenOf('payment page', 'a')
  const { keyId } = await test.custody.webhookSigner.sign(webhook)
  return {
    entity,
    /** Everything works as before, in this process. */
    check: async (custody: Custody) => {
      expect(await signForIntents(custody, test.database, [request], Date.now())).toEqual(granted)
      expect(await signWithPlatformKey(custody, test.database, platformPayload)).toEqual(signed)
      expect((await custody.webhookSigner.sign(webhook)).keyId).toBe(keyId)
      expect(custody.notary.tokensOf('payment page', 'a')).toContain(link)
      const shown = await openEntitySecret(entity.ctx(custody), await entity.encrypt())
      await entity.act(async (ctx) => {
        const own = { intentId: randomUUID(), intent: randomBytes(32) }
        await grantFor(ctx, shown, wallets[1]!, own)
        await createWallets(ctx, shown, { walletSetId: wallets[0]!.walletSetId, chains, count: 1 })
      }, custody)
      await openWithPin(entity.ctx(custody), submit('open', 'P'))
    },
  }
}
