import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { HttpAnswer } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import type { Program } from '#testing/processes/program'

type Made = { id: string; address: string }

/** Requests of a user to a sandbox with one chain, over HTTP. */
export function labUserOf(
  running: () => Program,
  { blockchain, usdcId }: { blockchain: string; usdcId: string },
) {
  const data = ({ status, body, text }: HttpAnswer) => {
    expect(status, text).toBeLessThan(300)
    return body?.data
  }
  const get = async (path: string) => data(await running().tenant.http('GET', path))
  const post = async (path: string, body: object = {}) =>
    data(await running().tenant.http('POST', path, { body }))
  const sealed = async (path: string, body: object) =>
    post(path, {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await running().tenant.sealSecret(),
      ...body,
    })
  const balanceOf = async ({ id }: Made, symbol: string): Promise<string> => {
    const { tokenBalances } = await get(`/v1/w3s/wallets/${id}/balances?includeAll=true`)
    const found = tokenBalances.find((each: { token: { symbol: string } }) => each.token.symbol === symbol)
    return found?.amount ?? '0'
  }
  const read = async (id: string) => (await get(`/v1/w3s/transactions/${id}`)).transaction
  return {
    data,
    get,
    post,
    sealed,
    /** Status, code and message of a request that is refused. */
    refused: async (method: string, path: string, body: object | string) => {
      const { status, body: answer } = await running().tenant.http(method, path, { body })
      return [status, answer.code, answer.message] as const
    },
    /** The chain as the lab shows it. */
    shown: async () => (await get('/sandbox/chains'))[0],
    onChain: (verb: string, body: object = {}) => post(`/sandbox/chains/${blockchain}/${verb}`, body),
    makeWallets: async (): Promise<[Made, Made]> => {
      const { walletSet } = await sealed('/v1/w3s/developer/walletSets', { name: 'A lab' })
      const wanted = { walletSetId: walletSet.id, blockchains: [blockchain], count: 2 }
      return (await sealed('/v1/w3s/developer/wallets', wanted)).wallets
    },
    balanceOf,
    untilHolds: (wallet: Made, symbol: string, amount: string) =>
      until(async () => (await balanceOf(wallet, symbol)) === amount, `the wallet holds ${amount} ${symbol}`),
    transfer: async (from: Made, to: Made, amount: string): Promise<string> => {
      const destinationAddress = to.address
      const payment = { tokenId: usdcId, destinationAddress, amounts: [amount], feeLevel: 'MEDIUM' }
      return (await sealed('/v1/w3s/developer/transactions/transfer', { walletId: from.id, ...payment })).id
    },
    read,
    reaches: (id: string, state: string) =>
      until(async () => (await read(id)).state === state, `the transaction is ${state}`),
  }
}
