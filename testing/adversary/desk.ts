import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { networks } from '#chains/networks/index'
import { sandboxEntitySecret } from '#sandbox/credentials'
import { type HttpAnswer, seal } from '../tenant.ts'
import { blockchain, type Ground, tenantAt } from './lane.ts'
import type { PlannedTransfer } from './schedule.ts'
import type { Seat } from './staff.ts'
import type { Accepted } from './verdict.ts'

/** The customers of one run: each repeats its request, with the same key, until it is answered. */
export type Desk = {
  accepted: Accepted[]
  refused: PlannedTransfer[]
  /** Answers that no customer should get. */
  defects: string[]
  submitAll(transfers: readonly PlannedTransfer[]): Promise<void>
  /** Cancels the transfers whose fee is too low for any block, unless they were refused for certain. */
  giveUp(): Promise<void>
}

const { nativeToken, tokens } = networks.find((network) => network.blockchain === blockchain)!
const usdc = tokens.find(({ symbol }) => symbol === 'USDC')!

/** Time after which a customer whose API is frozen asks another one. */
const patienceMs = 2_500
const path = '/v1/w3s/developer/transactions'

export function openDesk(ground: Ground, seats: readonly Seat[]): Desk {
  const { wallets, publicKey } = ground
  const desk: Desk = { accepted: [], refused: [], defects: [], submitAll, giveUp }

  /** The first answer of any API that is neither silence nor a server error. */
  async function ask(address: string, from: number, body: object): Promise<HttpAnswer> {
    const idempotencyKey = randomUUID()
    for (let turn = from; ; turn++) {
      const url = seats[turn % seats.length]!.url()
      const entitySecretCiphertext = seal(publicKey, Buffer.from(sandboxEntitySecret, 'hex'))
      const options = { body: { idempotencyKey, entitySecretCiphertext, ...body } }
      const answer =
        url &&
        (await Promise.race([
          tenantAt(url)
            .http('POST', address, options)
            .catch(() => undefined),
          sleep(patienceMs, undefined, { ref: false }),
        ]))
      if (answer && answer.status < 500) return answer
      await sleep(30)
    }
  }

  async function submit(planned: PlannedTransfer): Promise<void> {
    const wallet = wallets[planned.wallet]!
    const answer = await ask(`${path}/transfer`, planned.api, bodyOf(planned, wallet.id))
    if (answer.status > 299) {
      desk.refused.push(planned)
      return void desk.defects.push(`a transfer was refused: ${answer.status} ${answer.text}`)
    }
    const { id } = answer.body.data
    desk.accepted.push({ id, planned, from: wallet.address })
    if (!planned.later) return
    await sleep(planned.later.afterMs)
    await wish(id, planned, planned.later.verb)
  }

  async function wish(id: string, { api }: PlannedTransfer, verb: 'cancel' | 'accelerate'): Promise<void> {
    const answer = await ask(`${path}/${id}/${verb}`, api, {})
    // It may be too late for the verb; the verdict checks the outcome.
    if (answer.status > 299 && ![400, 409].includes(answer.status))
      desk.defects.push(`${verb} of ${id}: ${answer.status} ${answer.text}`)
  }

  async function giveUp(): Promise<void> {
    const cheap = desk.accepted.filter(({ planned }) => planned.flaw === 'low-price')
    await Promise.all(cheap.map(({ id, planned }) => wish(id, planned, 'cancel')))
  }

  async function submitAll(transfers: readonly PlannedTransfer[]): Promise<void> {
    const under: Promise<void>[] = []
    for (const planned of transfers) {
      await sleep(planned.waitMs)
      under.push(submit(planned))
    }
    await Promise.all(under)
  }
  return desk
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
