/** The key of unified balances is exchanged while transfers are under way; the contracts tell which signatures count. */
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gatewayMinterAbi } from '#chains/evm/unified-balance/artifacts/gateway-minter'
import { gatewayWalletAbi } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import { createAttestationKey, endAttestationKey, listAttestationKeys } from '#custody/installation/index'
import type { Hex } from '#lib/hex'
import { issuerAccount } from '#sandbox/constants'
import {
  intentOf,
  minter,
  people,
  signedIntent,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
  wallet,
} from '#testing/builders/unified-balances'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let unified: UnifiedBalances
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  unified = unifiedBalances(harness)
})
afterAll(() => harness?.close())

const [alice] = people as unknown as [(typeof people)[0]]
const base = () => harness.chain('BASE-SEPOLIA')
const avax = () => harness.chain('AVAX-FUJI')
const scope = () => ({ ...harness.ctx, db: harness.database })

/** Calls a contract of a chain as the operator who deployed it. */
async function asOwner(chain: TestChain, to: string, data: Hex): Promise<void> {
  const { address } = issuerAccount
  await chain.rpc('anvil_impersonateAccount', [address])
  await chain.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000'])
  await unified.send(chain, address, to, data)
}

const minterCall = (functionName: 'addAttestationSigner' | 'removeAttestationSigner', signer: string) =>
  encodeFunctionData({ abi: gatewayMinterAbi, functionName, args: [signer as Hex] })
const walletCall = (functionName: 'addBurnSigner' | 'removeBurnSigner', signer: string) =>
  encodeFunctionData({ abi: gatewayWalletAbi, functionName, args: [signer as Hex] })

async function attested() {
  const answer = await unified.transfer([
    await signedIntent(alice, intentOf(specOf(base(), avax(), alice.address))),
  ])
  expect(answer.status).toBe(201)
  return answer.body
}

it('changes without a pause: what the former key signed is minted and burned, and so is what the next one signs', async () => {
  await unified.fund(base(), alice.address, 50_000_000n, '50')
  const [former] = await listAttestationKeys(harness.database, 'balance')
  const supply = async () => (await unified.supply(base())) + (await unified.supply(avax()))
  const before = await supply()
  const early = await attested()
  const next = await createAttestationKey(scope(), 'balance')
  for (const chain of [base(), avax()]) {
    await asOwner(chain, minter, minterCall('addAttestationSigner', next.address))
    await asOwner(chain, wallet, walletCall('addBurnSigner', next.address))
  }
  expect(await endAttestationKey(scope(), former!.id)).toBe(true)
  const late = await attested()
  for (const { transferId, attestation, signature } of [early, late]) {
    await unified.mint(avax(), { attestation, signature })
    await unified.untilState(transferId, 'finalized')
  }
  // The next key signs the burns, also of what the former key attested.
  const left = () => unified.read(base(), wallet, 'availableBalance', [base().tokens.USDC, alice.address])
  await until(async () => (await left()) === 50_000_000n - 2n * 1_010_050n, 'both are burned')
  expect(await supply()).toBe(before)
})

it('ends what the former key signed and nobody minted, when the contracts forget it', async () => {
  const [current] = await listAttestationKeys(harness.database, 'balance')
  const unminted = await attested()
  for (const chain of [base(), avax()])
    await asOwner(chain, minter, minterCall('removeAttestationSigner', current!.address))
  await expect(unified.mint(avax(), unminted)).rejects.toThrow('reverted')
})
