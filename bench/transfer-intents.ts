import { randomBytes } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { burnIntentDigest } from '#chains/crosschain/burn-intent-typed-data'
import { type BurnIntent, encodeAttestation, encodeBurnIntent } from '#chains/crosschain/transfer-payload'
import { transferSpecHash } from '#chains/crosschain/transfer-spec'
import { recoverSigner } from '#chains/evm/signing/recover-signer'
import { unifiedBalanceContracts } from '#chains/evm/unified-balance/deployed-contracts'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { newId } from '#lib/ids'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { fund } from './chain.ts'
import { nodeOf, untilCaughtUp } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'
import { openTenant } from './tenant.ts'

/** Requests under way at once, each of a depositor of its own. */
const submitters = 16
const { wallet, minter } = unifiedBalanceContracts('TEST')
const word = (address: string): Hex => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
const domain = baseSepolia.domain!
const usdc = word(baseSepolia.tokens[0]!.address)

export const transferIntentsBench: Bench = {
  name: 'transfer-intents',
  about: 'transfers of unified balances attested over HTTP, against verifying and inserting alone',
  measure: async (run) => {
    const count = run.amount(2_000, 300, submitters)
    const platform = await startPlatform(run)
    const { ready, order } = platform
    const database = openAsOwner(ready.connection, submitters)
    run.atEnd(database.close)
    const customer = await openTenant(ready)
    await order('start')
    await fund(nodeOf(platform), customer.wallet.address, 10n ** 9n, 10n ** 18n)
    await untilCaughtUp(nodeOf(platform), customer)
    await order('stop')
    const people = Array.from({ length: submitters }, () => privateKeyToAccount(hexOf(randomBytes(32))))
    for (const { address } of people)
      await database.run(sql`insert into unified_balances (blockchain, depositor, available)
        values ('BASE-SEPOLIA', ${address.toLowerCase()}, 1000000000000000)`)
    const make = () =>
      Promise.all(Array.from({ length: count }, (_, index) => signed(people[index % submitters]!)))
    const things = {
      attested: async () => perSecond(await make(), (each) => attest(ready.url, each)),
      alone: async () => perSecond(await make(), (each) => verifyAndInsert(database, each)),
    }
    const busy = measureBusyCores()
    const { attested, alone } = await alternateRounds(run.amount(3, 1, 1), things)
    return [
      {
        name: `transfers of unified balances attested over HTTP, ${submitters} at once`,
        measured: { value: median(attested), unit: 'transfers/s' },
        reference: { value: median(alone), unit: 'transfers/s', what: 'verified and inserted alone' },
        promise: { ratioMin: 0.5 },
        ratio: ratioOf(attested, alone),
        coresBusy: busy(),
      } satisfies Figure,
    ]
  },
}

type Signed = { intent: BurnIntent; signature: Hex; depositor: string }

async function signed(account: ReturnType<typeof privateKeyToAccount>): Promise<Signed> {
  const depositor = account.address.toLowerCase()
  const intent: BurnIntent = {
    maxBlockHeight: 2n ** 256n - 1n,
    maxFee: 1_000_000n,
    spec: {
      version: 1,
      sourceDomain: domain,
      destinationDomain: domain,
      sourceContract: word(wallet),
      destinationContract: word(minter),
      sourceToken: usdc,
      destinationToken: usdc,
      sourceDepositor: word(depositor),
      destinationRecipient: word(depositor),
      sourceSigner: word(depositor),
      destinationCaller: word('0x0'),
      value: 1_000n,
      salt: hexOf(randomBytes(32)),
      hookData: '0x',
    },
  }
  return { intent, depositor, signature: await account.sign({ hash: burnIntentDigest(intent) }) }
}

/** Does the work with every item, `submitters` at once; returns how many a second. */
async function perSecond(items: Signed[], work: (item: Signed) => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  const total = items.length
  // One loop for each depositor, so that no request waits for the balance of another depositor.
  const loops = Array.from({ length: submitters }, async (_, first) => {
    for (let index = first; index < total; index += submitters) await work(items[index]!)
  })
  await Promise.all(loops)
  return (1_000 * total) / (performance.now() - startedMs)
}

async function attest(url: string, { intent, signature }: Signed): Promise<void> {
  const { spec, maxBlockHeight, maxFee } = intent
  const { hookData: _, ...shown } = spec
  const burnIntent = {
    maxBlockHeight: String(maxBlockHeight),
    maxFee: String(maxFee),
    spec: { ...shown, value: String(spec.value) },
  }
  const answer = await fetch(`${url}/v1/transfer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([{ burnIntent, signature }]),
  })
  if (answer.status !== 201) throw new Error(`POST /v1/transfer: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** The same rows as a transfer has, in one `tx`, and the same signature; nothing is checked but that. */
async function verifyAndInsert(database: Database, { intent, signature, depositor }: Signed): Promise<void> {
  const digest = burnIntentDigest(intent)
  if ((await recoverSigner(digest, signature)) !== depositor) throw new Error('another account signed')
  const id = newId(Date.now())
  const specHash = transferSpecHash(intent.spec)
  const payload = encodeAttestation({ maxBlockHeight: 1n, spec: intent.spec })
  const bytes = randomBytes(65)
  await database.tx(async (tx) => {
    await tx.run(sql`insert into unified_transfers (id, fingerprint, state, blockchain, payload, signature,
        expiration_block, fees, value, forwarded, create_date, update_date)
      values (${id}, ${bytesOf(digest)}, 'pending', 'BASE-SEPOLIA', ${payload}, ${bytes}, 1, '{}', 1000, false, now(), now())`)
    await tx.run(sql`insert into unified_signed_intents (transfer_id, entry, intents, signature)
      values (${id}, 0, ${encodeBurnIntent(intent)}, ${bytesOf(signature)})`)
    await tx.run(sql`insert into unified_intents (spec_hash, transfer_id, entry, position, blockchain, depositor, value,
        fee, max_fee, max_block_height)
      values (${specHash}, ${id}, 0, 0, 'BASE-SEPOLIA', ${depositor}, 1000, 10000, 1000000, ${intent.maxBlockHeight})`)
    await tx.run(sql`update unified_balances set available = available - 11000
      where blockchain = 'BASE-SEPOLIA' and depositor = ${depositor}`)
    await tx.run(sql`insert into attestation_signatures (purpose, subject, key_id, digest, create_date)
      select 'balance', ${specHash}, id, ${bytesOf(digest)}, now() from attestation_keys where purpose = 'balance'`)
  })
}
