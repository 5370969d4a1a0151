import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { NetworkToken } from '#chains/network'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { type Network, networkOf } from '#chains/networks/index'
import { systemClock } from '#lib/time'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { requireNetworksOfBooks, seedTokens } from './index.ts'

let test: TestDatabase
beforeEach(async () => {
  test = await openTestDatabase()
  await seedTokens(test.database, [baseSepolia], systemClock.nowMs())
})
afterEach(() => test.close())

const seed = (network: object) =>
  seedTokens(test.database, [{ ...baseSepolia, ...network } as Network], systemClock.nowMs())

it('property 245: the books of a network that is gone are refused, with what brings it back', async () => {
  await requireNetworksOfBooks(test.database)
  const nativeToken = { ...baseSepolia.nativeToken, id: '00000000-0000-5000-8000-000000000001' }
  await seed({ blockchain: 'GONE-TESTNET', nativeToken, tokens: [] })
  await expect(requireNetworksOfBooks(test.database)).rejects.toThrow(
    /of GONE-TESTNET, and BEZANT_OWN_NETWORKS has no such network: name it there again/,
  )
})

const arbitrum = networkOf('ARB-SEPOLIA')!
const [usdc, eurc] = arbitrum.tokens as [NetworkToken, NetworkToken]
const other = `0x${'7'.repeat(40)}`

it.each<[string, Partial<Network>, RegExp]>([
  [
    'another address',
    { tokens: [{ ...usdc, address: other }] },
    /USDC of ARB-SEPOLIA is 0x7{40} in the database, and 0x75faf114.* in BEZANT_OWN_NETWORKS: correct it there/,
  ],
  [
    'other decimals of a token',
    { tokens: [{ ...usdc, decimals: 18 }] },
    /USDC of ARB-SEPOLIA has 18 decimals in the database, and 6 in BEZANT_OWN_NETWORKS: .* another --data-dir/,
  ],
  [
    'other decimals of the native coin',
    { nativeToken: { ...arbitrum.nativeToken, decimals: 6 } },
    /ETH-SEPOLIA of ARB-SEPOLIA has 6 decimals in the database, and 18 in BEZANT_OWN_NETWORKS/,
  ],
  [
    'another native coin',
    { nativeToken: { ...arbitrum.nativeToken, id: randomUUID(), symbol: 'OTHER' } },
    /the native coin of ARB-SEPOLIA is OTHER in the database, and ETH-SEPOLIA in BEZANT_OWN_NETWORKS/,
  ],
  [
    'a native coin that is a token now',
    { nativeToken: { ...usdc, decimals: 18 }, tokens: [] },
    /USDC of ARB-SEPOLIA is the native coin in the database, and 0x75faf114.* in BEZANT_OWN_NETWORKS/,
  ],
  [
    'a token that is missing',
    { tokens: [usdc, { ...usdc, id: randomUUID(), symbol: 'EURC', address: other }] },
    /EURC of ARB-SEPOLIA is 0x7{40} in the database, and missing in BEZANT_OWN_NETWORKS: correct it there/,
  ],
  [
    'a token that only local chains have now',
    { tokens: [usdc, { ...eurc, address: other }] },
    /EURC of ARB-SEPOLIA is 0x7{40} in the database, and missing in BEZANT_OWN_NETWORKS/,
  ],
])('property 245: books with %s are refused', async (_, booked, reason) => {
  await seed({ ...arbitrum, ...booked })
  await expect(requireNetworksOfBooks(test.database)).rejects.toThrow(reason)
})

it('books of a token that a wallet had before it was listed are those of its network', async () => {
  const id = randomUUID()
  await seed({ ...arbitrum, tokens: [{ ...usdc, id }] })
  await requireNetworksOfBooks(test.database)
})
