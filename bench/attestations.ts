import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFunctionData } from 'viem'
import { messageDigest } from '#chains/crosschain/attestation'
import {
  burnBodyVersion,
  encodeBurnBody,
  encodeMessage,
  fillMessage,
  messageVersion,
} from '#chains/crosschain/message'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { tokenMessengerV2Abi } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import { avaxFuji } from '#chains/networks/avax-fuji'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { openContext } from '#context'
import { listAttestationKeys, signAttestations } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import { type Hex, hexOf } from '#lib/hex'
import { newId } from '#lib/ids'
import { readConfig } from '#runtime/config'
import { type Database, sql } from '#runtime/db/db'
import { createLog } from '#runtime/log/log'
import { broadcast, devAccount, fund, headOf, nonceOf } from './chain.ts'
import { nodeOf } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'
import { until } from './until.ts'

const { tokenMessenger } = crosschainContracts.TEST
/** Messages that the engine attests in one `tx`. */
const batchSize = 50
const burnAtomic = 1_000n
const word = (address: string): Hex => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

export const attestationsBench: Bench = {
  name: 'attestations',
  about: 'mined burns attested, against signing and inserting alone',
  measure: async (run) => {
    const count = run.amount(10_000, 500, 5)
    const platform = await startPlatform(run)
    const ctx = await openScope(run, platform)
    const burnAll = await prepareBurns(platform)
    const things = {
      attested: async () => {
        const before = await attestedCount(ctx.database)
        await burnAll(count)
        const startedMs = performance.now()
        await platform.order('start')
        await until(
          async () => (await attestedCount(ctx.database)) === before + count,
          'all burns are attested',
          { patienceMs: 300_000, everyMs: 20 },
        )
        const seconds = (performance.now() - startedMs) / 1_000
        await platform.order('stop')
        return count / seconds
      },
      alone: async () => {
        const startedMs = performance.now()
        await signAndInsert(ctx, count)
        return (1_000 * count) / (performance.now() - startedMs)
      },
    }
    const busy = measureBusyCores()
    const { attested, alone } = await alternateRounds(run.amount(3, 1, 1), things)
    return [
      {
        name: `${count.toLocaleString('en')} mined burns followed and attested by one worker`,
        measured: { value: median(attested), unit: 'messages/s' },
        reference: { value: median(alone), unit: 'messages/s', what: 'signed and inserted alone' },
        promise: { ratioMin: 0.5 },
        ratio: ratioOf(attested, alone),
        coresBusy: busy(),
      } satisfies Figure,
      await availability(run, platform, ctx.database, burnAll),
    ]
  },
}

/** The time from the block of a burn, which is final at once, until it is attested, beside that until the indexer has the block. */
async function availability(
  run: Run,
  platform: Platform,
  database: Database,
  burnAll: (count: number) => Promise<void>,
): Promise<Figure> {
  /** About as many as a block has. */
  const burnsEach = run.amount(250, 250, 5)
  const count = burnsEach * run.amount(40, 8, 2)
  const before = await attestedCount(database)
  await platform.order('start')
  const watch = watchBlocks(platform, database)
  const busy = measureBusyCores()
  for (let sent = 0; sent < count; sent += burnsEach) await burnAll(burnsEach)
  await until(async () => (await attestedCount(database)) === before + count, 'all burns are attested', {
    patienceMs: 300_000,
    everyMs: 100,
  })
  const { minedMs, indexedMs } = await watch.end()
  await platform.order('stop')
  const rows = await database.all<{ number: number; attestedMs: number }>(
    sql`select block_number as number, extract(epoch from attested_date)::float8 * 1000 as attested_ms
      from messages where domain = ${baseSepolia.domain!} order by create_date desc limit ${count}`,
  )
  const seen = rows.filter(({ number }) => minedMs.has(number) && indexedMs.has(number))
  const attested = seen.map((row) => row.attestedMs - minedMs.get(row.number)!)
  const indexed = seen.map(({ number }) => indexedMs.get(number)! - minedMs.get(number)!)
  run.report(
    `${seen.length} burns in ${new Set(seen.map(({ number }) => number)).size} blocks that were watched`,
  )
  return {
    name: `from the final block of a burn until it is attested, median of ${count.toLocaleString('en')}`,
    measured: { value: median(attested), unit: 'ms' },
    reference: { value: median(indexed), unit: 'ms', what: 'until the indexer has its block' },
    promise: { ratioMax: 1.5 },
    ratio: median(attested) / median(indexed),
    coresBusy: busy(),
  }
}

/** Notes when each block is mined, and when the indexer has it. */
function watchBlocks(platform: Platform, database: Database) {
  const node = nodeOf(platform)
  const [minedMs, indexedMs] = [new Map<number, number>(), new Map<number, number>()]
  let isWatching = true
  const note = async (times: Map<number, number>, read: () => Promise<number | null>) => {
    let last = await read()
    while (isWatching) {
      const number = await read()
      if (number !== null && number !== last) times.set(number, Date.now())
      last = number
      await sleep(2)
    }
  }
  const indexed = async () =>
    (await database.one<{ number: number | null }>(sql`select max(block_number) as number from block_steps`))
      .number
  const watching = [note(minedMs, () => headOf(node)), note(indexedMs, indexed)]
  return {
    end: async () => {
      isWatching = false
      await Promise.all(watching)
      return { minedMs, indexedMs }
    },
  }
}

