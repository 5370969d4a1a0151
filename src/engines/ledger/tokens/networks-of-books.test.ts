import { afterEach, beforeEach, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import type { Network } from '#chains/networks/index'
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

it('the books of a coin whose address has changed are refused', async () => {
  const address = `0x${'7'.repeat(40)}`
  const usdc = { ...baseSepolia.tokens[0]!, id: '4b8daacc-5f47-5909-a3ba-30d171ebad98', address }
  const nativeToken = { ...baseSepolia.nativeToken, id: '9ad91eb5-e152-5d81-b60e-151d5fd2b3d3' }
  await seed({ blockchain: 'ARB-SEPOLIA', nativeToken, tokens: [usdc] })
  await expect(requireNetworksOfBooks(test.database)).rejects.toThrow(
    /USDC of ARB-SEPOLIA is 0x7{40} in the database, and 0x75faf114.* in BEZANT_OWN_NETWORKS: correct it there/,
  )
})
