/** A process that opens keys of users by PIN; `guessing-processes.ts` is the other end of its standard input and output. */
import { randomBytes, randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import type { UserKey } from '#custody/index'
import { openCustody, signNow } from '#custody/index'
import { decidePolicy } from '#custody/policy/index'
import { createWallets, findWallet } from '#custody/wallets/index'
import { type IdentityCtx, openIdentity } from '#identity/index'
import {
  changePin,
  type KeyChange,
  openWithPin,
  type Purpose,
  restorePin,
  type Submission,
  setPin,
  storeKeyChange,
} from '#identity/user-keys/index'
import { readConfig } from '#runtime/config'
import { openDatabase } from '#runtime/db/db'
import { armFailpoint } from '#runtime/scheduling/failpoints'
import { testLog } from '#testing/platform/log'
import type { GuessingOptions, Job, JobSubmission } from './guessing-processes.ts'

type Options = Omit<GuessingOptions, 'rootKey'> & { rootKey: string }

const options = JSON.parse(process.env['GUESSING']!) as Options
const wallets = new Map<string, string>()
let nowMs = 0

async function open(): Promise<IdentityCtx> {
  armFailpoint(options.failpoint)
  const clock = { nowMs: () => nowMs }
  const database = openDatabase(options.connection, 6)
  const log = testLog('silent')
  const custody = await openCustody({
    database,
    log,
    clock,
    rootKey: Buffer.from(options.rootKey, 'hex'),
  })
  const identity = openIdentity({
    database,
    custody,
    clock,
    pinCost: { memoryKib: options.memoryKib, passes: 1 },
    guessDirectory: options.guessDirectory,
  })
  const id = options.entityId
  const scope = { config: readConfig({}, {}), database, db: database, clock, log, custody, identity }
  const caller = { entity: { id, environment: 'TEST' as const, appId: id }, actor: 'test', requestId: 'test' }
  const hooks = { receivedMs: 0, afterRollback: [], afterCommit: [] }
  return { ...scope, ...caller, ...hooks } as unknown as IdentityCtx
}

/** Signs for the wallet that this process made for the user, if it did. */
async function sign(ctx: IdentityCtx, userKey: UserKey): Promise<void> {
  const walletId = wallets.get(userKey.userId)
  if (walletId === undefined) return
  const wallet = (await findWallet(ctx.db, { entityId: ctx.entity.id }, walletId))!
  const operation = { kind: 'transfer', effects: [], dangers: [] } as const
  const request = { intentId: randomUUID(), intent: randomBytes(32), operation }
  await signNow(ctx, userKey, await decidePolicy(ctx, wallet, request))
}

async function store(ctx: IdentityCtx, change: KeyChange): Promise<void> {
  const { walletSetId } = await storeKeyChange(ctx, change)
  if (walletSetId === undefined) return
  const chains = [{ blockchain: 'BASE-SEPOLIA', family: 'evm' as const, onChain: true }]
  const [wallet] = await createWallets(ctx, change.userKey, { walletSetId, chains, count: 1 })
  wallets.set(change.userKey.userId, wallet!.id)
}

const changes: { [Each in Purpose]?: (ctx: IdentityCtx, submission: Submission) => Promise<KeyChange> } = {
  setPin,
  changePin,
  restorePin,
}

async function handle(ctx: IdentityCtx, purpose: Purpose | undefined, submission: Submission): Promise<void> {
  if (purpose === undefined) {
    const userKey = await openWithPin(ctx, submission)
    return ctx.database.tx((db) => sign({ ...ctx, db }, userKey))
  }
  const change = await changes[purpose]!(ctx, submission)
  await ctx.database.tx((db) => store({ ...ctx, db }, change))
}

const codeOf = (ctx: IdentityCtx, purpose: Purpose | undefined, { key, ...submission }: JobSubmission) =>
  handle(ctx, purpose, { ...submission, encryptionKey: Buffer.from(key, 'hex') }).then(
    () => 0,
    ({ code = -2 }) => code as number,
  )

async function collect(): Promise<number[]> {
  for (let pass = 0; pass < 3; pass++) {
    globalThis.gc!()
    await new Promise((resume) => setImmediate(resume))
  }
  return []
}

async function execute(ctx: IdentityCtx, job: Job): Promise<number[]> {
  if (job === 'collect') return collect()
  nowMs = job.nowMs
  return Promise.all(job.submissions.map((each) => codeOf(ctx, job.purpose, each)))
}

async function serve(): Promise<void> {
  const ctx = await open()
  for await (const line of createInterface(process.stdin))
    process.stdout.write(`${JSON.stringify(await execute(ctx, JSON.parse(line) as Job))}\n`)
  await ctx.custody.close()
  await ctx.database.close()
}

void serve()
