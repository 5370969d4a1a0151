/** Customers who request transfers, and repeat each request with its idempotency key until it is accepted. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshAddress } from '#testing/builders/world'
import type { Tenant } from '#testing/platform/tenant'

/** A transfer of 0.01 USDC to an address of its own. `id` is that of the last acceptance. */
export type RequestedTransfer = { id: string; from: string; to: string; body: object }

export type TransferLoad = {
  requested: RequestedTransfer[]
  /** How often each status, and each lost connection to the API (0), was answered in place of an acceptance. */
  refusals: Map<number, number>
  /** A body of each status. */
  samples: Map<number, string>
  /** Longest time between two acceptances, in milliseconds. */
  outageMs(): number
  /** Requests this many more transfers; resolves when all are accepted. */
  request(count: number): Promise<void>
  /** Repeats the request of a transfer; true when it got another id. */
  repeat(transfer: RequestedTransfer): Promise<boolean>
}

export const amountAtomic = 10_000n

/** Customers at once. */
const customers = 16
/** Time after which a request that was not accepted is repeated. */
const pauseMs = 100
const path = '/v1/w3s/developer/transactions/transfer'

type LoadOptions = {
  tenants: readonly Tenant[]
  wallets: readonly { id: string; address: string }[]
  tokenAddress: string
  blockchain: string
}

export function openTransferLoad({ tenants, wallets, tokenAddress, blockchain }: LoadOptions): TransferLoad {
  const requested: RequestedTransfer[] = []
  const refusals: TransferLoad['refusals'] = new Map()
  const samples: TransferLoad['samples'] = new Map()
  let [lastMs, outageMs] = [performance.now(), 0]
  let turn = 0
  const accepted = () => {
    const nowMs = performance.now()
    outageMs = Math.max(outageMs, nowMs - lastMs)
    lastMs = nowMs
  }
  const refused = (status: number, text: string) => {
    refusals.set(status, (refusals.get(status) ?? 0) + 1)
    samples.set(status, text)
  }
  /** Asks the API processes by turns, as a load balancer would. */
  const ask = async (body: object): Promise<string> => {
    for (;;) {
      const tenant = tenants[turn++ % tenants.length]!
      try {
        const entitySecretCiphertext = await tenant.sealSecret()
        const answer = await tenant.http('POST', path, { body: { ...body, entitySecretCiphertext } })
        if (answer.status < 300) {
          accepted()
          return answer.body.data.id
        }
        refused(answer.status, answer.text)
      } catch (error) {
        refused(0, String(error))
      }
      await sleep(pauseMs)
    }
  }
  const requestOne = async () => {
    const wallet = wallets[requested.length % wallets.length]!
    const to = freshAddress()
    const body = {
      idempotencyKey: randomUUID(),
      walletId: wallet.id,
      tokenAddress,
      blockchain,
      destinationAddress: to,
      amounts: ['0.01'],
      feeLevel: 'MEDIUM',
    }
    const transfer = { id: '', from: wallet.address, to, body }
    requested.push(transfer)
    transfer.id = await ask(body)
  }
  return {
    requested,
    refusals,
    samples,
    outageMs: () => outageMs,
    request: async (count) => {
      let left = count
      lastMs = performance.now()
      const work = async () => {
        while (left-- > 0) await requestOne()
      }
      await Promise.all(Array.from({ length: customers }, work))
    },
    repeat: async (transfer) => {
      const before = transfer.id
      transfer.id = await ask(transfer.body)
      return transfer.id !== before
    },
  }
}
