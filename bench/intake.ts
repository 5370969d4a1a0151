import { constants, generateKeyPairSync, publicEncrypt, randomBytes, webcrypto } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { networks } from '#chains/networks/index'
import { fund } from './chain.ts'
import { nodeOf, untilCaughtUp } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'
import { type Customer, callApi, openTenant } from './tenant.ts'

/** Requests under way at once. */
const submittersMax = 16

const usdcId = networks
  .find(({ blockchain }) => blockchain === 'BASE-SEPOLIA')!
  .tokens.find(({ symbol }) => symbol === 'USDC')!.id

const algorithm = { name: 'RSA-OAEP', hash: 'SHA-256' }

export const intakeBench: Bench = {
  name: 'intake',
  about: 'transfers accepted over HTTP, each with a ciphertext of its own, against decrypting alone',
  measure: async (run) => {
    const count = run.amount(1_500, 300, 5)
    const platform = await startPlatform(run)
    const { ready, order } = platform
    const node = nodeOf(platform)
    const customer = await openTenant(ready)
    await order('start')
    await fund(node, customer.wallet.address, 10n ** 13n, 10n ** 20n)
    await untilCaughtUp(node, customer)
    await order('stop')
    const decrypt = await decrypter(count)
    const things = { intake: () => accept(run, customer, count), decrypting: decrypt }
    const busy = measureBusyCores()
    const { intake, decrypting } = await alternateRounds(run.amount(3, 1, 1), things)
    return [
      {
        name: `transfers accepted over HTTP, one process, ${count.toLocaleString('en')} in a row`,
        measured: { value: median(intake), unit: 'requests/s' },
        reference: { value: median(decrypting), unit: 'requests/s', what: 'decrypted alone' },
        ratio: ratioOf(intake, decrypting),
        promise: { ratioMin: 0.6 },
        coresBusy: busy(),
      } satisfies Figure,
    ]
  },
}

/** Decryptions per second of the same kind of ciphertext on all cores, with nothing around them. */
async function decrypter(count: number): Promise<() => Promise<number>> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 4096 })
  const der = privateKey.export({ type: 'pkcs8', format: 'der' })
  const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }
  const ciphertexts = Array.from({ length: count }, () =>
    publicEncrypt({ key: publicKey, ...padding }, randomBytes(32)),
  )
  // A handle serves one decryption at a time.
  const handles = await Promise.all(
    Array.from({ length: availableParallelism() }, () =>
      webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['decrypt']),
    ),
  )
  return async () => {
    const startedMs = performance.now()
    let next = 0
    const work = async (handle: webcrypto.CryptoKey) => {
      while (next < count)
        await webcrypto.subtle.decrypt({ name: algorithm.name }, handle, ciphertexts[next++]!)
    }
    await Promise.all(handles.map(work))
    return count / ((performance.now() - startedMs) / 1000)
  }
}

/** Sends all transfers to the API, each to a separate address, and requires their acceptance. */
export async function accept(run: Run, { tenant, keyed, wallets }: Customer, count: number): Promise<number> {
  const startedMs = performance.now()
  let next = 0
  let accepted = 0
  const submit = async () => {
    while (next < count) {
      const index = next++
      const to = `0x${(0xca11_0000_0000n + BigInt(index)).toString(16).padStart(40, '0')}`
      await callApi(tenant, 'POST', '/v1/w3s/developer/transactions/transfer', {
        ...(await keyed()),
        walletId: wallets[index % wallets.length]!.id,
        tokenId: usdcId,
        destinationAddress: to,
        amounts: ['0.01'],
        feeLevel: 'MEDIUM',
      })
      if (++accepted % 1_000 === 0) run.report(`${accepted} accepted`)
    }
  }
  await Promise.all(Array.from({ length: submittersMax }, submit))
  const perSecond = count / ((performance.now() - startedMs) / 1000)
  run.report(`${count} transfers accepted over HTTP, ${perSecond.toFixed(0)} per second`)
  return perSecond
}
