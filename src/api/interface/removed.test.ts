import { describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { pathsOf } from '#runtime/http/schemas'
import { removedPaths } from './removed.ts'

const removes = (method: string, path: string) =>
  removedPaths.some(
    (removed) =>
      (removed.method === 'ALL' || removed.method === method) &&
      new RegExp(`^${removed.path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('*', '.+')}$`).test(path),
  )

describe('removed operations', () => {
  it.each([
    ['POST', '/v1/payments'],
    ['POST', '/payments'],
    ['POST', '/v1/payments/7/capture'],
    ['POST', '/v1/payments/7/cancel'],
    ['POST', '/payments/7/refund'],
    ['POST', '/v1/payments/crypto'],
    ['GET', '/v1/payments/presign'],
    ['GET', '/v1/cards'],
    ['PUT', '/v1/cards/7'],
    ['GET', '/v1/paymentTokens'],
    ['GET', '/v1/encryption/public'],
    ['GET', '/v1/channels'],
    ['GET', '/v1/chargebacks/7'],
    ['POST', '/v1/mocks/cards/chargebacks'],
    ['GET', '/v1/settlements/7'],
    ['POST', '/v1/checkoutSessions'],
    ['POST', '/v1/checkoutSessions/7/extend'],
    ['GET', '/v1/exchange/rates/USD-EUR'],
    ['GET', '/v1/balances'],
    ['POST', '/v1/businessAccount/banks/cbit'],
    ['POST', '/v1/wallets'],
    ['POST', '/v1/wallets/7/addresses'],
    ['GET', '/v1/transfers/7'],
    ['PUT', '/v1/w3s/developer/wallets/7/backfill'],
    ['PUT', '/developer/wallets/7/backfill'],
  ])('%s %s is removed', (method, path) => {
    expect(removes(method, path)).toBe(true)
  })

  it.each([
    ['POST', '/v1/balances'],
    ['POST', '/v1/transfer'],
    ['GET', '/v1/payments'],
    ['GET', '/v1/payments/7'],
    ['GET', '/wallets'],
    ['GET', '/wallets/7'],
  ])('%s %s is not', (method, path) => {
    expect(removes(method, path)).toBe(false)
  })

  it('includes no existing operation', () => {
    const living = endpoints.flatMap((endpoint) =>
      pathsOf(endpoint.path).map((path) => [endpoint.method, path] as const),
    )
    expect(living.filter(([method, path]) => removes(method, path.replaceAll(/:\w+/g, '7')))).toEqual([])
  })

  it('names each replacement in a full sentence', () => {
    for (const { instead } of removedPaths) expect(instead).toMatch(/^[A-Z].{30,}\.$/)
  })
})
