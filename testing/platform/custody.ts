import { randomBytes } from 'node:crypto'
import {
  type Custody,
  type CustodyCtx,
  type EntitySecret,
  grantSigning,
  openCustody,
  registerEntitySecret,
  transportPublicKey,
} from '#custody/index'
import { decidePolicy, startPermissive } from '#custody/policy/index'
import type { GivenRootKeys } from '#custody/root-key/index'
import type { Wallet } from '#custody/wallets/index'
import { type Identity, type IdentityCtx, type OpenIdentityInput, openIdentity } from '#identity/index'
import { newId } from '#lib/ids'
import { type Clock, systemClock } from '#lib/time'
import { insertEntity } from '#runtime/auth/store'
import { readConfig } from '#runtime/config'
import type { Connection, Database, Db } from '#runtime/db/db'
import { openMetrics } from '#runtime/telemetry/metrics'
import { openTestDatabase } from '#testing/databases/database'
import { testRootKey } from '#testing/databases/template'
import type { TemplateName } from '#testing/databases/test-databases'
import { testLog } from './log.ts'
import { seal } from './tenant.ts'

/** Custody alone on its own database, for tests that need no chains, engines or HTTP. */
export type TestCustody = {
  database: Database
  connection: Connection
  custody: Custody
  identity: Identity
  rootKey: Buffer
  /** A second process on the same database, or on a copy of it. */
  open(rootKey?: GivenRootKeys, more?: OpenOptions): Promise<Custody>
  /** An entity, by default with a registered secret and the permissive policy. */
  newEntity(options?: { registered?: boolean; policy?: boolean }): Promise<TestEntity>
  close(): Promise<void>
}

export type TestEntity = {
  id: string
  secret: Buffer
  recoveryFile: string | undefined
  /** The context of a verb, for `prepare`: `db` is the pool. */
  ctx(custody?: Custody, identity?: Identity): IdentityCtx
  /** Runs `work` as a verb does: in one transaction, and with the required writes after a refusal. */
  act<Result>(work: (ctx: IdentityCtx) => Promise<Result>, custody?: Custody): Promise<Result>
  /** A fresh ciphertext of the entity's secret, or of other bytes. */
  encrypt(bytes?: Buffer): Promise<string>
}

type OpenOptions = Partial<
  Pick<Parameters<typeof openCustody>[0], 'database' | 'keyService' | 'whileWaiting'>
>

export type TestCustodyOptions = Pick<OpenIdentityInput, 'guessDirectory' | 'pinCost'> & { clock?: Clock }

/** `empty` has no transport key: the first custody makes one, which takes seconds of a processor. */
export async function openTestCustody(
  template: TemplateName = 'seeded',
  { clock = systemClock, ...options }: TestCustodyOptions = {},
): Promise<TestCustody> {
  const { database, connection, close } = await openTestDatabase(template)
  const log = testLog('silent')
  const rootKey = template === 'seeded' ? testRootKey : randomBytes(32)
  const opened: Custody[] = []
  const identities = new Map<Custody, Identity>()
  const open = async (key: GivenRootKeys = rootKey, more: OpenOptions = {}) => {
    const custody = await openCustody({ database, log, rootKey: key, clock, ...more })
    identities.set(custody, openIdentity({ database, custody, clock, ...options }))
    opened.push(custody)
    return custody
  }
  const custody = await open()
  const newEntity = async ({ registered = true, policy = true } = {}): Promise<TestEntity> => {
    const id = newId(Date.now())
    await insertEntity(database, { id, environment: 'TEST', name: 'Test', nowMs: Date.now() })
    if (policy) await startPermissive({ db: database, clock: systemClock }, id)
    const entity = entityOf({ database, custody, identities, log, clock }, id)
    if (!registered) return entity
    const { checkValueOf, walletKeyOf } = custody.vault
    const shown = {
      checkValue: checkValueOf(id, entity.secret),
      opened: {
        entityId: id,
        walletKey: walletKeyOf(id, entity.secret),
        ciphertextSha256: randomBytes(32),
      },
    }
    const { recoveryFile } = await entity.act((ctx) => registerEntitySecret(ctx, shown))
    return { ...entity, recoveryFile }
  }
  return {
    database,
    connection,
    custody,
    identity: identities.get(custody)!,
    rootKey,
    open,
    newEntity,
    close: async () => {
      await transportPublicKey(custody).catch(() => undefined)
      for (const each of opened) await each.close()
      await close()
    },
  }
}

/** Writes the records of an accepted request: a policy decision, and the grant that it allows. */
export async function grantFor(
  ctx: CustodyCtx,
  secret: EntitySecret,
  wallet: Wallet,
  { intentId, intent }: { intentId: string; intent: Buffer },
): Promise<void> {
  const operation = { kind: 'transfer', effects: [], dangers: [] } as const
  await grantSigning(ctx, secret, await decidePolicy(ctx, wallet, { intentId, intent, operation }))
}

type Parts = {
  database: Database
  custody: Custody
  identities: ReadonlyMap<Custody, Identity>
  log: ReturnType<typeof testLog>
  clock: Clock
}

function entityOf({ database, custody, identities, log, clock }: Parts, id: string): TestEntity {
  const secret = randomBytes(32)
  const ctx = (
    through = custody,
    db: Db = database,
    identity = identities.get(through) ?? identities.get(custody)!,
  ): IdentityCtx => ({
    config: readConfig({}, {}),
    database,
    db,
    clock,
    log,
    metrics: openMetrics(),
    entity: { id, environment: 'TEST', appId: id },
    actor: 'test',
    requestId: 'test',
    receivedMs: Date.now(),
    afterRollback: [],
    afterCommit: [],
    custody: through,
    identity,
  })
  const act: TestEntity['act'] = async (work, through) => {
    const { afterRollback } = ctx(through)
    try {
      return await database.tx((tx) => work({ ...ctx(through, tx), afterRollback }))
    } catch (error) {
      for (const after of afterRollback) await after()
      throw error
    }
  }
  return {
    id,
    secret,
    recoveryFile: undefined,
    ctx: (through, identity) => ctx(through, database, identity),
    act,
    encrypt: async (bytes = secret) => seal(await transportPublicKey(custody), bytes),
  }
}