type Platform = Awaited<ReturnType<typeof startPlatform>>

async function openScope(run: Run, { ready }: Platform): Promise<EngineCtx> {
  const { dataDir, connection, nodeUrl, rootKey } = ready
  const { ctx, close } = await openContext({
    config: readConfig({ dataDir, port: 0, logLevel: 'warn', crosschainEnvironment: 'TEST' }, {}),
    log: createLog('warn'),
    connection,
    nodes: [{ blockchain: 'BASE-SEPOLIA', rpcUrl: nodeUrl, local: true }],
    rootKey: Buffer.from(rootKey, 'hex'),
  })
  run.atEnd(close)
  return ctx
}

const attestedCount = async (database: Database) =>
  (
    await database.one<{ count: number }>(
      sql`select count(*)::integer as count from messages where state = 'complete' and domain = ${baseSepolia.domain!}`,
    )
  ).count

const account = devAccount(3)
const destination = avaxFuji.domain!

/** Lets the messenger take the coins of all burns; returns the function that burns so many times, and ends when all are mined. */
async function prepareBurns(platform: Platform): Promise<(count: number) => Promise<void>> {
  const node = nodeOf(platform)
  const patience = { patienceMs: 120_000, everyMs: 50 }
  const call = async (to: Hex, data: Hex, nonce: number) =>
    account.signTransaction({
      chainId: node.chainId,
      type: 'eip1559',
      to,
      data,
      nonce,
      gas: 300_000n,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    })
  const sendAll = async (raw: readonly string[], last: number) => {
    for (let from = 0; from < raw.length; from += 500) await broadcast(node.url, raw.slice(from, from + 500))
    await until(async () => (await nonceOf(node, account.address)) === last, 'all calls are mined', patience)
  }
  await fund(node, account.address, 10n ** 12n, 0n)
  const first = await nonceOf(node, account.address)
  const args = [tokenMessenger, 10n ** 12n] as const
  const allow = encodeFunctionData({ abi: stablecoinAbi, functionName: 'approve', args })
  await sendAll([await call(node.usdc, allow, first)], first + 1)
  return async (count) => {
    const nonce = await nonceOf(node, account.address)
    const data = encodeFunctionData({
      abi: tokenMessengerV2Abi,
      functionName: 'depositForBurn',
      args: [burnAtomic, destination, word(account.address), node.usdc, word('0x0'), 0n, 2_000],
    })
    const raw = Array.from({ length: count }, (_, index) => call(tokenMessenger, data, nonce + index))
    await sendAll(await Promise.all(raw), nonce + count)
  }
}

/** The same signatures in batches of the same size, each with the row of its message; nothing is read from a chain or checked. */
async function signAndInsert(ctx: EngineCtx, count: number): Promise<void> {
  const [key] = await listAttestationKeys(ctx.database, 'message')
  const emitted = encodeMessage({
    version: messageVersion,
    sourceDomain: baseSepolia.domain!,
    destinationDomain: destination,
    nonce: word('0x0'),
    sender: word(tokenMessenger),
    recipient: word(tokenMessenger),
    destinationCaller: word('0x0'),
    minFinalityThreshold: 2_000,
    finalityThresholdExecuted: 0,
    messageBody: encodeBurnBody({
      version: burnBodyVersion,
      burnToken: word('0x1'),
      mintRecipient: word('0x2'),
      amount: burnAtomic,
      messageSender: word('0x3'),
      maxFee: 0n,
      feeExecuted: 0n,
      expirationBlock: 0n,
      hookData: '0x',
    }),
  })
  for (let done = 0; done < count; done += batchSize)
    await ctx.database.tx(async (tx) => {
      for (let index = 0; index < Math.min(batchSize, count - done); index++) {
        const nonce = hexOf(randomBytes(32))
        const filled = { nonce, finalityThresholdExecuted: 2_000, feeExecuted: 0n, expirationBlock: 0n }
        const message = fillMessage(emitted, filled)
        const digest = messageDigest(message)
        const [signature] = await signAttestations({ ...ctx, db: tx }, key!.id, [{ subject: nonce, digest }])
        // A domain that no chain has keeps them out of the count.
        await tx.run(sql`insert into messages (id, blockchain, domain, tx_hash, ordinal, nonce, block_hash, block_number,
            log_index, message, destination_domain, amount, max_fee, fast, state, attested_message, attestation, digest,
            finality_threshold, expiration_block, attested_date, create_date)
          values (${newId(Date.now())}, 'NONE', 4294967, ${nonce}, 0, ${nonce}, ${nonce}, 1, 0, ${emitted}, ${destination},
            ${burnAtomic.toString()}, 0, false, 'complete', ${message}, ${hexOf(signature!)}, ${digest}, 2000, 0, now(), now())`)
      }
    })
}
