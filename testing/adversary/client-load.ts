import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { networkOf } from '#chains/networks/index'
import { sandboxEntitySecret } from '#sandbox/credentials'
import { type HttpAnswer, seal } from '#testing/platform/tenant'
import type { PlannedTransfer } from './schedule.ts'
import { type PlannedWallet, type SeededDatabase, tenantAt } from './seeded-database.ts'
import type { Accepted } from './verdict.ts'
import type { Slot } from './worker-pool.ts'

/** The clients of one run: each repeats its request, with the same key, until it is answered. */
export type ClientLoad = {
  accepted: Accepted[]
  refused: PlannedTransfer[]
  /** Answers that no client should get. */
  defects: string[]
  submitAll(transfers: readonly PlannedTransfer[]): Promise<void>
  /** Cancels the transfers whose fee is too low for any block, unless they were refused for certain. */
  cancelUnderpriced(): Promise<void>
}

/** Time after which a client whose API is frozen asks another one. */
const patienceMs = 2_500
const path = '/v1/w3s/developer/transactions'

/** The first answer of any API that is neither silence nor a broken connection nor a server error. */
export async function askAnyApi(
  slots: readonly Slot[],
  from: number,
  withinMs: number,
  ask: (url: string) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  for (let attempt = from; ; attempt++) {
    const url = slots[attempt % slots.length]!.url()
    const asked = url && ask(url).catch(() => undefined)
    const answer = asked && (await Promise.race([asked, sleep(withinMs, undefined, { ref: false })]))
    if (answer && answer.status < 500) return answer
    await sleep(30)
  }
}

export function openClientLoad({ wallets, publicKey }: SeededDatabase, slots: readonly Slot[]): ClientLoad {
  const load: ClientLoad = { accepted: [], refused: [], defects: [], submitAll, cancelUnderpriced }

  async function ask(address: string, from: number, body: object): Promise<HttpAnswer> {
    const idempotencyKey = randomUUID()
    return askAnyApi(slots, from, patienceMs, async (url) => {
      const entitySecretCiphertext = seal(publicKey, Buffer.from(sandboxEntitySecret, 'hex'))
      return tenantAt(url).http('POST', address, {
        body: { idempotencyKey, entitySecretCiphertext, ...body },
      })
    })
  }

  async function submit(planned: PlannedTransfer): Promise<void> {
    const wallet = wallets[planned.wallet]!
    const answer = await ask(`${path}/transfer`, planned.api, bodyOf(planned, wallet))
    if (answer.status > 299) {
      load.refused.push(planned)
      return void load.defects.push(`a transfer was refused: ${answer.status} ${answer.text}`)
    }
    const { id } = answer.body.data
    load.accepted.push({ id, planned, from: wallet })
    if (!planned.later) return
    await sleep(planned.later.afterMs)
    await replace(id, planned, planned.later.verb)
  }

  async function replace(id: string, { api }: PlannedTransfer, verb: 'cancel' | 'accelerate'): Promise<void> {
    const answer = await ask(`${path}/${id}/${verb}`, api, {})
    // It may be too late for the verb: the verdict checks the outcome.
    if (answer.status > 299 && ![400, 409].includes(answer.status))
      load.defects.push(`${verb} of ${id}: ${answer.status} ${answer.text}`)
  }

  async function cancelUnderpriced(): Promise<void> {
    const underpriced = load.accepted.filter(({ planned }) => planned.flaw === 'low-price')
    await Promise.all(underpriced.map(({ id, planned }) => replace(id, planned, 'cancel')))
  }

  async function submitAll(transfers: readonly PlannedTransfer[]): Promise<void> {
    const submitted: Promise<void>[] = []
    for (const planned of transfers) {
      await sleep(planned.waitMs)
      submitted.push(submit(planned))
    }
    await Promise.all(submitted)
  }
  return load
}

function bodyOf(planned: PlannedTransfer, { id: walletId, blockchain }: PlannedWallet): object {
  const { coin, amountAtomic, to: destinationAddress, flaw } = planned
  const { nativeToken, tokens } = networkOf(blockchain)!
  const usdc = tokens.find(({ symbol }) => symbol === 'USDC')!
  const { id: tokenId, decimals } = coin === 'USDC' ? usdc : nativeToken
  const amounts = [`0.${amountAtomic.toString().padStart(decimals, '0')}`]
  const fee =
    flaw === 'low-price'
      ? { gasLimit: '100000', maxFee: '0.000000001', priorityFee: '0.000000001' }
      : { feeLevel: 'MEDIUM', ...(flaw === 'little-gas' && { gasLimit: '30000' }) }
  return { walletId, tokenId, destinationAddress, amounts, ...fee }
}
