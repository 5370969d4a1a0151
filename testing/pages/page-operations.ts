import { expect } from 'vitest'
import type { ModularAccount, ModularBundler } from '#testing/builders/modular-accounts'
import type { Harness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'

export const entryPoint = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
export const chainId = `0x${(84_532).toString(16)}`

/** An operation with its numbers, before it is sent. */
export type Prepared = Record<string, unknown> & { signature?: string }

/** The operation of these calls, with prices, limits and a sponsorship. */
export const prepared = async (bundler: ModularBundler, calls: readonly object[]) =>
  (await bundler.prepareUserOperation({ account: bundler.account, calls } as never)) as unknown as Prepared

/** The operation as JSON-RPC takes it. */
export const inHex = (operation: object) =>
  Object.fromEntries(
    Object.entries(operation).flatMap(([name, value]) =>
      name === 'account' || name === 'calls' || value === undefined
        ? []
        : [[name, typeof value === 'bigint' ? `0x${value.toString(16)}` : value]],
    ),
  )

export const signed = async (account: ModularAccount, operation: Prepared) =>
  inHex({ ...operation, signature: await account.signUserOperation(operation as never) })

/** Requests of a page to the endpoint of the first chain, field by field. */
export function pageRequests(harness: () => Harness) {
  const ask = async (method: string, params: unknown[], key = harness().clientKey) => {
    const post = httpAs(harness().url, key)
    const { status, body } = await post('POST', '/v1/rpc/w3s/buidl/baseSepolia', {
      body: { jsonrpc: '2.0', id: 1, method, params },
    })
    expect(status).toBe(200)
    return body
  }
  /** Asks that the operation is paid for as it is. */
  const sponsor = (operation: Prepared, key?: string) =>
    ask('pm_getPaymasterData', [inHex(operation), entryPoint, chainId, {}], key)
  return {
    ask,
    refusal: async (method: string, params: unknown[], key?: string) => {
      const { error } = await ask(method, params, key)
      return [error?.code, error?.message]
    },
    sponsor,
    /** The operation as it is now, sponsored and signed. */
    sponsoredAgain: async (account: ModularAccount, operation: Prepared, key?: string) => {
      const { result, error } = await sponsor(operation, key)
      expect(error).toBeUndefined()
      return signed(account, withSponsor(operation, result))
    },
  }
}

type Sponsored = { paymasterVerificationGasLimit: string; paymasterPostOpGasLimit: string }

export const withSponsor = (operation: Prepared, sponsorship: Sponsored): Prepared => ({
  ...operation,
  ...sponsorship,
  paymasterVerificationGasLimit: BigInt(sponsorship.paymasterVerificationGasLimit),
  paymasterPostOpGasLimit: BigInt(sponsorship.paymasterPostOpGasLimit),
})
