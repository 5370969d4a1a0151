import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { custom } from 'viem'
import { networks } from '#chains/networks/index'
import { sandboxClientKey, sandboxEntitySecret } from '#sandbox/credentials'
import { modularAccountOver, tokenPayment } from '../modular-accounts.ts'
import { type HttpAnswer, httpAs, seal } from '../tenant.ts'
import type { PlannedTransfer } from './schedule.ts'
import { blockchain, pageOwner, type SeededDatabase, tenantAt } from './seeded-database.ts'
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

const { nativeToken, tokens } = networks.find((network) => network.blockchain === blockchain)!
const usdc = tokens.find(({ symbol }) => symbol === 'USDC')!

/** Time after which a client whose API is frozen asks another one. */
const patienceMs = 2_500
const path = '/v1/w3s/developer/transactions'
const rpcPath = '/v1/rpc/w3s/buidl/baseSepolia'

/** Whether a page is to ask again: a node does not answer, or too many requests wait for it. */
const isBusy = ({ body }: HttpAnswer) => body?.jsonrpc && [-32002, -32005].includes(body.error?.code)

export function openClientLoad({ wallets, publicKey }: SeededDatabase, slots: readonly Slot[]): ClientLoad {
  const load: ClientLoad = { accepted: [], refused: [], defects: [], submitAll, cancelUnderpriced }

  /** The first answer of any API that is neither silence nor a server error. */
  async function askAny(from: number, post: (url: string) => Promise<HttpAnswer>): Promise<HttpAnswer> {
    for (let attempt = from; ; attempt++) {
      const url = slots[attempt % slots.length]!.url()
      const answer =
        url &&
        (await Promise.race([post(url).catch(() => undefined), sleep(patienceMs, undefined, { ref: false })]))
      if (answer && answer.status < 500 && !isBusy(answer)) return answer
      await sleep(30)
    }
  }

  async function ask(address: string, from: number, body: object): Promise<HttpAnswer> {
    const idempotencyKey = randomUUID()
    return askAny(from, (url) => {
      const entitySecretCiphertext = seal(publicKey, Buffer.from(sandboxEntitySecret, 'hex'))
      const options = { body: { idempotencyKey, entitySecretCiphertext, ...body } }
      return tenantAt(url).http('POST', address, options)
    })
  }

  async function submit(planned: PlannedTransfer): Promise<void> {
    const wallet = wallets[planned.wallet]!
    if (wallet.accountType === 'MODULAR') return submitOperation(planned, wallet.address)
    const answer = await ask(`${path}/transfer`, planned.api, bodyOf(planned, wallet.id))
    if (answer.status > 299) {
      load.refused.push(planned)
      return void load.defects.push(`a transfer was refused: ${answer.status} ${answer.text}`)
    }
    const { id } = answer.body.data
    load.accepted.push({ id, planned, from: wallet.address })
    if (!planned.later) return
    await sleep(planned.later.afterMs)
    await replace(id, planned, planned.later.verb)
  }

  /** Signs and sends an operation as a page does; the id of what was accepted is its hash. */
  async function submitOperation(planned: PlannedTransfer, from: string): Promise<void> {
    const request = async ({ method, params = [] }: { method: string; params?: unknown }) => {
      const body = { jsonrpc: '2.0', id: 1, method, params }
      const post = (url: string) => httpAs(url, sandboxClientKey)('POST', rpcPath, { body })
      const { error, result } = (await askAny(planned.api, post)).body
      if (error) throw Object.assign(new Error(`${method}: ${error.message}`), { code: error.code })
      return result
    }
    try {
      const transport = custom({ request }, { retryCount: 0 })
      const { bundler } = await modularAccountOver(transport, pageOwner(planned.wallet))
      const calls = [tokenPayment(usdc.address, planned.to, planned.amountAtomic)]
      const id = await bundler.sendUserOperation({ calls: calls as never })
      load.accepted.push({ id, planned, from })
    } catch (error) {
      load.refused.push(planned)
      load.defects.push(`an operation was refused: ${(error as Error).message}`)
    }
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

function bodyOf(planned: PlannedTransfer, walletId: string): object {
  const { coin, amountAtomic, to: destinationAddress, flaw } = planned
  const [tokenId, decimals] =
    coin === 'USDC' ? [usdc.id, usdc.decimals] : [nativeToken.id, nativeToken.decimals]
  const amounts = [`0.${amountAtomic.toString().padStart(decimals, '0')}`]
  const fee =
    flaw === 'low-price'
      ? { gasLimit: '100000', maxFee: '0.000000001', priorityFee: '0.000000001' }
      : { feeLevel: 'MEDIUM', ...(flaw === 'little-gas' && { gasLimit: '30000' }) }
  return { walletId, tokenId, destinationAddress, amounts, ...fee }
}
