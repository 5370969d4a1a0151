import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { expect } from 'vitest'
import { type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, type HarnessOptions, openHarness } from './harness.ts'
import type { HttpAnswer } from './tenant.ts'

/** A funded wallet that signs, by HTTP and by the published client. */
export type SigningHarness = {
  harness: Harness
  world: World
  wallet: Wallet
  address: `0x${string}`
  client: ReturnType<typeof initiateDeveloperControlledWalletsClient>
  /** One of the signing operations, by its last step. */
  post(operation: string, fields: Record<string, unknown>): Promise<HttpAnswer>
  /** A signing operation that must answer with this code and name this field. */
  refused(operation: string, fields: Record<string, unknown>, code: number, location?: RegExp): Promise<void>
}

export async function openSigningHarness(
  options: Pick<HarnessOptions, 'furtherNodes'> = {},
): Promise<SigningHarness> {
  const harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'], ...options })
  const world = worldOf(harness)
  const wallet = await world.fundedWallet()
  const { apiKey, entitySecret, url } = harness
  const post: SigningHarness['post'] = async (operation, fields) =>
    harness.http('POST', `/v1/w3s/developer/sign/${operation}`, {
      body: { entitySecretCiphertext: await harness.sealSecret(), walletId: wallet.id, ...fields },
    })
  return {
    harness,
    world,
    wallet,
    address: wallet.address as `0x${string}`,
    client: initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: url }),
    post,
    refused: async (operation, fields, code, location) => {
      const { status, body, text } = await post(operation, fields)
      expect([status < 500, body.code], text).toEqual([true, code])
      if (location) expect(body.errors[0].location).toMatch(location)
    },
  }
}
